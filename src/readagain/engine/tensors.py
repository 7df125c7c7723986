"""Read safetensors files with numpy alone: a JSON header, then the numbers.

The format: eight bytes with the length of the header, the header, the data. Nothing is unpickled,
and nothing is believed before it was checked against the size of the file.
"""

import json
import math
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from readagain.errors import ArtifactError, quoted

MAX_HEADER_BYTES = 16_000_000
# bfloat16 is no type of numpy: it is the upper half of a float32.
_TYPES = {"F32": "<f4", "F16": "<f2", "BF16": "<u2", "F64": "<f8", "I32": "<i4", "I64": "<i8"}
_LENGTH_BYTES = 8


@dataclass(frozen=True)
class TensorInfo:
    """Where a tensor stands in its file, and what it is."""

    dtype: str
    shape: tuple[int, ...]
    start: int
    """Byte of the file at which its numbers begin."""

    @property
    def size(self) -> int:
        """Count its numbers."""
        return math.prod(self.shape)


def read_header(path: Path) -> dict[str, TensorInfo]:
    """List the tensors of a safetensors file without reading them.

    Raises:
        ArtifactError: when the file is no safetensors file, or cut short.
    """
    try:
        file_bytes = path.stat().st_size
        with path.open("rb") as file:
            length = int.from_bytes(file.read(_LENGTH_BYTES), "little")
            if length > min(MAX_HEADER_BYTES, file_bytes - _LENGTH_BYTES):
                raise ArtifactError(f"{path}: no safetensors file, or cut short")
            header = json.loads(file.read(length))
    except OSError as error:
        raise ArtifactError(f"{path}: cannot be read: {error.strerror}") from error
    except (ValueError, RecursionError) as error:
        raise ArtifactError(f"{path}: no safetensors file: its header is not JSON") from error
    if not isinstance(header, dict):
        raise ArtifactError(f"{path}: no safetensors file: its header is no JSON object")
    data_start = _LENGTH_BYTES + length
    data_bytes = file_bytes - data_start
    return {
        name: _checked(entry, data_start, data_bytes, where=f"{path}: tensor {quoted(name)}")
        for name, entry in header.items()
        if name != "__metadata__"
    }


def read_tensors(path: Path) -> dict[str, NDArray[Any]]:
    """Map the tensors of a file into memory, read-only; bfloat16 is widened to float32.

    Raises:
        ArtifactError: when the file is no safetensors file, or cut short.
    """
    header = read_header(path)
    if not header:
        return {}
    mapped = np.memmap(path, mode="r")
    return {name: _view(mapped, info) for name, info in header.items()}


def _view(mapped: NDArray[np.uint8], info: TensorInfo) -> NDArray[Any]:
    dtype = np.dtype(_TYPES[info.dtype])
    stop = info.start + info.size * dtype.itemsize
    numbers: NDArray[Any] = mapped[info.start : stop].view(np.ndarray)
    numbers = np.frombuffer(numbers, dtype=dtype).reshape(info.shape)
    if info.dtype == "BF16":
        return (numbers.astype(np.uint32) << 16).view(np.float32)
    return numbers


def _checked(entry: Any, data_start: int, data_bytes: int, *, where: str) -> TensorInfo:
    try:
        dtype, shape = entry["dtype"], tuple(entry["shape"])
        begin, end = entry["data_offsets"]
    except (TypeError, KeyError, ValueError) as error:
        raise ArtifactError(f"{where} has no type, shape and place; the file is damaged") from error
    if not isinstance(dtype, str) or dtype not in _TYPES:
        raise ArtifactError(
            f"{where} is of type {quoted(dtype)}; expected one of {', '.join(_TYPES)}"
        )
    # Bounded one by one, too: with a dimension of 0 the others could be anything.
    sizes = (*shape, begin, end)
    if not all(type(number) is int and 0 <= number <= sys.maxsize for number in sizes):
        raise ArtifactError(f"{where} has a shape or place that is no size; the file is damaged")
    if end - begin != math.prod(shape) * np.dtype(_TYPES[dtype]).itemsize or end > data_bytes:
        raise ArtifactError(f"{where} does not fit into the file; it is cut short or damaged")
    return TensorInfo(dtype, shape, data_start + begin)
