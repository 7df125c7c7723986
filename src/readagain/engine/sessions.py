"""ONNX Runtime sessions for the graphs of a model, which may be untrusted."""

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

# Larger than any exported graph; the limit of protobuf is twice as much.
MAX_GRAPH_BYTES = 1 << 30
# Key of external data in a graph. Exported graphs have none; an untrusted one could name any file.
_EXTERNAL_DATA = b"location"

_UNUSABLE = (
    runtime_errors.Fail,
    runtime_errors.InvalidArgument,
    runtime_errors.InvalidGraph,
    runtime_errors.InvalidProtobuf,
    runtime_errors.NotImplemented,
    UnicodeDecodeError,  # a damaged name
)


def read_graph(path: Path, facts: FileEntry) -> bytes:
    """Read a graph and compare its checksum with the manifest.

    Raises:
        ArtifactError: if it cannot be read, is too large, or was changed.
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
        graph: content of the file.
        threads: number of threads.
        inputs: allowed inputs; a model without copying has fewer.
        outputs: required outputs.
        carried: inputs that need an output `next_...` if the graph has them.
        where: name of the graph in messages.

    Raises:
        ArtifactError: if it is damaged or has other inputs or outputs.
        ConfigError: if `threads` is less than 1.
    """
    if threads < 1:
        raise ConfigError(f"threads is {threads}; expected 1 or more")
    if _EXTERNAL_DATA in graph:
        raise ArtifactError(
            f"{where}: refers to external data, which exported graphs never do; "
            "export the model again"
        )
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = threads
    options.inter_op_num_threads = 1
    options.enable_mem_pattern = False  # shapes differ between runs
    options.log_severity_level = 4
    # Waiting threads would otherwise spin and use a whole processor.
    options.add_session_config_entry("session.force_spinning_stop", "1")
    try:
        session = onnxruntime.InferenceSession(
            graph, options, providers=["CPUExecutionProvider"], enable_fallback=0
        )
    except _UNUSABLE as error:
        reason = first_line(error)
        raise ArtifactError(
            f"{where}: ONNX Runtime {onnxruntime.__version__} cannot load it ({reason}); "
            "copy the model directory again, or export it again"
        ) from error
    session._model_bytes = None  # frees the copy that ONNX Runtime keeps
    taken = {each.name for each in session.get_inputs()}
    given = {each.name for each in session.get_outputs()}
    needed = [*outputs, *(f"next_{name}" for name in carried if name in taken)]
    different = sorted(taken - set(inputs)) + [name for name in needed if name not in given]
    if different:
        raise ArtifactError(
            f"{where}: unexpected or missing inputs and outputs ({', '.join(different)}); "
            "export the model again"
        )
    return session
