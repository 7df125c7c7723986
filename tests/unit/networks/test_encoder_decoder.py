"""Properties of `EncoderDecoder` with every encoder, with and without copying."""

from dataclasses import replace

import pytest
import torch
from stepwise_scores import score_step_by_step

from readagain.text.vocab import BOS, UNK

OUTPUTS = pytest.mark.parametrize("output", ["copy", "softmax"])


@pytest.fixture
def model_and_batch(build, make_batch, encoder_settings):
    def make(output="copy"):
        model = build(encoder_settings, **{"model.output": output})
        return model, make_batch(num_sentences=encoder_settings.get("data.num_sentences", 1))

    return make


@OUTPUTS
def test_padding_does_not_change_scores(model_and_batch, output):
    model, batch = model_and_batch(output)
    torch.testing.assert_close(
        model(*batch.arguments()), model(*batch.add_padding(3).arguments()), atol=1e-12, rtol=0
    )


@OUTPUTS
def test_batch_scores_equal_single_scores(model_and_batch, output):
    model, batch = model_and_batch(output)
    together = model(*batch.arguments())
    single = torch.cat([model(*batch.row(b).arguments()) for b in range(3)])
    torch.testing.assert_close(together, single, atol=1e-12, rtol=0)


@OUTPUTS
def test_steps_match_teacher_forcing(model_and_batch, output):
    model, batch = model_and_batch(output)
    torch.testing.assert_close(
        score_step_by_step(model, batch), model(*batch.arguments()), atol=1e-12, rtol=0
    )


def test_selected_rows_give_same_logits(model_and_batch):
    model, batch = model_and_batch()
    state = model.start(*batch.source())
    _, state = model.step(state, batch.previous_ids[:, 0])
    logits, _ = model.step(state, batch.previous_ids[:, 1])
    rows = torch.tensor([2, 0, 0])
    assert torch.equal(state.select(rows).copy_logits, state.copy_logits[rows])
    selected, _ = model.step(state.select(rows), batch.previous_ids[rows, 1])
    torch.testing.assert_close(selected.vocab, logits.vocab[rows], atol=1e-12, rtol=0)
    torch.testing.assert_close(selected.copy, logits.copy[rows], atol=1e-12, rtol=0)
    torch.testing.assert_close(selected.attention, logits.attention[rows], atol=1e-12, rtol=0)


def test_model_without_copying_uses_unk_for_oov_words(build, make_batch):
    model, batch = build(**{"model.output": "softmax"}), make_batch()
    V = model.previous_words.vocab_size
    as_unk = type(batch)(
        *batch.source(),
        batch.previous_ids.where(batch.previous_ids < V, UNK),
        batch.target_ids.where(batch.target_ids < V, UNK),
    )
    assert torch.equal(model(*batch.arguments()), model(*as_unk.arguments()))


def test_copied_oov_words_are_embedded_by_position(build, make_batch):
    model, batch = build(), make_batch()
    V = model.previous_words.vocab_size
    changed_ids = batch.previous_ids.clone()
    changed_ids[0, 1] = V + 2  # instead of the OOV word at position 1
    scores = model(*batch.arguments())
    changed_scores = model(*batch.source(), changed_ids, batch.target_ids)
    assert torch.equal(scores[0, 0], changed_scores[0, 0])
    assert not torch.equal(scores[0, 1:], changed_scores[0, 1:])


def test_copied_words_fed_as_unk_share_an_embedding(build, make_batch):
    model, batch = build(**{"model.copied_words": "unknown"}), make_batch()
    changed_ids = batch.previous_ids.clone()
    changed_ids[0, 1] = UNK  # instead of the OOV word at position 1
    scores = model(*batch.arguments())
    assert torch.equal(scores, model(*batch.source(), changed_ids, batch.target_ids))


def test_repeated_word_is_embedded_by_most_probable_position(build, make_batch):
    model, batch = build(), make_batch()
    V = model.previous_words.vocab_size
    ext_ids = batch.source_ext_ids.clone()
    ext_ids[:, 2] = V + 1  # the OOV word of position 1, again at position 2
    state = model.start(batch.source_ids, batch.source_lengths, ext_ids)
    _, state = model.step(state, torch.full((3,), BOS))
    for position in (1, 2):
        copy_logits = torch.zeros_like(state.copy_logits)
        copy_logits[:, position] = 1.0
        copy_logits[:, 0] = 5.0  # ignored, because position 0 has another word
        logits, _ = model.step(replace(state, copy_logits=copy_logits), torch.full((3,), V + 1))
        word = state.memory.copy_words[:, position]
        decoder, _, _ = model.decoder.step(
            word, state.memory.keys, state.memory.states, state.memory.valid, state.decoder
        )
        torch.testing.assert_close(logits.vocab, model.output(decoder.hidden))


def test_dropout_is_off_in_evaluation(build, make_batch):
    model, batch = build(**{"model.dropout": 0.5}), make_batch()
    assert torch.equal(model(*batch.arguments()), model(*batch.arguments()))
    model.train()
    assert not torch.equal(model(*batch.arguments()), model(*batch.arguments()))


def test_every_source_word_gets_a_gradient(model_and_batch):
    model, batch = model_and_batch()
    embeddings = []

    def keep_gradient(module, inputs, output):
        output.retain_grad()
        embeddings.append(output)

    model.source_embedding.register_forward_hook(keep_gradient)
    model(*batch.arguments())[:, 0].sum().backward()
    is_word = torch.arange(batch.source_ids.size(2)) < batch.source_lengths.unsqueeze(-1)
    assert torch.equal(embeddings[0].grad.abs().sum(dim=-1) > 0, is_word)
