"""Launch of the GRU and LSTM kernels, and functions that they share.

One launch runs all steps of a sequence: the time loop is inside the kernel. A launch splits the
rows of the batch into groups. The programs of a *team* process one group, and each of them computes
some of the hidden units. Each program keeps its units of the state in registers and writes them to
memory after every step. After a barrier, it loads the units of the other programs. Such loads have
`cache_modifier=".cg"`, which bypasses the L1 cache: L1 may lack what other programs wrote.

The barrier needs all programs to run at the same time, so there is at most one program per
multiprocessor.
"""

from collections.abc import Sequence
from typing import Any

import torch
import torch.nn.functional as F
import triton
import triton.language as tl
from torch import Tensor

ROWS = (16, 32, 64, 128)
"""Possible numbers of rows per program, in ascending order."""
MANY_ROWS = 64
"""With more rows than this per program, a program gets 64 hidden units instead of 32."""


@triton.jit
def _load_counter(counter):
    """Read a counter with acquire semantics: later reads see what other programs wrote before."""
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
    """Wait until all programs of the team have reached this barrier.

    Args:
        counter: how often programs of the team have arrived at a barrier since the launch.
        expected_arrivals: value of the counter after the last program has arrived here.
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
    """Compute tanh with a hardware instruction; its error of 2^-11 is small enough for bfloat16."""
    return tl.inline_asm_elementwise(
        "tanh.approx.f32 $0, $1;", "=f,f", [x], dtype=tl.float32, is_pure=True, pack=1
    )


@triton.jit
def program_indices(B, ROWS: tl.constexpr, UNITS: tl.constexpr):
    """Return the rows and hidden units of this program, and a mask that is False beyond row B."""
    rows = tl.program_id(1) * ROWS + tl.arange(0, ROWS)
    units = tl.program_id(0) * UNITS + tl.arange(0, UNITS)
    return rows.to(tl.int64), units, (rows < B)[:, None]


@triton.jit
def load_gates(gates, H: tl.constexpr, mask):
    """Load the gates i, f, g and o of an LSTM as float32; in memory they are H values apart."""
    i = tl.load(gates, mask=mask, other=0.0).to(tl.float32)
    f = tl.load(gates + H, mask=mask, other=0.0).to(tl.float32)
    g = tl.load(gates + 2 * H, mask=mask, other=0.0).to(tl.float32)
    o = tl.load(gates + 3 * H, mask=mask, other=0.0).to(tl.float32)
    return i, f, g, o


@triton.jit
def store_gates(gates, H: tl.constexpr, mask, i, f, g, o):
    """Store four gates or their gradients, H values apart, in the dtype of the tensor."""
    tl.store(gates, i, mask=mask)
    tl.store(gates + H, f, mask=mask)
    tl.store(gates + 2 * H, g, mask=mask)
    tl.store(gates + 3 * H, o, mask=mask)


@triton.jit
def cell_step(i, f, g, o, cell):
    """Apply the activation functions of the gates; return the gates and the next cell."""
    i = tl.sigmoid(i)
    f = tl.sigmoid(f)
    g = tanh(g)
    o = tl.sigmoid(o)
    return i, f, g, o, f * cell + i * g


@triton.jit
def cell_step_gradient(i, f, g, o, cell, previous_cell, d_state, d_cell):
    """Return the gradients of the four gates, before activation, and of the previous cell."""
    tanh_cell = tanh(cell)
    d_cell += d_state * o * (1.0 - tanh_cell * tanh_cell)
    d_i = d_cell * g * i * (1.0 - i)
    d_f = d_cell * previous_cell * f * (1.0 - f)
    d_g = d_cell * i * (1.0 - g * g)
    d_o = d_state * tanh_cell * o * (1.0 - o)
    return d_i, d_f, d_g, d_o, d_cell * f


def previous_states(states: Tensor) -> Tensor:
    """Return the (B, L, H) states before each step, given the (B, L, H) states after each step."""
    return F.pad(states[:, :-1], (0, 0, 1, 0))


def launch(
    kernel: Any,
    batch: Sequence[Tensor | None],
    weights: Sequence[Tensor],
    *,
    hidden_size: int,
    **options: bool,
) -> None:
    """Run a GRU or LSTM kernel on all rows, in as many launches as needed.

    Args:
        kernel: a kernel with the arguments `batch`, `weights`, barrier counters, B and L.
        batch: tensors with B rows, or None; each launch gets a slice of the rows. The first tensor
            is (B, L, ...).
        weights: tensors that each launch gets unchanged.
        hidden_size: H, a multiple of 16.
        options: further options of the kernel.
    """
    first = batch[0]
    assert first is not None
    B, L = first.shape[:2]
    team_size, rows_per_launch, plan = _plan_launch(B, hidden_size, first.dtype, first.device)
    for start in range(0, B, rows_per_launch):
        num_rows = min(B - start, rows_per_launch)
        rows = slice(start, start + num_rows)
        num_groups = triton.cdiv(num_rows, plan["ROWS"])
        counters = torch.zeros(num_groups, dtype=torch.int32, device=first.device)
        kernel[(team_size, num_groups)](
            *(None if tensor is None else tensor[rows] for tensor in batch), *weights,
            counters, num_rows, L, H=hidden_size,
            PRECISION="tf32" if torch.backends.cudnn.allow_tf32 else "ieee",
            **plan, **options,
        )  # fmt: skip


def _plan_launch(
    batch_size: int, hidden_size: int, dtype: torch.dtype, device: torch.device
) -> tuple[int, int, dict[str, int]]:
    """Divide the rows of a batch and the hidden units among launches and programs.

    A program gets as few rows as possible, but all programs of a launch must run at the same time.
    A batch that is too large for one launch is divided among several. Without a GPU (in Triton's
    interpreter), a team has one program.

    Returns:
        Number of programs in a team, number of rows per launch, and constants of the kernel.
    """
    if device.type != "cuda":
        num_rows, num_units, num_groups = ROWS[0], hidden_size, 1
    else:
        num_programs = torch.cuda.get_device_properties(device).multi_processor_count
        num_units = 32 if hidden_size % 32 == 0 else 16
        max_rows = MANY_ROWS * (num_programs * num_units // hidden_size)
        if hidden_size % 64 == 0 and batch_size > max_rows:
            num_units = 64
        num_groups = max(1, num_programs // (hidden_size // num_units))
        num_rows = next((rows for rows in ROWS if num_groups * rows >= batch_size), ROWS[-1])
    # A kernel multiplies matrices in blocks of hidden units, which are kept in shared memory. With
    # few rows, longer blocks fit. Float32 needs twice the memory of half precision, so its blocks
    # are half as long.
    block_size = 128 if num_rows == ROWS[0] else 64
    if dtype.itemsize > 2:
        block_size //= 2
    plan = {
        "ROWS": num_rows,
        "UNITS": num_units,
        "BLOCK": block_size if hidden_size % block_size == 0 else 16,
        "num_warps": 8 if num_rows > MANY_ROWS else 4,
    }
    return hidden_size // num_units, num_groups * num_rows, plan
