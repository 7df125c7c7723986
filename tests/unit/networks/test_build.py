from dataclasses import replace
from pathlib import Path

import pytest
import torch

from readagain.config.override import override
from readagain.config.schema import ModelSpec, ReadAgainSpec, RunSpec
from readagain.errors import ArtifactError, ConfigError
from readagain.model_dir import WEIGHTS_FILE, ModelDir
from readagain.networks.build import build_model, count_parameters, find_weights
from readagain.presets import PRESETS

TOY = Path(__file__).parents[2] / "assets/models/toy"


def test_same_seed_builds_same_network(build):
    first, second = build().state_dict(), build().state_dict()
    assert first.keys() == second.keys()
    assert all(torch.equal(first[name], second[name]) for name in first)


def test_count_parameters_leaves_the_random_state():
    state = torch.get_rng_state()
    assert count_parameters(PRESETS["read_again_lstm_copy_15k"]) == 61_725_848
    assert 100_000 < count_parameters(PRESETS["tiny"]) < 1_000_000
    assert torch.equal(torch.get_rng_state(), state)


def test_find_weights_returns_the_file():
    model_dir = ModelDir.open(TOY)
    assert find_weights(model_dir, purpose="testing") == TOY / WEIGHTS_FILE


@pytest.mark.parametrize(
    "changes",
    [
        {"model.decoder.attention_size": 3},
        {"model.output": "softmax"},
        {"model.decoder.hidden_size": 1_000_000},  # refused before memory is allocated
    ],
)
def test_find_weights_refuses_those_of_another_network(changes):
    model_dir = ModelDir.open(TOY)
    model_dir = replace(model_dir, run=override(model_dir.run, changes))
    with pytest.raises(
        ArtifactError,
        match=r"safetensors: not the weights of the network that run\.json describes; was run",
    ):
        find_weights(model_dir, purpose="testing")


@pytest.mark.parametrize("hidden_size", [10**9, 10**19])
def test_find_weights_refuses_sizes_beyond_those_of_any_tensor(hidden_size):
    model_dir = ModelDir.open(TOY)
    run = override(model_dir.run, {"model.decoder.hidden_size": hidden_size})
    with pytest.raises(ConfigError, match="larger than any tensor; use smaller sizes"):
        find_weights(replace(model_dir, run=run), purpose="testing")


def test_build_reports_all_invalid_settings():
    run = RunSpec(
        title="t", paper="p", model=ModelSpec(encoder=ReadAgainSpec(hidden_size=0), dropout=1.5)
    )
    with pytest.raises(ConfigError, match="2 problems") as caught:
        build_model(run)
    assert "model.encoder.hidden_size is 0; expected 1 or more" in str(caught.value)
    assert "model.dropout is 1.5; expected 0 to 0.9" in str(caught.value)
