"""Training step: loss, gradient, clipping, optimizer and averaged weights.

On a GPU the whole update is captured as a CUDA graph for each batch shape. Replaying the graph is
one launch, instead of one for each of about a hundred small kernels. The CPU never waits for the
GPU.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor, nn
from torch.func import functional_call

from readagain.config.schema import TrainSpec
from readagain.networks import dispatch
from readagain.networks.layers import WordEmbedding
from readagain.training.batch import Batch
from readagain.training.dataset import BatchIndices
from readagain.training.optim import (
    EmaWeights,
    EmbeddingLookups,
    RowGradient,
    build_optimizer,
    learning_rate,
    record_lookups,
    supports_row_updates,
)


@dataclass(frozen=True)
class _CapturedUpdate:
    """CUDA graph of an update, with the memory of its input and its loss."""

    graph: torch.cuda.CUDAGraph
    batch: BatchIndices | Batch
    loss: Tensor


class TrainingStep:
    """Update of the weights of a model with a batch.

    Args:
        model: the network, wrapped in DistributedDataParallel for several processes.
        spec: the training settings.
        total_steps: updates of the whole run, for the schedule.
        steps_per_epoch: updates of one epoch, for the schedule.
        rank: rank of this process, which seeds its dropout.
        world_size: number of processes that share a batch.
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
        self.step = 0  # number of updates so far
        self.num_plateaus = 0
        self.names, self.parameters = zip(*model.named_parameters(), strict=True)
        self.device = self.parameters[0].device
        self.optimizer = build_optimizer(self.parameters, spec)
        self.lookups = (
            [EmbeddingLookups(each) for each in model.modules() if isinstance(each, WordEmbedding)]
            if self._is_fused and supports_row_updates(spec, world_size=world_size)
            else []
        )
        self.ema = (
            EmaWeights(self.parameters, decay=spec.ema_decay) if spec.averaging == "ema" else None
        )
        # A CUDA graph cannot contain the communication of several processes.
        self.uses_graphs = self.device.type == "cuda" and world_size == 1
        self._captured: dict[tuple[int, ...], _CapturedUpdate] = {}
        self._memory_pool = torch.cuda.graph_pool_handle() if self.uses_graphs else None

    def learning_rate(self, step: int) -> float:
        """Return the learning rate of update `step`, counted from 0."""
        return learning_rate(
            self.spec,
            step=step,
            total_steps=self.total_steps,
            steps_per_epoch=self.steps_per_epoch,
            num_plateaus=self.num_plateaus,
        )

    def update(self, batch: BatchIndices | Batch) -> Tensor:
        """Update the weights with a batch.

        Returns:
            The mean loss of the batch: the negative log-probability of a target word, or the risk.
            It is on the device; on a GPU the next update of the same shape overwrites it.
        """
        torch.manual_seed(_update_seed(self.spec.seed, self.step, self.rank))
        rate = self.learning_rate(self.step)
        for group in self.optimizer.param_groups:
            group["lr"].fill_(rate)
        self.model.train()
        loss = self._replay(batch) if self.uses_graphs else self._run(batch)
        self.step += 1
        return loss

    @property
    def _is_fused(self) -> bool:
        return bool(self.optimizer.defaults.get("fused"))

    @property
    def _is_half(self) -> bool:
        return self.spec.precision == "bfloat16" and self.device.type == "cuda"

    def _run(self, batch: BatchIndices | Batch) -> Tensor:
        self.optimizer.zero_grad(set_to_none=True)
        loss = self._backward(batch.assemble())
        self._clip_and_update([each.gradient() for each in self.lookups])
        if self.ema is not None:
            self.ema.update()
        return loss

    def _backward(self, batch: Batch) -> Tensor:
        with record_lookups(self.lookups):
            loss, reported, count = self._sums(batch)
        if self.world_size > 1:
            torch.distributed.all_reduce(count)
            # DDP averages the gradients of the processes; this factor makes the average a sum.
            loss = loss * self.world_size
        (loss / count).backward()  # type: ignore[no-untyped-call]
        mean: Tensor = reported.detach() / count
        if self.world_size > 1:
            torch.distributed.all_reduce(mean)
        return mean

    def _sums(self, batch: Batch) -> tuple[Tensor, Tensor, Tensor]:
        """Return the loss to minimize, the loss to report, and the number to divide both by.

        Both are sums over the batch. Here they are equal; `RiskStep` returns different ones.
        """
        with self._autocast():
            log_probs = self._score(*batch.inputs(), self.spec.label_smoothing)  # (B, T)
        total = torch.where(batch.target_valid, log_probs, 0.0).sum().neg()
        return total, total, batch.target_valid.sum()

    def _score(self, *inputs: Tensor | float) -> Tensor:
        """Call the model in the precision of the run."""
        if self._is_half and self.world_size == 1:
            return call_in_precision(torch.bfloat16, self.model, *inputs)
        log_probs: Tensor = self.model(*inputs)
        return log_probs

    def _autocast(self) -> torch.autocast:
        return torch.autocast(self.device.type, torch.bfloat16, enabled=self._is_half)

    def _clip_and_update(self, rows: list[RowGradient]) -> None:
        """Clip the gradient to `max_norm` and update the weights.

        A fused optimizer divides the gradients by its attribute `grad_scale` when it reads them, so
        the clipped gradients are never written to memory. PyTorch made it for `GradScaler`.

        Args:
            rows: gradients of the embedding rows that the batch uses, if these are updated here
                and not by the optimizer (`supports_row_updates`); otherwise empty.
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

    def _replay(self, batch: BatchIndices | Batch) -> Tensor:
        key = self._graph_key(batch)
        if key not in self._captured:
            self._captured[key] = self._capture(batch)
        captured = self._captured[key]
        captured.batch.copy_from(batch)  # type: ignore[arg-type]  # always the same type
        captured.graph.replay()
        return captured.loss

    def _graph_key(self, batch: BatchIndices | Batch) -> tuple[int, ...]:
        """Return the key of the graph for a batch; batches of one shape share a graph."""
        return batch.shape_key()

    def _capture(self, batch: BatchIndices | Batch) -> _CapturedUpdate:
        static = batch.static_copy()
        # A first run outside the graph, without an update, compiles kernels and loads libraries.
        stream = torch.cuda.Stream()  # type: ignore[no-untyped-call]
        stream.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(stream):
            self._backward(static.assemble())
            self.optimizer.zero_grad(set_to_none=True)
        torch.cuda.current_stream().wait_stream(stream)
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph, pool=self._memory_pool):
            loss = self._run(static)
        return _CapturedUpdate(graph, static, loss)

    def state(self) -> dict[str, Tensor]:
        """Return all tensors by name that determine the next update, except the weights."""
        state = {"step": torch.tensor(self.step)}
        for name, parameter in zip(self.names, self.parameters, strict=True):
            for kind, value in self.optimizer.state.get(parameter, {}).items():
                state[f"optimizer.{kind}.{name}"] = value
        if self.ema is not None:
            averages = zip(self.names, self.ema.uncorrected, strict=True)
            state |= {f"mean.{name}": value for name, value in averages}
        return state

    def load_state(self, state: dict[str, Tensor]) -> None:
        """Load a state with the names of `state()`."""
        self.step = int(state["step"])
        for name, tensor in self.state().items():
            if name != "step":
                tensor.copy_(state[name])

    @contextmanager
    def averaged_weights(self) -> Iterator[None]:
        """Use the averaged weights, if there are any, in the model within the block."""
        if self.ema is None:
            yield
            return
        current = [each.detach().clone() for each in self.parameters]
        _assign(self.parameters, self.ema.average(self.step))
        try:
            yield
        finally:
            _assign(self.parameters, current)


@torch.no_grad()
def _assign(parameters: tuple[nn.Parameter, ...], values: list[Tensor]) -> None:
    for parameter, value in zip(parameters, values, strict=True):
        parameter.copy_(value)


def _update_seed(seed: int, step: int, rank: int) -> int:
    """Return the random seed of one update on one process.

    With a seed per update, a resumed run gives the same results as an uninterrupted one, although
    checkpoints do not contain the state of the random generator.
    The factors are primes, so that different arguments rarely give the same seed.
    """
    return ((seed * 1_000_003 + step) * 1_009 + rank) % 2**63


def call_in_precision(dtype: torch.dtype, model: nn.Module, *inputs: object) -> Tensor:
    """Call a model with its weights cast to `dtype`; gradients go to the original weights.

    Autocast would cast each weight and each gradient separately, about forty small kernels per
    update. Here all weights are cast in one kernel, and all gradients in another.

    Embedding tables are not cast, since a batch uses few of their rows. The weights of cuDNN's LSTM
    are not cast either, since cuDNN needs them in one block of memory.
    """
    not_cast = {
        parameter
        for module in model.modules()
        if isinstance(module, WordEmbedding) or _uses_cudnn(module)
        for parameter in module.parameters()
    }
    weights = {name: each for name, each in model.named_parameters() if each not in not_cast}
    cast = _CastAll.apply(dtype, *weights.values())  # type: ignore[no-untyped-call]
    result: Tensor = functional_call(model, dict(zip(weights, cast, strict=True)), inputs)
    return result


def _uses_cudnn(module: nn.Module) -> bool:
    return isinstance(module, nn.LSTM) and not dispatch.has_lstm_kernel(
        module.get_parameter("weight_hh_l0")
    )


class _CastAll(torch.autograd.Function):
    """Cast tensors to another precision, and their gradients back."""

    @staticmethod
    def forward(ctx: Any, dtype: torch.dtype, *tensors: Tensor) -> tuple[Tensor, ...]:
        ctx.set_materialize_grads(False)
        ctx.dtype_before = tensors[0].dtype
        return tuple(_cast(tensors, dtype))

    @staticmethod
    def backward(ctx: Any, *gradients: Tensor | None) -> tuple[Tensor | None, ...]:
        cast = iter(_cast([each for each in gradients if each is not None], ctx.dtype_before))
        return None, *(None if each is None else next(cast) for each in gradients)


def _cast(tensors: list[Tensor] | tuple[Tensor, ...], dtype: torch.dtype) -> list[Tensor]:
    cast = [torch.empty_like(each, dtype=dtype) for each in tensors]
    torch._foreach_copy_(cast, tensors)
    return cast
