"""Tensors of safetensors files as numpy arrays."""

import math
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from numpy.typing import NDArray
from safetensors import SafetensorError, safe_open

from readagain.errors import ArtifactError, first_line, os_errors


@dataclass(frozen=True)
class TensorInfo:
    """Data type and shape of a tensor."""

    dtype: str
    shape: tuple[int, ...]

    @property
    def size(self) -> int:
        """Number of elements."""
        return math.prod(self.shape)


def read_header(path: Path) -> dict[str, TensorInfo]:
    """List the tensors of a safetensors file without reading them."""
    with _open_file(path) as file:
        slices = {name: file.get_slice(name) for name in file.keys()}  # noqa: SIM118
        return {
            name: TensorInfo(tensor.get_dtype(), tuple(tensor.get_shape()))
            for name, tensor in slices.items()
        }


def read_tensors(path: Path) -> dict[str, NDArray[Any]]:
    """Read the tensors of a safetensors file; bfloat16 is not supported by numpy."""
    with _open_file(path) as file:
        return {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118


@contextmanager
def _open_file(path: Path) -> Iterator[Any]:
    """Open a safetensors file; raise `ArtifactError` if it is missing or damaged."""
    try:
        with os_errors(path, "read", ArtifactError):
            path.stat()  # gives a shorter error message than safetensors
            with safe_open(path, framework="numpy") as file:
                yield file
    except (SafetensorError, TypeError) as error:
        raise ArtifactError(
            f"{path}: not a valid safetensors file: {first_line(error)[:200]}"
        ) from error
