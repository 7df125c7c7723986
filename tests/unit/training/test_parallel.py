"""Devices and a single process; several processes are tested in tests/system."""

import pytest
import torch

from readagain.config.override import override
from readagain.errors import ConfigError
from readagain.presets import PRESETS
from readagain.training.parallel import (
    DistributedContext,
    choose_device,
    join_process_group,
    set_threads,
)


def test_choose_device_refuses_missing_cuda(monkeypatch):
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    with pytest.raises(ConfigError, match="device cuda: torch finds no CUDA device"):
        choose_device("cuda")
    assert choose_device("auto") == choose_device("cpu") == torch.device("cpu")


def test_single_process_needs_no_communication():
    with join_process_group("cpu") as (processes, device):
        assert processes == DistributedContext(rank=0, world_size=1)
        assert device == torch.device("cpu")
    assert processes.is_first
    assert processes.broadcast("value") == "value"
    assert processes.any_true(True)
    assert not processes.any_true(False)


@pytest.mark.parametrize(
    ("width", "threads", "expected"), [(64, 0, 1), (64, 2, 2), (512, 0, 3), (512, 2, 2)]
)
def test_narrow_network_uses_one_thread_by_default(width, threads, expected):
    torch.set_num_threads(3)
    run = override(PRESETS["tiny"], {"model.encoder.hidden_size": width})
    set_threads(run, threads)
    assert torch.get_num_threads() == expected
