"""Training step: loss, gradient, clipping, optimizer and averaged weights.

On a GPU the whole update is captured as a CUDA graph, once per batch shape. Replaying a graph is a
single launch, instead of a launch for each of about a hundred small kernels. The CPU never waits
for the GPU.
"""

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
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
    build_optimizer,
    learning_rate,
    supports_row_updates,
)


@dataclass(frozen=True)
class _CapturedUpdate:
    """CUDA graph of an update, with its input and output in fixed memory.

    Args:
        graph: the graph.
        batch: input of the graph; each batch is copied into its tensors before a replay.
        loss: output of the graph, overwritten by each replay.
    """

    graph: torch.cuda.CUDAGraph
    batch: BatchIndices | Batch
    loss: Tensor


class TrainingStep:
    """Update of the weights of a model with a batch.

    Args:
        model: the network, wrapped in DistributedDataParallel for several processes.
        total_steps, steps_per_epoch: updates of the run and of one epoch, for the schedule.
        rank: rank of this process; dropout differs between processes.
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
        self.num_plateaus = 0  # set by the training loop, for the schedule `plateau`
        names, self.parameters = zip(*model.named_parameters(), strict=True)
        # DistributedDataParallel adds "module." to the names. Checkpoints have the names without
        # it, so a run can resume with another number of processes.
        self.names = [name.removeprefix("module.") for name in names]
        self.device = self.parameters[0].device
        self.optimizer = build_optimizer(self.parameters, spec)
        self.lookups = (
            [
                EmbeddingLookups(module)
                for module in model.modules()
                if isinstance(module, WordEmbedding)
            ]
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
            The mean loss of the batch, a scalar on the device: the mean negative log-probability of
            the target words, or the risk. On a GPU the next update of the same shape overwrites it.
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
    def _uses_bfloat16(self) -> bool:
        return self.spec.precision == "bfloat16" and self.device.type == "cuda"

    def _run(self, batch: BatchIndices | Batch) -> Tensor:
        """Run one update without replaying a graph; return the mean loss."""
        self.optimizer.zero_grad(set_to_none=True)
        loss = self._backward(batch.assemble())
        self._clip_and_update()
        if self.ema is not None:
            self.ema.update()
        return loss

    def _backward(self, batch: Batch) -> Tensor:
        """Compute the gradients of the mean loss over the batches of all processes.

        Returns:
            The mean loss to report, a scalar.
        """
        with ExitStack() as recording:
            for lookups in self.lookups:
                recording.enter_context(lookups.record())
            loss, reported_loss, count = self._sum_losses(batch)
        if self.world_size > 1:
            torch.distributed.all_reduce(count)
            # DDP averages the gradients of the processes; this factor makes the average a sum.
            loss = loss * self.world_size
        (loss / count).backward()  # type: ignore[no-untyped-call]
        mean_loss: Tensor = reported_loss.detach() / count
        if self.world_size > 1:
            torch.distributed.all_reduce(mean_loss)
        return mean_loss

    def _sum_losses(self, batch: Batch) -> tuple[Tensor, Tensor, Tensor]:
        """Compute the loss of a batch as a sum.

        Returns:
            Three scalars: the loss to minimize, the loss to report, and the count by which both are
            divided to get means. In this class both losses are the same.
        """
        with self._autocast():
            log_probs = self._score(*batch.inputs(), self.spec.label_smoothing)  # (B, T)
        total = torch.where(batch.target_valid, log_probs, 0.0).sum().neg()
        return total, total, batch.target_valid.sum()

    def _score(self, *inputs: Tensor | float) -> Tensor:
        """Return the (B, T) log-probabilities of the targets, in the precision of the run."""
        if self._uses_bfloat16 and self.world_size == 1:
            return call_in_precision(torch.bfloat16, self.model, *inputs)
        log_probs: Tensor = self.model(*inputs)
        return log_probs

    def _autocast(self) -> torch.autocast:
        return torch.autocast(self.device.type, torch.bfloat16, enabled=self._uses_bfloat16)

    def _clip_and_update(self) -> None:
        """Clip the gradient to `max_norm` and update the weights.

        A fused optimizer divides the gradients by its attribute `grad_scale`, which PyTorch added
        for `GradScaler`. Clipping uses this division, so the clipped gradients are never written to
        memory. The optimizer does not update the embedding tables of `lookups`.
        """
        if not self._is_fused:
            nn.utils.clip_grad_norm_(self.parameters, self.spec.max_norm)
            self.optimizer.step()
            return
        row_gradients = [lookups.gradient() for lookups in self.lookups]
        gradients = [parameter.grad for parameter in self.parameters if parameter.grad is not None]
        norm = nn.utils.get_total_norm(gradients + [values for _, values in row_gradients])
        scale = (norm / self.spec.max_norm).clamp_min(1.0)
        self.optimizer.grad_scale = scale  # type: ignore[attr-defined]
        self.optimizer.step()
        rate = self.optimizer.param_groups[0]["lr"] / scale
        for lookups, (ids, values) in zip(self.lookups, row_gradients, strict=True):
            lookups.update(ids, values, rate)

    def _replay(self, batch: BatchIndices | Batch) -> Tensor:
        """Run one update by replaying its graph, which is captured first if it is missing."""
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
        """Capture an update as a graph; the weights are not changed."""
        static = batch.static_copy()
        # A first run outside the graph, which computes only gradients, compiles kernels and loads
        # libraries.
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
        """Return the tensors, not copied, that determine the next update, without the weights."""
        state = {"step": torch.tensor(self.step)}
        for name, parameter in zip(self.names, self.parameters, strict=True):
            for kind, value in self.optimizer.state.get(parameter, {}).items():
                state[f"optimizer.{kind}.{name}"] = value
        if self.ema is not None:
            averages = zip(self.names, self.ema.uncorrected, strict=True)
            state |= {f"mean.{name}": value for name, value in averages}
        return state

    def load_state(self, state: dict[str, Tensor]) -> None:
        """Load tensors that `state()` returned."""
        self.step = int(state["step"])
        for name, tensor in self.state().items():
            if name != "step":
                tensor.copy_(state[name])

    @contextmanager
    def averaged_weights(self) -> Iterator[None]:
        """Use the averaged weights in the model until the block ends, if the run averages them."""
        if self.ema is None:
            yield
            return
        original = [parameter.detach().clone() for parameter in self.parameters]
        _assign(self.parameters, self.ema.average(self.step))
        try:
            yield
        finally:
            _assign(self.parameters, original)


@torch.no_grad()
def _assign(parameters: tuple[nn.Parameter, ...], values: list[Tensor]) -> None:
    for parameter, value in zip(parameters, values, strict=True):
        parameter.copy_(value)


def _update_seed(seed: int, step: int, rank: int) -> int:
    """Return the random seed of one update on one process.

    Since each update has its own seed, a resumed run gives the same results as an uninterrupted
    run, although checkpoints do not contain the state of the random generator. The factors are
    primes, so different arguments rarely give the same seed.
    """
    return ((seed * 1_000_003 + step) * 1_009 + rank) % 2**63


def call_in_precision(dtype: torch.dtype, model: nn.Module, *inputs: object) -> Tensor:
    """Call a model with its weights cast to `dtype`; gradients go to the original weights.

    Autocast would cast each weight and each gradient separately, with about forty small kernels per
    update. Here one kernel casts all weights, and another casts all gradients.

    Embedding tables are not cast, since a batch uses few of their rows. The weights of cuDNN's LSTM
    are not cast either, since cuDNN needs them in one block of memory.
    """
    excluded = {
        parameter
        for module in model.modules()
        if isinstance(module, WordEmbedding) or _uses_cudnn(module)
        for parameter in module.parameters()
    }
    weights = {
        name: parameter for name, parameter in model.named_parameters() if parameter not in excluded
    }
    cast_weights = _CastAll.apply(dtype, *weights.values())  # type: ignore[no-untyped-call]
    result: Tensor = functional_call(model, dict(zip(weights, cast_weights, strict=True)), inputs)
    return result


def _uses_cudnn(module: nn.Module) -> bool:
    """Return whether a module is an LSTM without a Triton kernel, which cuDNN runs on a GPU."""
    return isinstance(module, nn.LSTM) and not dispatch.has_recurrent_kernel(
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
        existing = [gradient for gradient in gradients if gradient is not None]
        cast_gradients = iter(_cast(existing, ctx.dtype_before))
        # None is the gradient of `dtype`, and of weights that the model did not use.
        return None, *(None if gradient is None else next(cast_gradients) for gradient in gradients)


def _cast(tensors: list[Tensor] | tuple[Tensor, ...], dtype: torch.dtype) -> list[Tensor]:
    """Return copies of tensors in another precision, all made by one kernel."""
    copies = [torch.empty_like(tensor, dtype=dtype) for tensor in tensors]
    torch._foreach_copy_(copies, tensors)
    return copies
