"""The mean of the latest validated weights."""

import torch
from torch import nn

from readagain.training.averaging import CheckpointAverage


def model_with(weight):
    model = nn.Linear(1, 1, bias=False)
    nn.init.constant_(model.weight, weight)
    return model


def test_the_model_holds_the_mean_of_the_latest_and_its_own_for_a_while():
    latest = CheckpointAverage(3)
    for weight in (100.0, 1.0, 2.0):
        latest.take(model_with(weight).state_dict())
    model = model_with(6.0)
    with latest.averaged(model):
        assert model.weight.item() == (1.0 + 2.0 + 6.0) / 3
    assert model.weight.item() == 6.0


def test_what_is_kept_survives_as_flat_tensors():
    latest, other = CheckpointAverage(2), CheckpointAverage(2)
    for weight in (1.0, 2.0):
        latest.take(model_with(weight).state_dict())
    other.load_state({**latest.state(), "step": torch.tensor(1)}, torch.device("cpu"))
    assert [weights["weight"].item() for weights in other.held] == [1.0, 2.0]
