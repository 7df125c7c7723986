"""Network, training data and optimizer of a run, on each of its processes."""

from collections.abc import Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass

import torch
from torch import Tensor, nn

from readagain.networks.build import build_model
from readagain.training.checkpoint import Checkpoint
from readagain.training.dataset import BatchPlan
from readagain.training.job import ResolvedJob
from readagain.training.parallel import DistributedContext
from readagain.training.risk import RiskStep
from readagain.training.step import TrainingStep

# DistributedDataParallel adds this to the names of parameters; it is removed in checkpoints.
_DDP_PREFIX = ".module."


@dataclass(frozen=True)
class TrainerState:
    """Tensors that a checkpoint stores. They are not copied, so the next update changes them.

    Args:
        weights: the weights of the network.
        training: the state of the optimizer and of the averaged weights.
    """

    weights: Mapping[str, Tensor]
    training: Mapping[str, Tensor]

    def is_finite(self) -> bool:
        """Return whether all weights are finite."""
        return all(bool(value.isfinite().all()) for value in self.weights.values())


class Trainer:
    """Network, training data and optimizer of a run on one process.

    The epoch and the next batch are computed from the number of updates, so they need no state.

    Args:
        job: the run.
        processes: the processes that train together.
        device: the device of this process.
    """

    def __init__(
        self, job: ResolvedJob, processes: DistributedContext, device: torch.device
    ) -> None:
        self.spec = job.run.train
        self.processes = processes
        self.device = device
        self.dataset = job.load_dataset("train", device)
        self._epoch = 0
        self._plans = self._plan_epoch(0)
        self.steps_per_epoch = len(self._plans)
        self.total_steps = self.spec.epochs * self.steps_per_epoch
        self.validate_every = self.spec.validate_every or self.steps_per_epoch

        torch.manual_seed(self.spec.seed)
        self.model = build_model(job.run)
        weights = job.initial_weights()
        if weights is not None:
            self.model.load_state_dict(weights)
        self.model.to(device)
        self.step = self._build_step(job)

    def _build_step(self, job: ResolvedJob) -> TrainingStep:
        model = _wrap_ddp(self.model, self.processes, self.device)
        options = {
            "total_steps": self.total_steps,
            "steps_per_epoch": self.steps_per_epoch,
            "rank": self.processes.rank,
            "world_size": self.processes.world_size,
        }
        if self.spec.objective == "likelihood":
            return TrainingStep(model, self.spec, **options)
        max_words = job.run.data.max_summary_words
        return RiskStep(model, self.spec, network=self.model, max_words=max_words, **options)

    def resume(self, checkpoint: Checkpoint | None) -> None:
        """Load a checkpoint, if there is one, and copy the state of the first process to all."""
        if checkpoint is not None:
            self.model.load_state_dict(checkpoint.weights())
            state = checkpoint.training()
            self.step.load_state(
                {name: state[name.replace(_DDP_PREFIX, ".")] for name in self.step.state()}
            )
        moments = [value for name, value in self.step.state().items() if name != "step"]
        self.processes.broadcast_tensors([*self.model.state_dict().values(), *moments])
        self.step.step = self.processes.broadcast(self.step.step)

    def update(self) -> tuple[Tensor, int]:
        """Run the next update; return its loss, on the device, and its number of pairs."""
        epoch, position = divmod(self.step.step, self.steps_per_epoch)
        if epoch != self._epoch:
            self._epoch, self._plans = epoch, self._plan_epoch(epoch)
        plan = self._plans[position]
        batch = self.dataset.local_batch(
            plan,
            batch_size=self.spec.batch_size,
            rank=self.processes.rank,
            world_size=self.processes.world_size,
        )
        return self.step.update(batch), len(plan.pairs)

    def averaged_weights(self) -> AbstractContextManager[None]:
        """Use the averaged weights, if there are any, in the network within the block."""
        return self.step.averaged_weights()

    def copy_weights(self) -> dict[str, Tensor]:
        """Copy the weights of the network."""
        return {name: value.clone() for name, value in self.model.state_dict().items()}

    def state(self) -> TrainerState:
        """Return the tensors of a checkpoint, not copied."""
        state = self.step.state()
        return TrainerState(
            weights=self.model.state_dict(),
            training={name.replace(_DDP_PREFIX, "."): value for name, value in state.items()},
        )

    def _plan_epoch(self, epoch: int) -> list[BatchPlan]:
        return self.dataset.plan_epoch(
            epoch=epoch, batch_size=self.spec.batch_size, seed=self.spec.seed
        )


def _wrap_ddp(model: nn.Module, processes: DistributedContext, device: torch.device) -> nn.Module:
    if processes.world_size == 1:
        return model
    return nn.parallel.DistributedDataParallel(
        model, device_ids=[device.index] if device.type == "cuda" else None
    )
