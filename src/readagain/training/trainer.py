"""Network, training data and optimizer of a run, on one of its processes."""

import torch
from torch import Tensor, nn

from readagain.networks.build import build_model
from readagain.training.checkpoint import Checkpoint
from readagain.training.dataset import BatchPlan
from readagain.training.job import ResolvedJob
from readagain.training.parallel import DistributedContext
from readagain.training.risk import RiskStep
from readagain.training.state import TrainingState
from readagain.training.step import TrainingStep


class Trainer:
    """Network, training data and optimizer of a run on one process.

    The epoch and the next batch are computed from the number of updates, so a checkpoint does not
    contain them.
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
        if job.trained_model is not None:
            self.model.load_state_dict(job.trained_model.weights(job.vocabs))
        self.model.to(device)
        self.training_step = self._build_step(job)

    def _build_step(self, job: ResolvedJob) -> TrainingStep:
        model: nn.Module = self.model
        if self.processes.world_size > 1:
            device_ids = [self.device.index] if self.device.type == "cuda" else None
            model = nn.parallel.DistributedDataParallel(model, device_ids=device_ids)
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

    def resume(self, checkpoint: Checkpoint | None) -> TrainingState:
        """Load a checkpoint, if there is one, on the first process and copy it to the others.

        Args:
            checkpoint: the checkpoint; None on processes other than the first, and for a new run.

        Returns:
            The state of the checkpoint, or that of a new run.
        """
        state = TrainingState()
        if checkpoint is not None:
            state = checkpoint.state
            self.model.load_state_dict(checkpoint.weights())
            self.training_step.load_state(checkpoint.training_tensors())
        step_state = self.training_step.state()
        del step_state["step"]  # a number, broadcast below
        self.processes.broadcast_tensors([*self.model.state_dict().values(), *step_state.values()])
        self.training_step.step = self.processes.broadcast(self.training_step.step)
        return self.processes.broadcast(state)

    def update(self) -> tuple[Tensor, int]:
        """Run the next update; return its loss, a scalar on the device, and its number of pairs."""
        epoch, position = divmod(self.training_step.step, self.steps_per_epoch)
        if epoch != self._epoch:
            self._epoch, self._plans = epoch, self._plan_epoch(epoch)
        plan = self._plans[position]
        batch = self.dataset.local_batch(
            plan,
            batch_size=self.spec.batch_size,
            rank=self.processes.rank,
            world_size=self.processes.world_size,
        )
        return self.training_step.update(batch), len(plan.pairs)

    def _plan_epoch(self, epoch: int) -> list[BatchPlan]:
        return self.dataset.plan_epoch(
            epoch=epoch, batch_size=self.spec.batch_size, seed=self.spec.seed
        )
