"""One process or several: who this one is, where it computes, and how all of them agree."""

import os
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Literal, TypeVar

import torch
from torch import Tensor, distributed

from readagain.config.schema import ModelSpec, RunSpec
from readagain.errors import ConfigError

NARROW = 128
"""Below this width a second thread gains at most a third, and costs several times that where
other programs want the processor too: 1.3 times as fast or up to 3 times as slow at 64 wide."""

DeviceName = Literal["auto", "cpu", "cuda"]
Value = TypeVar("Value")


@dataclass(frozen=True)
class Processes:
    """The processes that train one model together, seen from one of them."""

    rank: int = 0
    world_size: int = 1
    local_rank: int = 0

    @property
    def is_first(self) -> bool:
        """The first process writes everything that is written."""
        return self.rank == 0

    def any_says(self, flag: bool) -> bool:
        """Tell every process whether at least one of them says yes."""
        if self.world_size == 1:
            return flag
        votes: list[object] = [None] * self.world_size
        distributed.all_gather_object(votes, flag)
        return any(votes)

    def from_first(self, value: Value) -> Value:
        """Give every process the first one's value."""
        if self.world_size == 1:
            return value
        held = [value]
        distributed.broadcast_object_list(held, src=0)
        return held[0]

    def share_tensors(self, tensors: Iterable[Tensor]) -> None:
        """Overwrite tensors in place with the first process's."""
        if self.world_size > 1:
            for tensor in tensors:
                distributed.broadcast(tensor, src=0)


@contextmanager
def joined_processes(device_name: DeviceName) -> Iterator[tuple[Processes, torch.device]]:
    """Join the processes that torchrun started, if it did, and choose this one's device.

    Raises:
        ConfigError: when CUDA is asked for and not there.
    """
    environment = os.environ
    processes = Processes(
        rank=int(environment.get("RANK", "0")),
        world_size=int(environment.get("WORLD_SIZE", "1")),
        local_rank=int(environment.get("LOCAL_RANK", "0")),
    )
    device = choose_device(device_name, local_rank=processes.local_rank)
    if processes.world_size == 1:
        yield processes, device
        return
    distributed.init_process_group("nccl" if device.type == "cuda" else "gloo")
    try:
        yield processes, device
    finally:
        distributed.destroy_process_group()


def set_threads(run: RunSpec, asked: int) -> None:
    """Let torch compute with so many threads; 0 leaves it to torch, one for a narrow network."""
    model = run.model
    width = (
        max(model.encoder.hidden_size, model.decoder.hidden_size)
        if isinstance(model, ModelSpec)
        else model.hidden_size
    )
    if asked or width < NARROW:
        torch.set_num_threads(asked or 1)


def choose_device(name: DeviceName, *, local_rank: int = 0) -> torch.device:
    """Return the device a person means; `auto` takes a GPU where there is one.

    Raises:
        ConfigError: when CUDA is asked for and not there.
    """
    if name == "cpu" or (name == "auto" and not torch.cuda.is_available()):
        return torch.device("cpu")
    if not torch.cuda.is_available():
        raise ConfigError(
            "--device cuda: torch sees no CUDA device on this machine; install a CUDA build of "
            "torch and a driver, or train with --device cpu"
        )
    device = torch.device("cuda", local_rank)
    torch.cuda.set_device(device)
    return device
