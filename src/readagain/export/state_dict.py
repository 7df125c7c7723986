"""Tensors of a network by name."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from readagain.errors import ArtifactError
from readagain.export.graph_builder import Array


class StateDict:
    """Tensors whose names have a common prefix.

    Args:
        tensors: all tensors by name.
        prefix: the prefix, with its dot.
    """

    def __init__(self, tensors: Mapping[str, Any], prefix: str = "") -> None:
        self._tensors = tensors
        self._prefix = prefix

    def module(self, name: str) -> "StateDict":
        """Return the tensors of a submodule."""
        return StateDict(self._tensors, f"{self._prefix}{name}.")

    def tensor(self, name: str) -> Array:
        """Return one tensor in float32.

        Raises:
            ArtifactError: if the weights belong to another network.
        """
        full_name = self._prefix + name
        if full_name not in self._tensors:
            raise ArtifactError(
                f"weights: no tensor '{full_name}'; use the weights of the network in run.json"
            )
        return np.asarray(self._tensors[full_name], dtype=np.float32)

    def matrix(self, name: str) -> Array:
        """Return torch's (O, I) weight of a linear layer as (I, O)."""
        return self.tensor(name).T

    def affine(self, name: str) -> tuple[Array, Array]:
        """Return the (I, O) weight and the (O,) bias of a linear layer."""
        return self.matrix(f"{name}.weight"), self.tensor(f"{name}.bias")
