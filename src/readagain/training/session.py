"""The network being trained, its data and its optimizer, on each of the processes."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager

import torch
from torch import Tensor, nn

from readagain.networks.build import build_model
from readagain.training.averaging import CheckpointAverage
from readagain.training.batches import BatchPlan, TrainingDataset
from readagain.training.checkpoint import Checkpoint
from readagain.training.job import ResolvedJob
from readagain.training.parallel import Processes
from readagain.training.risk import RiskStep
from readagain.training.step import TrainingStep

# DistributedDataParallel names what it wraps; on disk the names are those of one process.
_WRAPPED = ".module."


class Trainer:
    """Everything an update needs; the position in the data follows from the step alone.

    Args:
        job: what is trained.
        processes: who trains it together.
        device: where this process computes.
    """

    def __init__(self, job: ResolvedJob, processes: Processes, device: torch.device) -> None:
        self.spec = job.run.train
        self.processes = processes
        self.device = device
        self.pairs = TrainingDataset.load(
            job.corpus.split("train"),
            source_ids_of=job.corpus.lexicon.vocab_ids(job.words.source),
            ids_of=job.corpus.lexicon.vocab_ids(job.words.summary),
            vocab_size=len(job.words.summary),
            data=job.run.data,
            device=device,
        )
        self._epoch = 0
        self._plans = self._plan(0)
        self.steps_per_epoch = len(self._plans)
        self.total_steps = self.spec.epochs * self.steps_per_epoch
        self.validate_every = self.spec.validate_every or self.steps_per_epoch

        torch.manual_seed(self.spec.seed)
        self.model = build_model(job.run)
        weights = job.first_weights()
        if weights is not None:
            self.model.load_state_dict(weights)
        self.model.to(device)
        self.step = self._build_step(job)
        self.latest = (
            CheckpointAverage(self.spec.average_last) if self.spec.averaging == "last_k" else None
        )

    def _build_step(self, job: ResolvedJob) -> TrainingStep:
        model = _wrapped(self.model, self.processes, self.device)
        shape = {
            "total_steps": self.total_steps,
            "steps_per_epoch": self.steps_per_epoch,
            "rank": self.processes.rank,
            "world_size": self.processes.world_size,
        }
        if self.spec.objective == "likelihood":
            return TrainingStep(model, self.spec, **shape)
        most = job.run.data.max_summary_words
        return RiskStep(model, self.spec, network=self.model, max_words=most, **shape)

    def resume(self, checkpoint: Checkpoint | None) -> None:
        """Go on from a checkpoint of the first process; from the beginning without one."""
        if checkpoint is not None:
            self.model.load_state_dict(checkpoint.weights())
            state = checkpoint.training()
            self.step.load_state(
                {name: state[name.replace(_WRAPPED, ".")] for name in self.step.state()}
            )
            if self.latest is not None:
                self.latest.load_state(state, self.device)
        self.processes.share_tensors([*self.model.state_dict().values(), *self._moments()])
        self.step.step = self.processes.from_first(self.step.step)

    def update(self) -> tuple[Tensor, int]:
        """Do the next update; return its loss on the device, and how many pairs it saw."""
        epoch, place = divmod(self.step.step, self.steps_per_epoch)
        if epoch != self._epoch:
            self._epoch, self._plans = epoch, self._plan(epoch)
        plan = self._plans[place]
        fed = self.pairs.feed(
            plan,
            batch_size=self.spec.batch_size,
            rank=self.processes.rank,
            world_size=self.processes.world_size,
        )
        return self.step.update(fed), len(plan.pairs)

    @contextmanager
    def keepable(self) -> Iterator[None]:
        """Let the network hold the weights that would be kept: a mean, where the recipe says so."""
        averaged = self.step.averaged() if self.latest is None else self.latest.averaged(self.model)
        with averaged:
            yield

    def weights(self) -> dict[str, Tensor]:
        """Copy the weights that the network holds."""
        return {name: value.clone() for name, value in self.model.state_dict().items()}

    def note_validated(self) -> None:
        """Remember the present weights where the recipe averages validated ones."""
        if self.latest is not None:
            self.latest.take(self.weights())

    def training_state(self) -> Mapping[str, Tensor]:
        """Return what a checkpoint holds besides the weights."""
        state = {name.replace(_WRAPPED, "."): value for name, value in self.step.state().items()}
        return state if self.latest is None else {**state, **self.latest.state()}

    def is_finite(self) -> bool:
        """Say whether every weight is a number."""
        return all(bool(value.isfinite().all()) for value in self.model.state_dict().values())

    def _moments(self) -> list[Tensor]:
        return [value for name, value in self.step.state().items() if name != "step"]

    def _plan(self, epoch: int) -> list[BatchPlan]:
        return self.pairs.plan_epoch(
            epoch=epoch, batch_size=self.spec.batch_size, seed=self.spec.seed
        )


def _wrapped(model: nn.Module, processes: Processes, device: torch.device) -> nn.Module:
    if processes.world_size == 1:
        return model
    return nn.parallel.DistributedDataParallel(
        model, device_ids=[device.index] if device.type == "cuda" else None
    )
