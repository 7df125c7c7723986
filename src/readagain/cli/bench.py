"""`readagain bench`: measure the speed of a model on this machine."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Unpack

import typer

from readagain.cli import options
from readagain.config.options import SummarizeOptions
from readagain.counts import pluralize
from readagain.storage.bundled import DEFAULT_MODEL

if TYPE_CHECKING:
    from readagain.engine.speed import Speed

MAX_TEXTS = 256  # of a file; more take longer without changing the result


@options.decoding_options("beam")
def command(
    *,
    model: options.Model = DEFAULT_MODEL,
    texts: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="File or pipe of texts: one per line, or .jsonl, .csv, .tsv, .parquet; the first "
            f"{MAX_TEXTS} are used.",
            show_default="invented sentences of about 31 words",
        ),
    ] = None,
    encoding: options.Encoding = "utf-8",
    threads: options.Threads = None,
    as_json: Annotated[bool, typer.Option("--json", help="JSON output.")] = False,
    **decoding: Unpack[SummarizeOptions],
) -> None:
    """Measure loading time, latency, throughput and memory of a model."""
    import json
    import time

    begin = time.perf_counter()
    from readagain.engine.speed import SENTENCES, measure_speed
    from readagain.engine.summarizer import Summarizer
    from readagain.processors import num_threads

    import_s = time.perf_counter() - begin
    inputs = SENTENCES if texts is None else _read(texts, encoding)
    threads = num_threads(threads)
    speed = measure_speed(
        lambda: Summarizer.load(model, threads=threads), inputs, beam=decoding.get("beam")
    )
    results = {
        "model": model,
        "texts": len(inputs),
        "threads": threads,
        **_machine(),
        "import_s": import_s,
        **vars(speed),
        "texts_per_s": speed.texts_per_s,
    }
    print(json.dumps(results, indent=2) if as_json else _format(results, speed))


def _read(path: Path, encoding: str) -> list[str]:
    """Read the first texts of a file or a pipe.

    Raises:
        ConfigError: for an unknown encoding.
        DataError: for a missing file, or one without texts.
    """
    from itertools import islice

    from readagain.cli.inputs import is_readable, read_options, read_path
    from readagain.errors import DataError
    from readagain.formats.texts import text_format

    if path.is_dir():
        raise DataError(f"{path}: is a folder; name a file of texts")
    if not is_readable(path):
        raise DataError(f"{path}: no such file; without --texts, invented sentences are used")
    kind = text_format(path)
    reading = read_options("lines" if kind == "text" else kind, None, encoding)
    texts = [record.text for record in islice(read_path(path, reading), MAX_TEXTS)]
    if not any(text.strip() for text in texts):
        raise DataError(f"{path}: contains no text; expected one text or record per line")
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


def _format(results: dict[str, Any], speed: "Speed") -> str:
    load = "" if results["load"] is None else f", load {results['load']:.1f}"
    lines = [
        f"{results['machine']}{load}; threads: {results['threads']}; "
        f"Python {results['python']}, ONNX Runtime {results['onnxruntime']}",
        f"{results['model']}: {pluralize(results['texts'], 'text')} of {speed.words_per_text:.1f} "
        f"words, headlines of {speed.words_per_summary:.1f}, beam {speed.beam}",
        "",
        f"importing        {results['import_s']:8.2f} s",
        f"loading          {speed.load_s:8.2f} s",
        f"first headline   {speed.first_s:8.3f} s",
    ]
    if speed.resident_mb is not None:
        lines.append(f"resident memory  {speed.resident_mb:8.0f} MB")
    lines += ["", "texts at once   ms per text   texts/s"]
    for together, taken in speed.ms_per_text.items():
        lines.append(f"{together:>13} {taken:>13.1f} {speed.texts_per_s[together]:>9.1f}")
    return "\n".join(lines)
