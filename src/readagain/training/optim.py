"""Optimizers, learning-rate schedules, averaged weights, and sparse updates of embedding tables."""

import math
from collections.abc import Iterable

import torch
from torch import Tensor, nn
from torch.utils.hooks import RemovableHandle

from readagain.config.schema import TrainSpec
from readagain.networks.layers import WordEmbedding

# As in Vaswani et al. 2017; the default of PyTorch is (0.9, 0.999).
ADAM_BETAS = (0.9, 0.98)
ADAM_EPSILON = 1e-8
# As in Zeiler 2012.
ADADELTA_RHO = 0.95
ADADELTA_EPSILON = 1e-6


def build_optimizer(parameters: Iterable[nn.Parameter], spec: TrainSpec) -> torch.optim.Optimizer:
    """Build the optimizer of a run and allocate its state.

    The learning rate is a tensor on the device, since a CUDA graph would repeat the value of a
    Python number. AdamW does not apply weight decay to biases and other vectors; SGD and Adadelta
    apply it to all weights.
    """
    parameters = list(parameters)
    device = parameters[0].device
    is_cuda = device.type == "cuda"
    rate = torch.tensor(spec.learning_rate, device=device)
    # On a CPU, the optimizer is fused for float32 only; some tests use float64.
    fused = is_cuda or all(parameter.dtype == torch.float32 for parameter in parameters)
    if spec.optimizer == "sgd":
        return torch.optim.SGD(parameters, lr=rate, weight_decay=spec.weight_decay, fused=fused)
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

    It rises linearly during warm-up, then follows the schedule:

    - `halving` keeps the full rate for `halving_from_epoch` epochs, then halves it, and halves it
      again after every `halving_every` epochs (one in section 4 of the paper);
    - `cosine` lowers it to zero at `total_steps`;
    - `plateau` halves it `num_plateaus` times;
    - `constant` keeps it.
    """
    if step < spec.warmup_steps:
        return spec.learning_rate * (step + 1) / spec.warmup_steps
    if spec.schedule == "halving":
        epochs_after = step // steps_per_epoch - spec.halving_from_epoch
        return spec.learning_rate * 0.5 ** max(0, epochs_after // spec.halving_every + 1)
    if spec.schedule == "cosine":
        steps_after_warmup = max(1, total_steps - spec.warmup_steps)
        progress = min(1.0, (step - spec.warmup_steps) / steps_after_warmup)
        return spec.learning_rate * 0.5 * (1 + math.cos(math.pi * progress))
    if spec.schedule == "plateau":
        return spec.learning_rate * 0.5**num_plateaus
    return spec.learning_rate


class EmaWeights:
    """Exponential moving average of the weights.

    The average starts at zero and is bias-corrected as in Adam, so the random initial weights do
    not contribute.
    """

    def __init__(self, parameters: Iterable[nn.Parameter], *, decay: float) -> None:
        self.parameters = list(parameters)
        # The average before the bias correction.
        self.uncorrected = [torch.zeros_like(parameter) for parameter in self.parameters]
        self.decay = decay

    @torch.no_grad()
    def update(self) -> None:
        """Include the current weights in the average."""
        weights: list[Tensor] = [*self.parameters]
        torch._foreach_lerp_(self.uncorrected, weights, 1 - self.decay)

    @torch.no_grad()
    def average(self, num_updates: int) -> list[Tensor]:
        """Return the bias-corrected average after `num_updates` updates, at least one."""
        return [*torch._foreach_div(self.uncorrected, 1 - self.decay**num_updates)]


def supports_row_updates(spec: TrainSpec, *, world_size: int) -> bool:
    """Return whether an update may skip the embedding rows that its batch does not use.

    Weight decay and the moments of other optimizers change all rows. In distributed training,
    processes use different rows, and DDP averages the gradients of whole tables.
    """
    return spec.optimizer == "sgd" and spec.weight_decay == 0 and world_size == 1


class EmbeddingLookups:
    """Lookups of a batch in one embedding table; SGD then updates only the rows that were used.

    A batch of 64 pairs uses about two thousand of the tens of thousands of rows of a table. SGD
    without momentum does not change the other rows, so no gradient of the size of the table is
    needed.

    While lookups are recorded, the table returns detached vectors, which receive the gradient. The
    table itself has no gradient, so the optimizer skips it. The shapes of all tensors depend only
    on the shape of the batch, so the CPU does not wait for the GPU.

    The network must use the table only for lookups.
    """

    def __init__(self, table: WordEmbedding) -> None:
        self.table = table
        self._lookups: list[tuple[Tensor, Tensor]] = []  # ids and their vectors
        # (V,) index of one lookup of each row that the batch uses; any index for other rows.
        self._lookup_of_row = torch.zeros(
            table.num_embeddings, dtype=torch.int64, device=table.weight.device
        )

    def record(self) -> RemovableHandle:
        """Clear the lookups, and record new ones until the handle, a context, is removed."""
        self._lookups.clear()
        return self.table.register_forward_hook(self._record_lookup)

    def _record_lookup(self, _: nn.Module, inputs: tuple[Tensor, ...], vectors: Tensor) -> Tensor:
        """Record a lookup and return its vectors, detached from the table (a forward hook)."""
        if not vectors.requires_grad:  # no gradient is computed, for example while sampling
            return vectors
        leaf = vectors.detach().requires_grad_()
        self._lookups.append((inputs[0], leaf))
        return leaf

    @torch.no_grad()
    def gradient(self) -> tuple[Tensor, Tensor]:
        """Return the (M,) rows of the M lookups and their (M, E) gradients, after `backward`.

        A row that is looked up several times has its whole gradient at one of these lookups, and
        zeros at the others. So their norm equals the norm of the gradient of the table.
        """
        lookups = [
            (ids, vectors.grad) for ids, vectors in self._lookups if vectors.grad is not None
        ]
        ids = _concatenate([ids.flatten() for ids, _ in lookups])  # (M,)
        gradients = _concatenate([gradient.flatten(0, -2) for _, gradient in lookups])  # (M, E)
        # For a row with several lookups, it does not matter which of them is stored.
        self._lookup_of_row[ids] = torch.arange(ids.size(0), device=ids.device)
        dtype = self.table.weight.dtype
        values = torch.zeros_like(gradients, dtype=dtype)
        values.index_add_(0, self._lookup_of_row[ids], gradients.to(dtype))
        return ids, values

    @torch.no_grad()
    def update(self, ids: Tensor, values: Tensor, rate: Tensor) -> None:
        """Update the table by SGD with a result of `gradient` and a scalar learning rate."""
        self.table.weight.index_add_(0, ids, values * rate, alpha=-1)


def _concatenate(tensors: list[Tensor]) -> Tensor:
    """Concatenate tensors along the first dimension; a single tensor is not copied."""
    return tensors[0] if len(tensors) == 1 else torch.cat(tensors)
