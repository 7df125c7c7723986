"""`readagain bench`: measure the speed of a model on this machine."""

from typing import TYPE_CHECKING, Annotated, Any, Unpack

import typer

from readagain.cli import options
from readagain.config.options import SummarizeOptions
from readagain.counts import pluralize
from readagain.storage.bundled import DEFAULT_MODEL

if TYPE_CHECKING:
    from readagain.engine.speed import Speed


@options.decoding_options("beam")
def command(
    *,
    model: options.Model = DEFAULT_MODEL,
    threads: options.Threads = None,
    as_json: Annotated[bool, typer.Option("--json", help="JSON output.")] = False,
    **decoding: Unpack[SummarizeOptions],
) -> None:
    """Measure loading time, latency, throughput and memory on invented sentences."""
    import json
    import time

    start = time.perf_counter()
    from readagain.engine.speed import SENTENCES, measure_speed
    from readagain.engine.summarizer import Summarizer
    from readagain.processors import num_threads

    import_s = time.perf_counter() - start
    threads = num_threads(threads)
    speed = measure_speed(
        lambda: Summarizer.load(model, threads=threads), SENTENCES, beam=decoding.get("beam")
    )
    results = {
        "model": model,
        "texts": len(SENTENCES),
        "threads": threads,
        **_describe_machine(),
        "import_s": import_s,
        **vars(speed),
        "texts_per_s": speed.texts_per_s,
    }
    print(json.dumps(results, indent=2) if as_json else _format_results(results, speed))


def _describe_machine() -> dict[str, Any]:
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


def _format_results(results: dict[str, Any], speed: "Speed") -> str:
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
    for batch_size, time_ms in speed.ms_per_text.items():
        lines.append(f"{batch_size:>13} {time_ms:>13.1f} {speed.texts_per_s[batch_size]:>9.1f}")
    return "\n".join(lines)
