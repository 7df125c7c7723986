"""Plain SGD on word tables, in the rows that a batch looks up.

A batch of 64 pairs names some two thousand of a table's tens of thousands of rows. The others have
no gradient, and plain SGD leaves them as they are; so nothing of the size of a table need be filled
with zeros, squared and subtracted in every update.
"""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass

import torch
from torch import Tensor, nn
from torch.utils.hooks import RemovableHandle

from readagain.config.schema import TrainSpec
from readagain.networks.embedding import WordEmbedding


def can_learn_by_rows(spec: TrainSpec, *, world_size: int) -> bool:
    """Say whether an update leaves rows without gradient as they are.

    Decay and moments change every row. Several processes look different rows up, and average
    the gradients of whole tables.
    """
    return spec.optimizer == "sgd" and spec.weight_decay == 0 and world_size == 1


@dataclass(frozen=True)
class RowGradient:
    """The gradient of a table at the M places where a batch looks it up.

    Args:
        table: (V, E) the weights.
        ids: (M,) which row each place has.
        values: (M, E) the sum over all places of a row at one of them, zeros at the others; so the
            norm is that of the table's gradient.
    """

    table: Tensor
    ids: Tensor
    values: Tensor

    @torch.no_grad()
    def step(self, rate: Tensor) -> None:
        """Take a step down the gradient; `rate` is ()."""
        self.table.index_add_(0, self.ids, self.values * rate, alpha=-1)


class TableRows:
    """What a batch looks up in one word table.

    While it watches, the table hands out vectors that are cut off from it and keep their own
    gradient; the table then has none, so an optimizer passes over it. Shapes hang on the batch's
    alone, and nothing waits for the device.

    Args:
        table: what the network uses by looking words up, and in no other way.
    """

    def __init__(self, table: WordEmbedding) -> None:
        self.table = table
        self._looked_up: list[tuple[Tensor, Tensor]] = []  # ids and their vectors
        # One place of each row that a batch has; of the others, whatever was there before.
        self._place_of = torch.zeros(
            table.num_embeddings, dtype=torch.int64, device=table.weight.device
        )

    def watch(self) -> RemovableHandle:
        """Forget what was looked up so far, and note what is until the handle is removed."""
        self._looked_up.clear()
        return self.table.register_forward_hook(self._cut_off)

    def _cut_off(self, _: nn.Module, inputs: tuple[Tensor, ...], vectors: Tensor) -> Tensor:
        if not vectors.requires_grad:  # nobody learns from this
            return vectors
        leaf = vectors.detach().requires_grad_()
        self._looked_up.append((inputs[0], leaf))
        return leaf

    @torch.no_grad()
    def gradient(self) -> RowGradient:
        """Sum, after `backward`, what each row has at all its places."""
        learned = [(ids, each.grad) for ids, each in self._looked_up if each.grad is not None]
        ids = _joined([each.flatten() for each, _ in learned])  # (M,)
        arriving = _joined([each.flatten(0, -2) for _, each in learned])  # (M, E)
        places = torch.arange(ids.size(0), device=ids.device)
        self._place_of[ids] = places  # of several places of a row, any one
        table = self.table.weight
        values = torch.zeros_like(arriving, dtype=table.dtype)
        values.index_add_(0, self._place_of[ids], arriving.to(table.dtype))
        return RowGradient(table, ids, values)


@contextmanager
def watching(tables: Sequence[TableRows]) -> Iterator[None]:
    """Let tables note what is looked up in them for a while, and nothing of before."""
    handles = [each.watch() for each in tables]
    try:
        yield
    finally:
        for handle in handles:
            handle.remove()


def _joined(parts: list[Tensor]) -> Tensor:
    """Lay tensors behind each other; one alone is not copied."""
    return parts[0] if len(parts) == 1 else torch.cat(parts)
