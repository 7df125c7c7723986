"""One update of the weights: loss, gradient, clipping, optimizer, running mean.

On a GPU the whole update is captured once for each batch shape and replayed as one launch, so
that some hundred small kernels cost no time on the host. Nothing here waits for the device.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

import torch
from torch import Tensor, nn

from readagain.config.schema import TrainSpec
from readagain.networks.embedding import WordEmbedding
from readagain.training.batch import Batch
from readagain.training.dataset import BatchIndices
from readagain.training.half import call_with_weights_in
from readagain.training.optim import EmaWeights, build_optimizer, learning_rate
from readagain.training.table_rows import RowGradient, TableRows, can_learn_by_rows, watching


@dataclass(frozen=True)
class _Captured:
    """A graph of one update, what it reads and the loss it leaves."""

    graph: torch.cuda.CUDAGraph
    held: BatchIndices | Batch
    loss: Tensor


class TrainingStep:
    """Update a model batch by batch.

    Args:
        model: the network; wrapped in DistributedDataParallel when several processes train it.
        spec: the recipe.
        total_steps: updates of the whole run, for the schedule.
        steps_per_epoch: updates of one epoch, for the schedule.
        rank: which of the processes this is; each draws its own dropout.
        world_size: processes that share a global batch.
    """

    def __init__(
        self,
        model: nn.Module,
        spec: TrainSpec,
        *,
        total_steps: int,
        steps_per_epoch: int,
        rank: int = 0,
        world_size: int = 1,
    ) -> None:
        self.model = model
        self.spec = spec
        self.total_steps = total_steps
        self.steps_per_epoch = steps_per_epoch
        self.rank = rank
        self.world_size = world_size
        self.step = 0
        self.names, self.parameters = zip(*model.named_parameters(), strict=True)
        self.device = self.parameters[0].device
        self.optimizer = build_optimizer(self.parameters, spec)
        self.tables = (
            [TableRows(each) for each in model.modules() if isinstance(each, WordEmbedding)]
            if self._is_fused and can_learn_by_rows(spec, world_size=world_size)
            else []
        )
        self.ema = (
            EmaWeights(self.parameters, decay=spec.ema_decay) if spec.averaging == "ema" else None
        )
        # Processes talk to each other in every update, which a captured graph does not allow.
        self.captures = self.device.type == "cuda" and world_size == 1
        self._captured: dict[tuple[int, ...], _Captured] = {}
        self._pool = torch.cuda.graph_pool_handle() if self.captures else None

    def learning_rate(self) -> float:
        """Return the rate of the next update."""
        return learning_rate(
            self.spec,
            step=self.step,
            total_steps=self.total_steps,
            steps_per_epoch=self.steps_per_epoch,
        )

    def update(self, given: BatchIndices | Batch) -> Tensor:
        """Take one step down the gradient of a batch.

        Returns:
            The mean negative log-probability of a target word of the whole batch, or what else
            the objective reports, detached; on a GPU the next update of the same shape
            overwrites it.
        """
        torch.manual_seed(_seed_of(self.spec.seed, self.step, self.rank))
        rate = self.learning_rate()
        for group in self.optimizer.param_groups:
            group["lr"].fill_(rate)
        self.model.train()
        loss = self._replay(given) if self.captures else self._run(given)
        self.step += 1
        return loss

    @property
    def _is_fused(self) -> bool:
        return bool(self.optimizer.defaults.get("fused"))

    @property
    def _is_half(self) -> bool:
        return self.spec.precision == "bfloat16" and self.device.type == "cuda"

    def _run(self, given: BatchIndices | Batch) -> Tensor:
        self.optimizer.zero_grad(set_to_none=True)
        loss = self._backward(given.assemble())
        self._descend([each.gradient() for each in self.tables])
        if self.ema is not None:
            self.ema.update()
        return loss

    def _backward(self, batch: Batch) -> Tensor:
        with watching(self.tables):
            loss, reported, count = self._sums(batch)
        if self.world_size > 1:
            torch.distributed.all_reduce(count)
            # The processes' gradients are averaged, and each holds only its part of the sum.
            loss = loss * self.world_size
        (loss / count).backward()  # type: ignore[no-untyped-call]
        mean: Tensor = reported.detach() / count
        if self.world_size > 1:
            torch.distributed.all_reduce(mean)
        return mean

    def _sums(self, batch: Batch) -> tuple[Tensor, Tensor, Tensor]:
        """Return the loss summed over a batch, the sum that is reported, and what to divide by."""
        with self._autocast():
            log_probs = self._score(*batch.inputs(), self.spec.label_smoothing)  # (B, T)
        total = torch.where(batch.target_valid, log_probs, 0.0).sum().neg()
        return total, total, batch.target_valid.sum()

    def _score(self, *inputs: Tensor | float) -> Tensor:
        """Call the model, in the fastest way to the precision that is asked for."""
        if self._is_half and self.world_size == 1:
            return call_with_weights_in(torch.bfloat16, self.model, *inputs)
        log_probs: Tensor = self.model(*inputs)
        return log_probs

    def _autocast(self) -> torch.autocast:
        return torch.autocast(self.device.type, torch.bfloat16, enabled=self._is_half)

    def _descend(self, rows: list[RowGradient]) -> None:
        """Take a step down the gradient, shortened to `max_norm` where it is longer.

        A fused optimizer divides gradients by `grad_scale` as it reads them (the hook of torch's
        GradScaler), which saves writing all of them once more.

        Args:
            rows: the gradients of tables that the optimizer does not see.
        """
        if not self._is_fused:
            nn.utils.clip_grad_norm_(self.parameters, self.spec.max_norm)
            self.optimizer.step()
            return
        gradients = [each.grad for each in self.parameters if each.grad is not None]
        norm = nn.utils.get_total_norm(gradients + [each.values for each in rows])
        scale = (norm / self.spec.max_norm).clamp_min(1.0)
        self.optimizer.grad_scale = scale  # type: ignore[attr-defined]
        self.optimizer.step()
        rate = self.optimizer.param_groups[0]["lr"] / scale
        for each in rows:
            each.step(rate)

    def _replay(self, given: BatchIndices | Batch) -> Tensor:
        size = self._shape(given)
        if size not in self._captured:
            self._captured[size] = self._capture(given)
        captured = self._captured[size]
        captured.held.hold(given)  # type: ignore[arg-type]  # a corpus gives one kind or the other
        captured.graph.replay()
        return captured.loss

    def _shape(self, given: BatchIndices | Batch) -> tuple[int, ...]:
        """Return all that tells a captured update from another."""
        return given.size()

    def _capture(self, given: BatchIndices | Batch) -> _Captured:
        held = given.held()
        # Outside the graph once, without an update: kernels are compiled and libraries woken.
        stream = torch.cuda.Stream()  # type: ignore[no-untyped-call]
        stream.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(stream):
            self._backward(held.assemble())
            self.optimizer.zero_grad(set_to_none=True)
        torch.cuda.current_stream().wait_stream(stream)
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph, pool=self._pool):
            loss = self._run(held)
        return _Captured(graph, held, loss)

    def state(self) -> dict[str, Tensor]:
        """Return everything but the weights that the next update depends on, by name."""
        found = {"step": torch.tensor(self.step)}
        for name, parameter in zip(self.names, self.parameters, strict=True):
            for kind, value in self.optimizer.state.get(parameter, {}).items():
                found[f"optimizer.{kind}.{name}"] = value
        if self.ema is not None:
            found |= {
                f"mean.{name}": value for name, value in zip(self.names, self.ema.sums, strict=True)
            }
        return found

    def load_state(self, state: dict[str, Tensor]) -> None:
        """Go on where `state` was taken; the names must be those that `state()` gives here."""
        self.step = int(state["step"])
        for name, held in self.state().items():
            if name != "step":
                held.copy_(state[name])

    @contextmanager
    def averaged_weights(self) -> Iterator[None]:
        """Put the averaged weights, if there are any, into the model for a block."""
        if self.ema is None:
            yield
            return
        kept = [each.detach().clone() for each in self.parameters]
        _assign(self.parameters, self.ema.after(self.step))
        try:
            yield
        finally:
            _assign(self.parameters, kept)


@torch.no_grad()
def _assign(parameters: tuple[nn.Parameter, ...], values: list[Tensor]) -> None:
    for parameter, value in zip(parameters, values, strict=True):
        parameter.copy_(value)


def _seed_of(seed: int, step: int, rank: int) -> int:
    """Give every update of every process a seed of its own, so that resuming needs no generator."""
    return ((seed * 1_000_003 + step) * 1_009 + rank) % 2**63
