"""Optimizers, learning-rate schedules, averaged weights, and sparse updates of embeddings."""

import math
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass

import torch
from torch import Tensor, nn
from torch.utils.hooks import RemovableHandle

from readagain.config.schema import TrainSpec
from readagain.networks.layers import WordEmbedding

ADAM_BETAS = (0.9, 0.98)
"""As in Vaswani et al. 2017; the default of PyTorch is (0.9, 0.999)."""
ADAM_EPSILON = 1e-8
ADADELTA_RHO = 0.95
"""This value and epsilon are those of Zeiler 2012."""
ADADELTA_EPSILON = 1e-6


def build_optimizer(parameters: Iterable[nn.Parameter], spec: TrainSpec) -> torch.optim.Optimizer:
    """Build the optimizer of a run and allocate its state.

    The learning rate is a tensor on the device, so that a CUDA graph uses its current value. AdamW
    does not decay biases and other vectors; the other optimizers decay all weights.
    """
    parameters = list(parameters)
    device = parameters[0].device
    rate = torch.tensor(spec.learning_rate, device=device)
    fused = device.type == "cuda" or all(each.dtype == torch.float32 for each in parameters)
    if spec.optimizer == "sgd":
        return torch.optim.SGD(parameters, lr=rate, weight_decay=spec.weight_decay, fused=fused)
    is_cuda = device.type == "cuda"
    optimizer: torch.optim.Optimizer
    if spec.optimizer == "adadelta":
        optimizer = torch.optim.Adadelta(
            parameters,
            lr=rate,
            rho=ADADELTA_RHO,
            eps=ADADELTA_EPSILON,
            weight_decay=spec.weight_decay,
            capturable=is_cuda,
        )
        averages = ("square_avg", "acc_delta")
    else:
        groups = [
            {"params": [p for p in parameters if p.dim() > 1], "weight_decay": spec.weight_decay},
            {"params": [p for p in parameters if p.dim() <= 1], "weight_decay": 0.0},
        ]
        optimizer = torch.optim.AdamW(
            groups, lr=rate, betas=ADAM_BETAS, eps=ADAM_EPSILON, fused=fused, capturable=is_cuda
        )
        averages = ("exp_avg", "exp_avg_sq")
    for parameter in parameters:
        optimizer.state[parameter] = {
            "step": torch.zeros((), device=device),
            **{name: torch.zeros_like(parameter) for name in averages},
        }
    return optimizer


def learning_rate(
    spec: TrainSpec, *, step: int, total_steps: int, steps_per_epoch: int, num_plateaus: int = 0
) -> float:
    """Return the learning rate of update `step`, counted from 0.

    After a linear warm-up it follows the schedule: `halving` keeps the full rate for some epochs
    and halves it in each later epoch (section 4), `cosine` decays to zero, `constant` does not
    change, `plateau` halves it after each of `num_plateaus` validations.
    """
    if step < spec.warmup_steps:
        return spec.learning_rate * (step + 1) / spec.warmup_steps
    if spec.schedule == "halving":
        epoch = step // steps_per_epoch
        return spec.learning_rate * 0.5 ** max(0, epoch + 1 - spec.halving_from_epoch)
    if spec.schedule == "cosine":
        remaining = max(1, total_steps - spec.warmup_steps)
        progress = min(1.0, (step - spec.warmup_steps) / remaining)
        return spec.learning_rate * 0.5 * (1 + math.cos(math.pi * progress))
    if spec.schedule == "plateau":
        return spec.learning_rate * 0.5**num_plateaus
    return spec.learning_rate


class EmaWeights:
    """Exponential moving average of the weights.

    The average starts at zero and is bias-corrected as in Adam, so that the random initial weights
    do not contribute.
    """

    def __init__(self, parameters: Iterable[nn.Parameter], *, decay: float) -> None:
        self.parameters = list(parameters)
        # The average before the bias correction.
        self.uncorrected = [torch.zeros_like(each) for each in self.parameters]
        self.decay = decay

    @torch.no_grad()
    def update(self) -> None:
        """Include the current weights in the average."""
        weights: list[Tensor] = [*self.parameters]
        torch._foreach_lerp_(self.uncorrected, weights, 1 - self.decay)

    @torch.no_grad()
    def average(self, num_updates: int) -> list[Tensor]:
        """Return the bias-corrected average after `num_updates` updates; the weights if it is 0."""
        if num_updates == 0:
            return [each.detach().clone() for each in self.parameters]
        return [*torch._foreach_div(self.uncorrected, 1 - self.decay**num_updates)]


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
        """Update the table; `rate` is a scalar tensor."""
        self.table.index_add_(0, self.ids, self.values * rate, alpha=-1)


class EmbeddingLookups:
    """Lookups of a batch in one embedding table, for updates by SGD of only the rows used.

    A batch of 64 pairs uses about two thousand rows of a table that has tens of thousands. SGD
    without momentum does not change the other rows, so no gradient of the size of the table is
    needed.

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
