"""Optimizers, learning-rate schedules and averaged weights."""

import math
from collections.abc import Iterable

import torch
from torch import Tensor, nn

from readagain.config.schema import TrainSpec

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
        self.sums = [torch.zeros_like(each) for each in self.parameters]
        self.decay = decay

    @torch.no_grad()
    def update(self) -> None:
        """Add the current weights."""
        weights: list[Tensor] = [*self.parameters]
        torch._foreach_lerp_(self.sums, weights, 1 - self.decay)

    @torch.no_grad()
    def average(self, num_updates: int) -> list[Tensor]:
        """Return the bias-corrected average after `num_updates` updates; the weights if it is 0."""
        if num_updates == 0:
            return [each.detach().clone() for each in self.parameters]
        return [*torch._foreach_div(self.sums, 1 - self.decay**num_updates)]
