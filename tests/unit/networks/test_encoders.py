import pytest
import torch
from torch import nn
from torch.autograd import gradcheck

from readagain.networks.encoders import (
    ConcatSentences,
    GlobalVector,
    GruSecondPass,
    ImportanceWeights,
)
from readagain.networks.recurrent import GruLayer


@pytest.mark.parametrize("combine", ["concat", "global"])
@pytest.mark.parametrize("cell", ["gru", "lstm"])
@pytest.mark.parametrize("bidirectional", [False, True])
def test_padding_of_missing_sentence_is_ignored(build, make_batch, cell, combine, bidirectional):
    model = build(
        {
            "model.encoder.kind": "hierarchical",
            "model.encoder.cell": cell,
            "model.encoder.combine": combine,
            "model.encoder.bidirectional": bidirectional,
            "data.num_sentences": 2,
        }
    )
    batch = make_batch(num_sentences=2)
    words = model.source_embedding(batch.source_ids)
    before = model.encoder(words, batch.source_lengths)
    words = words.clone()
    words[2, 1] = 9.0  # the third text has no second sentence
    after = model.encoder(words, batch.source_lengths)
    torch.testing.assert_close(before.last_states, after.last_states)
    torch.testing.assert_close(before.states[before.valid], after.states[after.valid])
    assert not before.valid[2, 5:].any()


def test_second_pass_depends_on_end_of_sentence(build, make_batch):
    for kind, depends_on_end in (("one_pass", False), ("read_again", True)):
        for cell in ("gru", "lstm"):
            model = build({"model.encoder.kind": kind, "model.encoder.cell": cell})
            words = model.source_embedding(make_batch().source_ids[:1])
            lengths = torch.tensor([[5]])
            before = model.encoder(words, lengths).states[0, 0]
            words = words.clone()
            words[0, 0, -1] += 1.0
            after = model.encoder(words, lengths).states[0, 0]
            assert torch.equal(before, after) is not depends_on_end, (kind, cell)


def test_gru_encoder_returns_importance(build, make_batch):
    batch = make_batch()
    for importance, width in (("vector", 5), ("scalar", 1)):
        model = build({"model.encoder.cell": "gru", "model.encoder.importance": importance})
        memory = model.encode(*batch.source()).memory
        assert memory.importance.shape == (3, 5, width)
        assert memory.importance.abs().max() <= 1


@pytest.mark.parametrize(("activation", "is_bounded"), [("tanh", False), ("sigmoid", True)])
def test_states_exceed_one_with_tanh_but_not_sigmoid(activation, is_bounded):
    torch.manual_seed(1)
    layer = GruSecondPass(
        [GruLayer(2, 3)], [ImportanceWeights(2, 3, 3, size=3, activation=activation)]
    )
    for weight in layer.parameters():  # a new `GruLayer` has uninitialized weights
        nn.init.normal_(weight, std=0.1)
    # All importance weights are close to the minimum: -1 with tanh, 0 with sigmoid.
    nn.init.constant_(layer.importance[0].whole.weight, -10.0)
    words, first_states = torch.randn(4, 40, 2), torch.randn(4, 40, 3)
    states, _, _ = layer(words, first_states, torch.ones(4, 3), torch.full((4,), 40))
    assert bool(states.abs().max() <= 1) is is_bounded


@pytest.mark.parametrize("activation", ["tanh", "sigmoid"])
def test_importance_gradient(activation):
    torch.manual_seed(1)
    importance = ImportanceWeights(
        input_size=2, first_size=3, context_size=3, size=3, activation=activation
    ).double()
    shapes = [(2, 4, 2), (2, 4, 3), (2, 3)]  # words, first-pass states, context
    inputs = [torch.randn(shape, dtype=torch.float64, requires_grad=True) for shape in shapes]
    assert gradcheck(importance, inputs)


@pytest.mark.parametrize(
    "combine",
    [
        ConcatSentences(num_sentences=3, sentence_size=2),
        GlobalVector(num_sentences=3, sentence_size=2, dropout=0.0).double(),
    ],
    ids=["option 1", "option 2"],
)
def test_sentence_combination_gradient(combine):
    vectors = torch.randn(2, 3, 2, dtype=torch.float64, requires_grad=True)
    assert gradcheck(combine, (vectors,))
