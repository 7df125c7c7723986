"""The tensors of a network by name, as a graph wants them."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from readagain.errors import ArtifactError
from readagain.export.graph import Array


class Weights:
    """Tensors under a common beginning of their names.

    Args:
        tensors: all of them, by name.
        prefix: the beginning, with its dot.
    """

    def __init__(self, tensors: Mapping[str, Any], prefix: str = "") -> None:
        self._tensors = tensors
        self._prefix = prefix

    def of(self, part: str) -> "Weights":
        """Return the tensors of a part of the network."""
        return Weights(self._tensors, f"{self._prefix}{part}.")

    def tensor(self, name: str) -> Array:
        """Return one tensor in float32.

        Raises:
            ArtifactError: when the weights are those of another network.
        """
        full_name = self._prefix + name
        if full_name not in self._tensors:
            raise ArtifactError(
                f"no tensor '{full_name}' among the weights; they belong to another network "
                "than run.json describes"
            )
        return np.asarray(self._tensors[full_name], dtype=np.float32)

    def matrix(self, name: str) -> Array:
        """Return a weight as rows are multiplied by it: torch's (O, I) as (I, O)."""
        return self.tensor(name).T
