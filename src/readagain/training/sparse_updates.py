"""Sparse SGD updates of embedding tables.

A batch of 64 pairs uses about two thousand rows of a table that has tens of thousands. SGD without
momentum does not change the other rows, so no gradient of the size of the table is needed.
"""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass

import torch
from torch import Tensor, nn
from torch.utils.hooks import RemovableHandle

from readagain.config.schema import TrainSpec
from readagain.networks.layers import WordEmbedding


def supports_row_updates(spec: TrainSpec, *, world_size: int) -> bool:
    """Return whether an update leaves rows without a gradient unchanged.

    Weight decay and the moments of other optimizers change every row. In distributed training,
    processes use different rows, and the gradients of whole tables are averaged.
    """
    return spec.optimizer == "sgd" and spec.weight_decay == 0 and world_size == 1


@dataclass(frozen=True)
class RowGradient:
    """Gradient of a table at the M lookups of a batch.

    Args:
        table: (V, E) the weights.
        ids: (M,) row of each lookup.
        values: (M, E) at one lookup of each row, the sum of the gradients of all lookups of that
            row; zeros at its other lookups. So the norm is that of the gradient of the table.
    """

    table: Tensor
    ids: Tensor
    values: Tensor

    @torch.no_grad()
    def step(self, rate: Tensor) -> None:
        """Update the table; `rate` is a () tensor."""
        self.table.index_add_(0, self.ids, self.values * rate, alpha=-1)


class EmbeddingLookups:
    """Lookups of a batch in one embedding table.

    While recording, the table returns detached vectors, which receive the gradient. The table
    itself has no gradient, so the optimizer skips it. Shapes depend only on the batch, so the CPU
    does not wait for the GPU.

    Args:
        table: an embedding that the network uses only for lookups.
    """

    def __init__(self, table: WordEmbedding) -> None:
        self.table = table
        self._lookups: list[tuple[Tensor, Tensor]] = []  # ids and their vectors
        # One lookup of each row that the batch uses; arbitrary for other rows.
        self._lookup_of = torch.zeros(
            table.num_embeddings, dtype=torch.int64, device=table.weight.device
        )

    def record(self) -> RemovableHandle:
        """Clear the lookups, and record new ones until the handle is removed."""
        self._lookups.clear()
        return self.table.register_forward_hook(self._detach)

    def _detach(self, _: nn.Module, inputs: tuple[Tensor, ...], vectors: Tensor) -> Tensor:
        if not vectors.requires_grad:  # not in training
            return vectors
        leaf = vectors.detach().requires_grad_()
        self._lookups.append((inputs[0], leaf))
        return leaf

    @torch.no_grad()
    def gradient(self) -> RowGradient:
        """Sum the gradients of the lookups of each row, after `backward`."""
        lookups = [(ids, each.grad) for ids, each in self._lookups if each.grad is not None]
        ids = _concatenate([each.flatten() for each, _ in lookups])  # (M,)
        gradients = _concatenate([each.flatten(0, -2) for _, each in lookups])  # (M, E)
        positions = torch.arange(ids.size(0), device=ids.device)
        self._lookup_of[ids] = positions  # any one of several lookups of a row
        table = self.table.weight
        values = torch.zeros_like(gradients, dtype=table.dtype)
        values.index_add_(0, self._lookup_of[ids], gradients.to(table.dtype))
        return RowGradient(table, ids, values)


@contextmanager
def record_lookups(tables: Sequence[EmbeddingLookups]) -> Iterator[None]:
    """Record the lookups in tables for a block."""
    handles = [each.record() for each in tables]
    try:
        yield
    finally:
        for handle in handles:
            handle.remove()


def _concatenate(parts: list[Tensor]) -> Tensor:
    """Concatenate tensors; a single one is not copied."""
    return parts[0] if len(parts) == 1 else torch.cat(parts)
