"""Embedding of copied words in `EncoderDecoder`."""

from dataclasses import replace

import torch

from readagain.text.vocab import BOS, UNK


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
        decoder, _, _ = model.decoder.step(word, state.memory, state.decoder)
        torch.testing.assert_close(logits.vocab, model.output(decoder.hidden))
