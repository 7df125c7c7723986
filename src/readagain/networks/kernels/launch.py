"""Functions shared by the recurrent kernels, and their launch; the time loop is in the kernel.

A launch splits the batch into groups of rows, and the hidden units of a group among the programs of
a *team*. Each program keeps its units of the state in registers, writes them to memory after every
step, and loads the other units of the group after a barrier. The barrier needs all programs to run
at the same time, so there is at most one program per multiprocessor.
"""

from collections.abc import Sequence
from typing import Any

import torch
import torch.nn.functional as F
import triton
import triton.language as tl
from torch import Tensor

ROWS = (16, 32, 64, 128)
"""Allowed numbers of rows per program, in ascending order."""
MANY_ROWS = 64
"""Above this number of rows per program, doubling the units is faster than doubling the rows."""


@triton.jit
def _load_counter(counter):
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
def team_barrier(counter, expected_arrivals, TEAM: tl.constexpr):
    """Wait until all programs of the team have arrived.

    Args:
        counter: number of arrivals since the launch, of all programs together.
        expected_arrivals: value of the counter when the last program arrives at this barrier.
        TEAM: number of programs of the team.
    """
    tl.debug_barrier()
    if TEAM > 1:
        tl.atomic_add(counter, 1, sem="release", scope="gpu")
        arrived = _load_counter(counter)
        while arrived < expected_arrivals:
            arrived = _load_counter(counter)
        tl.debug_barrier()


@triton.jit
def tanh(x):
    """Compute tanh from the sigmoid, with an absolute error of about 1e-7."""
    return 2.0 * tl.sigmoid(2.0 * x) - 1.0


@triton.jit
def quick_tanh(x):
    """Compute tanh with the hardware instruction, accurate to 2^-11, enough for bfloat16."""
    return tl.inline_asm_elementwise(
        "tanh.approx.f32 $0, $1;", "=f,f", [x], dtype=tl.float32, is_pure=True, pack=1
    )


@triton.jit
def program_indices(B, ROWS: tl.constexpr, UNITS: tl.constexpr):
    """Return the rows and hidden units of this program, and a mask that excludes padded rows."""
    rows = tl.program_id(1) * ROWS + tl.arange(0, ROWS)
    units = tl.program_id(0) * UNITS + tl.arange(0, UNITS)
    return rows.to(tl.int64), units, (rows < B)[:, None]


@triton.jit
def load_gates(gates, H: tl.constexpr, mask):
    """Load the gates i, f, g and o of an LSTM, which are H apart, as float32."""
    i = tl.load(gates, mask=mask, other=0.0).to(tl.float32)
    f = tl.load(gates + H, mask=mask, other=0.0).to(tl.float32)
    g = tl.load(gates + 2 * H, mask=mask, other=0.0).to(tl.float32)
    o = tl.load(gates + 3 * H, mask=mask, other=0.0).to(tl.float32)
    return i, f, g, o


@triton.jit
def store_gates(gates, H: tl.constexpr, mask, i, f, g, o):
    """Store four gates, or their gradients, H apart; a store casts to the type of the tensor."""
    tl.store(gates, i, mask=mask)
    tl.store(gates + H, f, mask=mask)
    tl.store(gates + 2 * H, g, mask=mask)
    tl.store(gates + 3 * H, o, mask=mask)


@triton.jit
def cell_step(i, f, g, o, cell):
    """Apply the activations of the gates; return them and the next cell."""
    i = tl.sigmoid(i)
    f = tl.sigmoid(f)
    g = tanh(g)
    o = tl.sigmoid(o)
    return i, f, g, o, f * cell + i * g


@triton.jit
def cell_step_gradient(i, f, g, o, cell, previous_cell, d_state, d_cell):
    """Return the gradients of the gates before their activation and of the previous cell."""
    tanh_cell = tanh(cell)
    d_cell += d_state * o * (1.0 - tanh_cell * tanh_cell)
    d_i = d_cell * g * i * (1.0 - i)
    d_f = d_cell * previous_cell * f * (1.0 - f)
    d_g = d_cell * i * (1.0 - g * g)
    d_o = d_state * tanh_cell * o * (1.0 - o)
    return d_i, d_f, d_g, d_o, d_cell * f


def previous_states(states: Tensor) -> Tensor:
    """Return the state before each step: (B, L, H) shifted by one."""
    return F.pad(states[:, :-1], (0, 0, 1, 0))


def launch(
    kernel: Any,
    by_row: Sequence[Tensor | None],
    weights: Sequence[Tensor],
    *,
    hidden_size: int,
    **options: bool,
) -> None:
    """Run a recurrent kernel on all rows, in as many launches as needed.

    Args:
        kernel: its arguments are the tensors, the weights, the barrier counters, B and L.
        by_row: tensors with B rows, of which each launch gets a slice; the first is (B, L, ...).
        weights: tensors passed unchanged to each launch.
        hidden_size: H, a multiple of 16.
        options: further options of the kernel.
    """
    first = by_row[0]
    assert first is not None
    B, L = first.shape[:2]
    team, rows_per_launch, meta = _plan_launch(B, hidden_size, first.dtype, first.device)
    for start in range(0, B, rows_per_launch):
        num_rows = min(B - start, rows_per_launch)
        part = slice(start, start + num_rows)
        groups = triton.cdiv(num_rows, meta["ROWS"])
        counters = torch.zeros(groups, dtype=torch.int32, device=first.device)
        kernel[(team, groups)](
            *(None if each is None else each[part] for each in by_row), *weights,
            counters, num_rows, L, H=hidden_size,
            PRECISION="tf32" if torch.backends.cudnn.allow_tf32 else "ieee",
            **meta, **options,
        )  # fmt: skip


def _plan_launch(
    batch_size: int, hidden_size: int, dtype: torch.dtype, device: torch.device
) -> tuple[int, int, dict[str, int]]:
    """Divide the rows of a batch and the hidden units among launches and programs.

    A program gets the smallest number of rows with which all programs run at the same time. A batch
    that is too large for that is divided among several launches. Without a GPU (Triton's
    interpreter) a team has one program.

    Returns:
        Number of programs in a team, number of rows per launch, and meta-parameters of the kernels.
    """
    if device.type != "cuda":
        rows, units, groups = ROWS[0], hidden_size, 1
    else:
        programs = torch.cuda.get_device_properties(device).multi_processor_count
        units = 32 if hidden_size % 32 == 0 else 16
        if hidden_size % 64 == 0 and batch_size > MANY_ROWS * (programs * units // hidden_size):
            units = 64
        groups = max(1, programs // (hidden_size // units))
        rows = next((each for each in ROWS if groups * each >= batch_size), ROWS[-1])
    # With few rows, longer blocks fit into shared memory. Float32 needs twice the memory of half
    # precision, so its blocks are half as long.
    block = 128 if rows == ROWS[0] else 64
    if dtype.itemsize > 2:
        block //= 2
    meta = {
        "ROWS": rows,
        "UNITS": units,
        "BLOCK": block if hidden_size % block == 0 else 16,
        "num_warps": 8 if rows > MANY_ROWS else 4,
    }
    return hidden_size // units, groups * rows, meta
