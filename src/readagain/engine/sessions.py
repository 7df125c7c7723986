"""ONNX Runtime sessions over the graphs of a model, opened with care."""

from collections.abc import Iterable
from hashlib import sha256
from pathlib import Path

import onnxruntime  # type: ignore[import-untyped]
from onnxruntime.capi import (  # type: ignore[import-untyped]
    onnxruntime_pybind11_state as runtime_errors,
)

from readagain.errors import ArtifactError, ConfigError, first_line
from readagain.storage.checksums import FileEntry
from readagain.storage.model_manifest import MANIFEST_FILE

# More than this is no graph of ours; protobuf itself ends at twice as much.
MAX_GRAPH_BYTES = 1 << 30
# The key under which a graph names the file that holds its numbers. Ours hold them themselves; a
# stranger's could point anywhere.
_POINTS_ELSEWHERE = b"location"

_UNUSABLE = (
    runtime_errors.Fail,
    runtime_errors.InvalidArgument,
    runtime_errors.InvalidGraph,
    runtime_errors.InvalidProtobuf,
    runtime_errors.NotImplemented,
    UnicodeDecodeError,  # a damaged name
)


def read_graph(path: Path, facts: FileEntry) -> bytes:
    """Read a graph, and check that it is the one the manifest describes.

    Raises:
        ArtifactError: when it cannot be read, is far too large, or was changed.
    """
    if facts.bytes > MAX_GRAPH_BYTES:
        raise ArtifactError(
            f"{path}: {facts.bytes:,} bytes; expected a graph of at most {MAX_GRAPH_BYTES:,}"
        )
    try:
        content = path.read_bytes()
    except OSError as error:
        raise ArtifactError(f"{path}: cannot be read: {error.strerror}") from error
    if sha256(content).hexdigest() != facts.sha256:
        raise ArtifactError(
            f"{path}: content does not match {MANIFEST_FILE}; copy the model folder again"
        )
    return content


def open_session(
    graph: bytes,
    *,
    threads: int,
    inputs: Iterable[str],
    outputs: Iterable[str],
    carried: Iterable[str] = (),
    where: str = "the graph",
) -> onnxruntime.InferenceSession:
    """Open a graph for inference on the CPU.

    Args:
        graph: the content of its file.
        threads: how many threads one run may use.
        inputs: everything it may ask for; a model that does not copy asks for less.
        outputs: names that it must give.
        carried: names that it must give anew, as `next_...`, where it asks for them.
        where: what to call the graph in messages.

    Raises:
        ArtifactError: when it is no graph, cut short, or another one than expected.
        ConfigError: when `threads` is less than 1.
    """
    if threads < 1:
        raise ConfigError(f"threads is {threads}; expected 1 or more")
    if _POINTS_ELSEWHERE in graph:
        raise ArtifactError(
            f"{where}: keeps its numbers in other files, which no graph of readagain does; "
            "export the model anew"
        )
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = threads
    options.inter_op_num_threads = 1
    options.enable_mem_pattern = False  # shapes differ from run to run
    options.log_severity_level = 4
    # Threads that wait for the next run would take a processor from everybody else meanwhile.
    options.add_session_config_entry("session.force_spinning_stop", "1")
    try:
        session = onnxruntime.InferenceSession(
            graph, options, providers=["CPUExecutionProvider"], enable_fallback=0
        )
    except _UNUSABLE as error:
        reason = first_line(error)
        raise ArtifactError(
            f"{where}: ONNX Runtime {onnxruntime.__version__} cannot use it ({reason}); "
            "copy the model folder again, or export it anew"
        ) from error
    session._model_bytes = None  # where ONNX Runtime would keep the content of the graph for good
    asked = {each.name for each in session.get_inputs()}
    given = {each.name for each in session.get_outputs()}
    needed = [*outputs, *(f"next_{name}" for name in carried if name in asked)]
    strange = sorted(asked - set(inputs)) + [name for name in needed if name not in given]
    if strange:
        raise ArtifactError(
            f"{where}: another graph than this version of readagain runs (it differs in "
            f"{', '.join(strange)}); export the model anew"
        )
    return session
