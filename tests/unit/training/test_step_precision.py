"""Casting all weights at once equals autocast."""

import operator

import pytest
import torch
from torch import nn

from readagain.config.override import override
from readagain.networks.build import build_model
from readagain.networks.layers import WordEmbedding
from readagain.presets import PRESETS
from readagain.text.vocab import BOS, EOS
from readagain.training.step import call_in_precision

SIZES = {"vocab_size": 12, "source_vocab_size": 9, "model.embedding_size": 4}
ENCODER_DECODER = {
    **SIZES,
    "model.encoder.hidden_size": 4,
    "model.decoder.hidden_size": 4,
    "model.decoder.attention_size": 4,
}
RUNS = {
    "tiny": ENCODER_DECODER,
    "read_again_gru_copy_15k": ENCODER_DECODER,
    "lvt2k_1sent": ENCODER_DECODER,
    "abs_69k": {**SIZES, "model.hidden_size": 4},
    "ras_lstm": {**SIZES, "model.hidden_size": 4},
}
INPUTS = (
    torch.tensor([[[4, 5, 1]], [[6, 7, 0]]]),
    torch.tensor([[3], [2]]),
    torch.tensor([[4, 5, 14], [6, 10, 0]]),
    torch.tensor([[BOS, 14, 4], [BOS, 6, 0]]),
    torch.tensor([[14, 4, EOS], [6, EOS, 0]]),
)


class Layers(nn.Module):
    """Network with an embedding, a layer used twice, a layer with a bias, and an unused layer."""

    def __init__(self):
        super().__init__()
        self.words = WordEmbedding(5, 4)
        self.twice = nn.Linear(4, 4, bias=False)
        self.once = nn.Linear(4, 3)
        self.never = nn.Linear(4, 3)

    def forward(self, ids):
        return self.once(self.twice(torch.tanh(self.twice(self.words(ids)))))


def gradients_by_name(model):
    return {name: parameter.grad for name, parameter in model.named_parameters()}


def test_call_in_precision_equals_autocast():
    torch.manual_seed(1)
    model, ids = Layers(), torch.tensor([[1, 2], [4, 1]])
    with torch.autocast("cpu", torch.bfloat16):
        expected = model(ids)
        expected.float().square().sum().backward()
    expected_gradients = gradients_by_name(model)
    model.zero_grad()
    with torch.autocast("cpu", torch.bfloat16):
        output = call_in_precision(torch.bfloat16, model, ids)
        output.float().square().sum().backward()
    assert output.dtype == torch.bfloat16
    assert torch.equal(output, expected)
    assert gradients_by_name(model)["never.weight"] is None
    assert gradients_by_name(model)["once.bias"].dtype == torch.float32
    torch.testing.assert_close(gradients_by_name(model), expected_gradients, rtol=0, atol=0)


def test_call_in_precision_keeps_weights():
    model = Layers()
    before = dict(model.named_parameters())
    with torch.autocast("cpu", torch.bfloat16):
        call_in_precision(torch.bfloat16, model, torch.tensor([1])).sum().backward()
    assert all(parameter is before[name] for name, parameter in model.named_parameters())
    assert model.once.weight.dtype == torch.float32


@pytest.mark.parametrize("name", RUNS)
def test_call_in_float32_equals_plain_call(name):
    torch.manual_seed(2)
    model = build_model(override(PRESETS[name], {**RUNS[name], "model.dropout": 0.0}))
    expected = model(*INPUTS)
    expected.sum().backward()
    expected_gradients = gradients_by_name(model)
    model.zero_grad()
    output = call_in_precision(torch.float32, model, *INPUTS)
    output.sum().backward()
    torch.testing.assert_close(output, expected)
    torch.testing.assert_close(gradients_by_name(model), expected_gradients)


def test_call_in_precision_skips_torch_lstm():
    model = build_model(override(PRESETS["tiny"], ENCODER_DECODER))
    lstm = model.encoder.first.directions[0].lstm
    call_in_precision(torch.float32, model, *INPUTS).sum().backward()
    assert all(map(operator.is_, lstm._flat_weights, lstm.parameters()))
    assert lstm.weight_hh_l0.grad.any()
