"""Properties of every preset, tested with small sizes."""

import json

import pytest
import torch
from safetensors.torch import load_file, save_file
from small_presets import SOURCE_V, V, small_preset

from readagain.config.files import run_from_dict, spec_to_dict
from readagain.config.validation import validate_run
from readagain.networks.build import build_model
from readagain.presets import PRESETS
from readagain.text.vocab import BOS

SMALL = {name: small_preset(name) for name in PRESETS}
# One preset for each network: with small sizes, some presets have the same network.
NETWORKS = list({run.model: name for name, run in SMALL.items()}.values())


@pytest.fixture(params=NETWORKS)
def run(request):
    return SMALL[request.param]


@pytest.fixture
def model(run):
    torch.set_num_threads(1)
    torch.manual_seed(0)
    return build_model(run)


@pytest.fixture
def batch(run):
    N, L = (1 if run.data.join_sentences else run.data.num_sentences), 4
    source_ids = torch.randint(4, SOURCE_V, (3, N, L), generator=torch.Generator().manual_seed(1))
    lengths = torch.full((3, N), L)
    lengths[0] = 3
    ext_ids = torch.arange(V, V + N * L).repeat(3, 1)
    target_ids = torch.tensor([[V + 1, 5, 3], [6, V, 3], [7, V + 2, 3]])
    previous_ids = torch.cat([torch.full((3, 1), BOS), target_ids[:, :-1]], dim=1)
    return source_ids, lengths, ext_ids, previous_ids, target_ids


@pytest.mark.parametrize("name", PRESETS)
def test_preset_is_valid_and_cites_its_paper(name):
    validate_run(PRESETS[name])
    assert PRESETS[name].title
    assert "20" in PRESETS[name].paper


@pytest.mark.parametrize("name", PRESETS)
def test_preset_is_the_same_after_json(name):
    content = json.loads(json.dumps(spec_to_dict(PRESETS[name])))
    assert run_from_dict(content) == PRESETS[name]


def test_every_parameter_gets_a_gradient(model, batch):
    (-model(*batch)).mean().backward()
    without_gradient = [
        name
        for name, parameter in model.named_parameters()
        if parameter.grad is None or not parameter.grad.any()
    ]
    assert without_gradient == []


def test_training_step_raises_log_probs(model, batch):
    model.eval()
    before = model(*batch).mean()
    (-before).backward()
    with torch.no_grad():
        for parameter in model.parameters():
            parameter -= 0.1 * parameter.grad
    assert model(*batch).mean() > before


def test_saved_weights_give_same_scores(run, model, batch, tmp_path):
    save_file(model.state_dict(), tmp_path / "weights.safetensors")
    torch.manual_seed(99)
    loaded = build_model(run)
    loaded.load_state_dict(load_file(tmp_path / "weights.safetensors"))
    assert torch.equal(loaded.eval()(*batch), model.eval()(*batch))
