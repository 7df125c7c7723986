import pytest
import torch

from readagain.config.parameters import count_parameters
from readagain.config.schema import ModelSpec, ReadAgainSpec, RunSpec
from readagain.errors import ConfigError
from readagain.networks.build import build_model


def test_same_seed_builds_same_network(build):
    first, second = build().state_dict(), build().state_dict()
    assert first.keys() == second.keys()
    assert all(torch.equal(first[name], second[name]) for name in first)


@pytest.mark.parametrize(
    "output",
    [
        {"model.output": "copy"},
        {"model.output": "copy", "model.copied_words": "unknown"},
        {"model.output": "softmax"},
    ],
)
def test_count_parameters_matches_built_network(small_run, encoder_settings, output):
    run = small_run(encoder_settings, **output)
    assert count_parameters(run) == sum(
        parameter.numel() for parameter in build_model(run).parameters()
    )


def test_build_reports_all_invalid_settings():
    run = RunSpec(
        title="t", paper="p", model=ModelSpec(encoder=ReadAgainSpec(hidden_size=0), dropout=1.5)
    )
    with pytest.raises(ConfigError, match="2 problems") as caught:
        build_model(run)
    assert "model.encoder.hidden_size is 0; expected 1 or more" in str(caught.value)
    assert "model.dropout is 1.5; expected 0 to 0.9" in str(caught.value)
