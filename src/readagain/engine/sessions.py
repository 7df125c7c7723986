"""ONNX Runtime sessions for the graphs of a model, which may be untrusted."""

from collections.abc import Iterable, Mapping, Sequence
from hashlib import sha256
from pathlib import Path
from typing import Any

import numpy as np
import onnxruntime  # type: ignore[import-untyped]
from numpy.typing import NDArray
from onnxruntime.capi import (  # type: ignore[import-untyped]
    onnxruntime_pybind11_state as runtime_errors,
)

from readagain.engine.run_gate import RUN_GATE
from readagain.errors import ArtifactError, first_line, os_errors
from readagain.storage.checksums import FileEntry
from readagain.storage.model_manifest import MANIFEST_FILE

MAX_GRAPH_BYTES = 1 << 30
"""Maximum size of a graph, half of protobuf's limit; exported graphs are smaller."""
_EXTERNAL_DATA = b"location"
"""Key of an external-data entry in the ONNX protobuf.

Exported graphs have no external data; in an untrusted graph it could point to any file.
"""

_LOAD_ERRORS = (
    runtime_errors.Fail,
    runtime_errors.InvalidArgument,
    runtime_errors.InvalidGraph,
    runtime_errors.InvalidProtobuf,
    runtime_errors.NotImplemented,
    UnicodeDecodeError,  # a name in the graph is not UTF-8
)
# The Python errors are raised for missing inputs and for types that numpy does not have.
_RUN_ERRORS = (
    *_LOAD_ERRORS,
    runtime_errors.RuntimeException,
    runtime_errors.EPFail,
    RuntimeError,
    ValueError,
    TypeError,
    MemoryError,
)


def read_graph(path: Path, entry: FileEntry) -> bytes:
    """Read a graph and compare its checksum with its entry in the manifest.

    Raises:
        ArtifactError: if the file cannot be read, is too large, or was changed.
    """
    if entry.bytes > MAX_GRAPH_BYTES:
        raise ArtifactError(
            f"{path}: {entry.bytes:,} bytes; expected a graph of at most {MAX_GRAPH_BYTES:,}"
        )
    with os_errors(path, "read", ArtifactError):
        content = path.read_bytes()
    if sha256(content).hexdigest() != entry.sha256:
        raise ArtifactError(
            f"{path}: content does not match {MANIFEST_FILE}; copy the model folder again"
        )
    return content


def run_session(
    session: onnxruntime.InferenceSession,
    outputs: Sequence[str],
    feeds: Mapping[str, NDArray[Any]],
    *,
    where: str,
) -> list[NDArray[Any]]:
    """Run a graph, which may be untrusted; `where` is its name in messages.

    Raises:
        ArtifactError: if the graph rejects the inputs, fails, or does not return arrays.
    """
    try:
        with RUN_GATE.inside():  # forks and the end of the process wait for this call
            arrays = session.run(outputs, feeds)
    except _RUN_ERRORS as error:
        raise ArtifactError(
            f"{where}: ONNX Runtime {onnxruntime.__version__} cannot run it "
            f"({first_line(error)[:200]}); copy the model folder again, or export it again"
        ) from error
    for name, array in zip(outputs, arrays, strict=True):
        if not isinstance(array, np.ndarray):
            raise wrong_output(where, name)
    return arrays  # type: ignore[no-any-return]


def wrong_output(where: str, name: str) -> ArtifactError:
    """Return the error for an output with an unexpected type, shape or value."""
    return ArtifactError(
        f"{where}: the output '{name}' has a wrong type, shape or value; copy the model folder "
        "again, or export it again"
    )


def open_session(
    graph: bytes,
    *,
    threads: int,
    inputs: Iterable[str],
    outputs: Iterable[str],
    state_inputs: Iterable[str] = (),
    where: str = "the graph",
) -> onnxruntime.InferenceSession:
    """Open a graph for inference on the CPU.

    Args:
        graph: content of the file.
        threads: number of threads, at least 1.
        inputs: names of the allowed inputs; a model without copying has fewer of them.
        outputs: names of the required outputs.
        state_inputs: names of decoder states. A graph with such an input must also have the output
            `next_<name>`.
        where: name of the graph in messages.

    Raises:
        ArtifactError: if the graph is damaged, has unknown inputs or lacks outputs.
    """
    if _EXTERNAL_DATA in graph:
        raise ArtifactError(
            f"{where}: refers to external data, which exported graphs never do; "
            "export the model again"
        )
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = threads
    options.inter_op_num_threads = 1
    options.enable_mem_pattern = False  # shapes differ between runs
    options.log_severity_level = 4  # only fatal errors; others are raised
    # Waiting threads would otherwise spin and use a whole CPU core.
    options.add_session_config_entry("session.force_spinning_stop", "1")
    try:
        with RUN_GATE.inside():
            session = onnxruntime.InferenceSession(
                graph, options, providers=["CPUExecutionProvider"], enable_fallback=0
            )
    except _LOAD_ERRORS as error:
        raise ArtifactError(
            f"{where}: ONNX Runtime {onnxruntime.__version__} cannot load it "
            f"({first_line(error)}); "
            "copy the model folder again, or export it again"
        ) from error
    session._model_bytes = None  # frees the copy that ONNX Runtime keeps
    input_names = {node.name for node in session.get_inputs()}
    output_names = {node.name for node in session.get_outputs()}
    required = [*outputs, *(f"next_{name}" for name in state_inputs if name in input_names)]
    missing = [name for name in required if name not in output_names]
    mismatched = sorted(input_names - set(inputs)) + missing
    if mismatched:
        raise ArtifactError(
            f"{where}: unknown inputs or missing outputs ({', '.join(mismatched)}); "
            "export the model again"
        )
    return session
