"""`readagain bench`: how fast a model writes headlines here."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Unpack

import typer

from readagain.cli import options
from readagain.config.options import SummarizeOptions
from readagain.counts import counted
from readagain.storage.bundled import DEFAULT_MODEL

if TYPE_CHECKING:
    from readagain.engine.speed import Speed

MAX_TEXTS = 256  # of a file; more would take longer and tell the same


@options.decoding_options("beam")
def command(
    *,
    model: options.Model = DEFAULT_MODEL,
    texts: Annotated[
        Path | None,
        typer.Option(
            help=f"Measure on the first {MAX_TEXTS} texts of this file or pipe: one a line, or "
            ".jsonl, .csv, .tsv, .parquet; invented sentences of about 31 words if unset."
        ),
    ] = None,
    encoding: options.Encoding = "utf-8",
    threads: options.Threads = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
    **decoding: Unpack[SummarizeOptions],
) -> None:
    """Measure loading, the first headline, headlines alone and in batches, and memory."""
    import json
    import time

    begin = time.perf_counter()
    from readagain.engine.speed import SENTENCES, measure_speed
    from readagain.engine.summarizer import Summarizer
    from readagain.processors import num_threads

    import_s = time.perf_counter() - begin
    measured = SENTENCES if texts is None else _read(texts, encoding)
    threads = num_threads(threads)
    speed = measure_speed(
        lambda: Summarizer.load(model, threads=threads), measured, beam=decoding.get("beam")
    )
    facts = {
        "model": model,
        "texts": len(measured),
        "threads": threads,
        **_machine(),
        "import_s": import_s,
        **vars(speed),
        "texts_per_s": speed.texts_per_s,
    }
    print(json.dumps(facts, indent=2) if as_json else _page(facts, speed))


def _read(path: Path, encoding: str) -> list[str]:
    """Read the first texts of a file or a pipe.

    Raises:
        ConfigError: for an encoding that there is not.
        DataError: when there is no such file, or no text in it.
    """
    from itertools import islice

    from readagain.cli.inputs import is_readable, read_options, read_path
    from readagain.errors import DataError
    from readagain.formats.texts import text_format

    if path.is_dir():
        raise DataError(f"{path}: a folder; name a file of texts")
    if not is_readable(path):
        raise DataError(f"{path}: no such file; without --texts invented sentences are taken")
    kind = text_format(path)
    reading = read_options("lines" if kind == "text" else kind, None, encoding)
    texts = [record.text for record in islice(read_path(path, reading), MAX_TEXTS)]
    if not any(text.strip() for text in texts):
        raise DataError(f"{path}: no text in it; expected one text a line, or a record each")
    return texts


def _machine() -> dict[str, Any]:
    import os
    import platform

    import onnxruntime  # type: ignore[import-untyped]

    from readagain.processors import describe_machine

    return {
        "machine": describe_machine(),
        "load": os.getloadavg()[0] if hasattr(os, "getloadavg") else None,
        "python": platform.python_version(),
        "onnxruntime": onnxruntime.__version__,
    }


def _page(facts: dict[str, Any], speed: "Speed") -> str:
    load = "" if facts["load"] is None else f", load {facts['load']:.1f} from everybody"
    lines = [
        f"{facts['machine']}{load}; threads: {facts['threads']}; "
        f"Python {facts['python']}, ONNX Runtime {facts['onnxruntime']}",
        f"{facts['model']}: {counted(facts['texts'], 'text')} of {speed.words_per_text:.1f} words, "
        f"headlines of {speed.words_per_summary:.1f}, beam {speed.beam}",
        "",
        f"importing        {facts['import_s']:8.2f} s",
        f"loading          {speed.load_s:8.2f} s",
        f"first headline   {speed.first_s:8.3f} s",
    ]
    if speed.resident_mb is not None:
        lines.append(f"resident memory  {speed.resident_mb:8.0f} MB")
    lines += ["", "texts at once   ms per text   texts/s"]
    for together, taken in speed.ms_per_text.items():
        lines.append(f"{together:>13} {taken:>13.1f} {speed.texts_per_s[together]:>9.1f}")
    return "\n".join(lines)
