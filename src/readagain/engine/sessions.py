"""ONNX Runtime sessions over the graphs of a model, opened with care."""

import os
from collections.abc import Iterable
from pathlib import Path

import onnxruntime  # type: ignore[import-untyped]
from onnxruntime.capi import (  # type: ignore[import-untyped]
    onnxruntime_pybind11_state as runtime_errors,
)

from readagain.errors import ArtifactError, ConfigError

# A graph whose numbers lie in other files is refused: ours never do, and a stranger's could point
# anywhere. More than this is no graph of ours either; protobuf itself ends at twice as much.
MAX_GRAPH_BYTES = 1 << 30

_UNUSABLE = (
    runtime_errors.Fail,
    runtime_errors.InvalidArgument,
    runtime_errors.InvalidGraph,
    runtime_errors.InvalidProtobuf,
    runtime_errors.NotImplemented,
)


def default_threads() -> int:
    """Count the processors that this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def open_session(
    graph: Path | bytes,
    *,
    threads: int,
    inputs: Iterable[str],
    outputs: Iterable[str],
) -> onnxruntime.InferenceSession:
    """Open a graph for inference on the CPU.

    Args:
        graph: a file, or its content.
        threads: how many threads one run may use.
        inputs: names that the graph must take; it may take others.
        outputs: names that it must give.

    Raises:
        ArtifactError: when it is no graph, cut short, or another one than expected.
        ConfigError: when `threads` is less than 1.
    """
    if threads < 1:
        raise ConfigError(f"threads is {threads}; expected 1 or more")
    where = str(graph) if isinstance(graph, Path) else "the graph"
    content = _read(graph) if isinstance(graph, Path) else graph
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = threads
    options.inter_op_num_threads = 1
    options.enable_mem_pattern = False  # shapes differ from run to run
    options.log_severity_level = 4
    try:
        # From memory, not by path: there is then no folder in which to look for other files.
        session = onnxruntime.InferenceSession(content, options, providers=["CPUExecutionProvider"])
    except _UNUSABLE as error:
        reason = str(error).split(" : ")[-1].splitlines()[0]
        raise ArtifactError(
            f"{where}: ONNX Runtime {onnxruntime.__version__} cannot use it ({reason}); "
            "copy the model folder again, or export it anew"
        ) from error
    found_inputs = {each.name for each in session.get_inputs()}
    found_outputs = {each.name for each in session.get_outputs()}
    missing = [name for name in inputs if name not in found_inputs]
    missing += [name for name in outputs if name not in found_outputs]
    if missing:
        raise ArtifactError(
            f"{where}: has no {', '.join(missing)}, so no graph of this version of readagain; "
            "export the model anew"
        )
    return session


def _read(path: Path) -> bytes:
    try:
        size = path.stat().st_size
        if size > MAX_GRAPH_BYTES:
            raise ArtifactError(
                f"{path}: {size:,} bytes; expected a graph of at most {MAX_GRAPH_BYTES:,}"
            )
        return path.read_bytes()
    except OSError as error:
        raise ArtifactError(f"{path}: cannot be read: {error.strerror}") from error
