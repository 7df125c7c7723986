"""Choice between Triton kernels and PyTorch functions."""

import torch

from readagain.networks import dispatch


def test_cpu_uses_no_kernels():
    assert not dispatch.can_use_kernels(torch.zeros(1))
    assert not dispatch.has_recurrent_kernel(torch.zeros(64, 16))


def test_cast_follows_cuda_autocast(monkeypatch):
    floats, ids = torch.zeros(2), torch.zeros(2, dtype=torch.long)
    assert dispatch._cast([floats, None, ids])[0] is floats
    # Without a GPU, CUDA autocast cannot be enabled, so torch is patched.
    monkeypatch.setattr(torch, "is_autocast_enabled", lambda device: device == "cuda")
    monkeypatch.setattr(torch, "get_autocast_dtype", lambda device: torch.bfloat16)
    cast_floats, none, cast_ids = dispatch._cast([floats, None, ids])
    assert (cast_floats.dtype, none, cast_ids.dtype) == (torch.bfloat16, None, torch.int64)
