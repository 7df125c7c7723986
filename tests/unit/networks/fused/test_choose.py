"""Which way is taken where; the ways themselves are tested beside."""

import torch

from readagain.networks.fused import choose


def test_on_the_cpu_torch_reads_lstms():
    assert choose.read_lstm(torch.zeros(1, 2, 64), torch.zeros(64, 16)) is None


def test_autocast_decides_the_precision_of_what_the_kernels_get(monkeypatch):
    floats, ids = torch.zeros(2), torch.zeros(2, dtype=torch.long)
    assert choose._cast([floats, None, ids])[0] is floats
    # Autocast for CUDA cannot be switched on without CUDA.
    monkeypatch.setattr(torch, "is_autocast_enabled", lambda device: device == "cuda")
    monkeypatch.setattr(torch, "get_autocast_dtype", lambda device: torch.bfloat16)
    halves, nothing, same = choose._cast([floats, None, ids])
    assert (halves.dtype, nothing, same.dtype) == (torch.bfloat16, None, torch.int64)


def test_autocast_decides_where_the_kernels_cannot_go_too(monkeypatch):
    """A width that the kernels do not take is read with the gradients written out."""
    monkeypatch.setattr(torch, "is_autocast_enabled", lambda device: device == "cuda")
    monkeypatch.setattr(torch, "get_autocast_dtype", lambda device: torch.bfloat16)
    inputs = torch.randn(2, 3, 15).bfloat16()
    read = choose.read_gated_gru(
        inputs, torch.randn(10, 5), torch.randn(5, 5), None, torch.tensor([3, 2])
    )
    assert read.dtype == torch.bfloat16
