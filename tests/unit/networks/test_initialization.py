import math

import torch

from readagain.networks.build import initialize_parameters
from readagain.networks.recurrent import GruLayer, LstmLayer


def test_weights_are_uniform_and_biases_a_tenth():
    layer = GruLayer(input_size=64, hidden_size=48)
    torch.manual_seed(0)
    initialize_parameters(layer, hidden_size=48)
    bound = math.sqrt(3 / 48)
    for weight in (layer.input.weight, layer.weight_gates, layer.weight_candidate):
        assert 0.98 * bound < weight.abs().max().item() <= bound
        # The uniform distribution between -√(3/d) and √(3/d) has variance 1/d.
        assert abs(weight.var().item() * 48 - 1) < 0.1
    assert (layer.input.bias == 0.1).all()


def test_lstm_biases_sum_to_a_tenth():
    layer = LstmLayer(input_size=4, hidden_size=3)
    initialize_parameters(layer, hidden_size=3)
    total = layer.lstm.bias_ih_l0 + layer.lstm.bias_hh_l0
    torch.testing.assert_close(total, torch.full((12,), 0.1))


def test_weight_range_depends_on_hidden_size_of_module(build):
    model = build(**{"model.encoder.hidden_size": 300, "model.decoder.hidden_size": 12})
    narrow, wide = math.sqrt(3 / 300), math.sqrt(3 / 12)
    assert model.source_embedding.weight.abs().max() <= narrow
    for name, parameter in model.encoder.named_parameters():
        assert "bias" in name or parameter.abs().max() <= narrow
    assert narrow < model.decoder.weight_hidden.abs().max() <= wide
    assert narrow < model.output.project.weight.abs().max() <= wide
