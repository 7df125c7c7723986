"""Process groups, devices and threads of training."""

import gc
import os
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Literal, TypeVar

import torch
from torch import Tensor, distributed

from readagain.config.schema import ModelSpec, RunSpec
from readagain.errors import ArgumentError

SINGLE_THREAD_HIDDEN_SIZE = 128
"""Networks with a smaller hidden size are trained with one thread by default. At a hidden size of
64, a second thread made training at most 1.3 times as fast, and up to 3 times as slow if other
programs used the CPU."""

DeviceName = Literal["auto", "cpu", "cuda"]
Value = TypeVar("Value")


@dataclass(frozen=True)
class DistributedContext:
    """Rank of this process and number of processes in distributed training."""

    rank: int = 0
    world_size: int = 1

    @property
    def is_first(self) -> bool:
        """Whether this is the first process, which writes all files."""
        return self.rank == 0

    def any_true(self, flag: bool) -> bool:
        """Return, on all processes, whether the flag of any process is True."""
        if self.world_size == 1:
            return flag
        flags: list[object] = [None] * self.world_size
        distributed.all_gather_object(flags, flag)
        return any(flags)

    def broadcast(self, value: Value) -> Value:
        """Return, on all processes, the value of the first process."""
        if self.world_size == 1:
            return value
        values = [value]
        distributed.broadcast_object_list(values, src=0)
        return values[0]

    def broadcast_tensors(self, tensors: Iterable[Tensor]) -> None:
        """Overwrite tensors in place with the tensors of the first process."""
        if self.world_size > 1:
            for tensor in tensors:
                distributed.broadcast(tensor, src=0)


@contextmanager
def join_process_group(
    device_name: DeviceName,
) -> Iterator[tuple[DistributedContext, torch.device]]:
    """Join the process group of torchrun, if there is one, and choose a device.

    The process leaves the group when the block ends. By then, the caller must have released all
    DistributedDataParallel modules.

    Raises:
        ArgumentError: if CUDA is requested and not available.
    """
    processes = DistributedContext(
        rank=int(os.environ.get("RANK", "0")),
        world_size=int(os.environ.get("WORLD_SIZE", "1")),
    )
    device = choose_device(device_name, local_rank=int(os.environ.get("LOCAL_RANK", "0")))
    if processes.world_size == 1:
        yield processes, device
        return
    distributed.init_process_group("nccl" if device.type == "cuda" else "gloo")
    try:
        yield processes, device
        distributed.barrier()  # Gloo may abort a process if another one leaves first.
    finally:
        # A DistributedDataParallel module keeps the group and its threads alive. Gloo's threads
        # sometimes abort the process if they still run when Python exits.
        gc.collect()
        distributed.destroy_process_group()


def set_threads(run: RunSpec, num_threads: int) -> None:
    """Set the number of CPU threads of torch.

    0 sets one thread for networks below `SINGLE_THREAD_HIDDEN_SIZE`, and keeps torch's default for
    larger networks.
    """
    model = run.model
    hidden_size = (
        max(model.encoder.hidden_size, model.decoder.hidden_size)
        if isinstance(model, ModelSpec)
        else model.hidden_size
    )
    if num_threads or hidden_size < SINGLE_THREAD_HIDDEN_SIZE:
        torch.set_num_threads(num_threads or 1)


def choose_device(name: DeviceName, *, local_rank: int = 0) -> torch.device:
    """Return the device of this process; `auto` is a GPU if there is one, else the CPU.

    `local_rank` is the index of the GPU, which torchrun assigns to the process.

    Raises:
        ArgumentError: if CUDA is requested and not available.
    """
    if name == "cpu" or (name == "auto" and not torch.cuda.is_available()):
        return torch.device("cpu")
    if not torch.cuda.is_available():
        raise ArgumentError(
            "{device} cuda: torch finds no CUDA device on this machine; install a CUDA build of "
            "torch and a driver, or use {device} cpu"
        )
    device = torch.device("cuda", local_rank)
    torch.cuda.set_device(device)
    return device
