"""Launch plan of the recurrent kernels, whose time loop runs inside one launch.

A launch splits the batch into groups of rows, and the hidden units of a group among the programs of
a *team*. Each program keeps its units of the state in registers, writes them to memory after every
step, and reads those of its team after a barrier. The barrier needs all programs on the device at
the same time, hence at most one program per multiprocessor.
"""

from collections.abc import Iterator
from dataclasses import dataclass

import torch
import torch.nn.functional as F
import triton
import triton.language as tl
from torch import Tensor

ROWS = (16, 32, 64, 128)
"""Possible numbers of rows per program, in ascending order."""
MANY_ROWS = 64
"""With more rows than this, twice the units are faster than twice the rows."""


@triton.jit
def _arrived(counter):
    """Read a counter with acquire semantics."""
    return tl.inline_asm_elementwise(
        "ld.acquire.gpu.global.s32 $0, [$1];",
        "=r,l",
        [counter],
        dtype=tl.int32,
        is_pure=False,
        pack=1,
    )


@triton.jit
def team_barrier(counter, arrivals, TEAM: tl.constexpr):
    """Wait until the counter reaches `arrivals`, the total so far including this step."""
    tl.debug_barrier()
    if TEAM > 1:
        tl.atomic_add(counter, 1, sem="release", scope="gpu")
        arrived = _arrived(counter)
        while arrived < arrivals:
            arrived = _arrived(counter)
        tl.debug_barrier()


@triton.jit
def tanh(x):
    """Compute tanh through the sigmoid, exact to float32 rounding of 1."""
    return 2.0 * tl.sigmoid(2.0 * x) - 1.0


@triton.jit
def quick_tanh(x):
    """Compute tanh with the hardware instruction, accurate to 2^-11, enough for bfloat16."""
    return tl.inline_asm_elementwise(
        "tanh.approx.f32 $0, $1;", "=f,f", [x], dtype=tl.float32, is_pure=True, pack=1
    )


def states_before(states: Tensor) -> Tensor:
    """Return the state before each step: (B, L, H) shifted by one."""
    return F.pad(states[:, :-1], (0, 0, 1, 0))


def dot_precision() -> str:
    """Return `tf32` if torch allows it for cuDNN, else `ieee`."""
    return "tf32" if torch.backends.cudnn.allow_tf32 else "ieee"


@dataclass(frozen=True, kw_only=True)
class LaunchPlan:
    """Division of B rows and H hidden units among launches and programs."""

    rows: int
    units: int
    team: int
    rows_per_launch: int

    def launches(self, batch_size: int) -> Iterator[tuple[slice, int, int]]:
        """Yield, launch by launch, the slice of the batch, its groups and its number of rows."""
        for first in range(0, batch_size, self.rows_per_launch):
            num_rows = min(batch_size - first, self.rows_per_launch)
            yield slice(first, first + num_rows), triton.cdiv(num_rows, self.rows), num_rows

    def counters(self, groups: int, device: torch.device) -> Tensor:
        """Return the barrier counters, one per group of rows."""
        return torch.zeros(groups, dtype=torch.int32, device=device)

    def meta(self, hidden_size: int, dtype: torch.dtype) -> dict[str, int]:
        """Return the block sizes of the kernels.

        Few rows leave room for long sums; float32 takes twice the shared memory.
        """
        block = 128 if self.rows == ROWS[0] else 64
        if dtype.itemsize > 2:
            block //= 2
        return {
            "ROWS": self.rows,
            "UNITS": self.units,
            "BLOCK": block if hidden_size % block == 0 else 16,
            "num_warps": 8 if self.rows > MANY_ROWS else 4,
        }


def plan_launch(batch_size: int, hidden_size: int, device: torch.device) -> LaunchPlan:
    """Choose the smallest number of rows per program with which all programs fit the device.

    Args:
        batch_size: B, rows to cover; more than fit at once are covered by several launches.
        hidden_size: H, a multiple of 16.
        device: where it will run; away from a GPU (the interpreter) a team has one program.
    """
    if device.type != "cuda":
        return LaunchPlan(rows=ROWS[0], units=hidden_size, team=1, rows_per_launch=ROWS[0])
    programs = torch.cuda.get_device_properties(device).multi_processor_count
    units = 32 if hidden_size % 32 == 0 else 16
    if hidden_size % 64 == 0 and batch_size > MANY_ROWS * (programs * units // hidden_size):
        units = 64
    team = hidden_size // units
    groups = max(1, programs // team)
    rows = next((each for each in ROWS if groups * each >= batch_size), ROWS[-1])
    return LaunchPlan(rows=rows, units=units, team=team, rows_per_launch=groups * rows)
