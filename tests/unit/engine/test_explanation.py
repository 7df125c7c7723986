"""Explanations and source importance."""

import numpy as np
import pytest

from readagain.config.override import override
from readagain.engine.explanation import source_importance, state_movement
from readagain.engine.summarizer import Summarizer
from readagain.presets import PRESETS
from readagain.storage.bundled import find_model

TEXT = "The harbour of Ghent reopened on Monday. Two ferries sailed at noon."
SHORT = "A storm passed."


class FakeModel:
    """Model that returns fixed encoder states and importance weights."""

    def __init__(self, states, weights=None):
        self._states, self._weights = states, weights

    def importance(self, batch):
        return self._weights

    def states(self, batch):
        return self._states


class Batch:
    """Batch of one text with two words."""

    source_ids = np.zeros((1, 1, 2), dtype=np.int64)
    source_valid = np.ones((1, 2), dtype=bool)


def test_importance_is_the_weights_of_the_model():
    weights = np.array([[0.25, -0.5]])
    importance, kind = source_importance(
        FakeModel(None, weights), PRESETS["read_again_gru_copy_15k"].model, Batch
    )
    assert kind == "weight"
    assert importance is weights


def test_importance_is_movement_without_weights():
    states = np.array([[[4.0], [6.0]]])
    spec = PRESETS["read_again_lstm_copy_15k"].model
    importance, kind = source_importance(FakeModel(states), spec, Batch)
    assert kind == "movement"
    assert importance.tolist() == [[1.0, 0.5]]


def test_importance_of_a_bidirectional_model():
    run = override(PRESETS["read_again_lstm_copy_15k"], {"model.encoder.bidirectional": True})
    states = np.array([[[3.0, 4.0], [3.0, 4.0]]])  # forward 0 -> 3 -> 3, backward 4 <- 4 <- 0
    importance, _ = source_importance(FakeModel(states), run.model, Batch)
    assert importance.tolist() == [[0.75, 1.0]]


@pytest.mark.parametrize("name", ["gru_15k", "abs_69k", "ras_elman"])
def test_one_pass_models_have_no_importance(name):
    assert source_importance(FakeModel(None), PRESETS[name].model, Batch) is None


@pytest.mark.parametrize("name", ["news", "papers"])
def test_explanation_does_not_depend_on_the_batch(name):
    summarizer = Summarizer.load(find_model(name), threads=1)
    alone = summarizer.summarize(TEXT, explain=True).explanation
    short_alone = summarizer.summarize(SHORT, explain=True).explanation
    batched, short_batched = (
        summary.explanation for summary in summarizer.summarize([TEXT, SHORT], explain=True)
    )
    assert short_batched.importance == pytest.approx(short_alone.importance, abs=1e-5)
    assert alone.importance_kind == "movement"
    assert alone.importance.max() == 1.0
    assert alone.importance.shape == (len(alone.source_words),)
    assert batched.importance == pytest.approx(alone.importance, abs=1e-5)
    assert batched.attention == pytest.approx(alone.attention, abs=1e-5)


def test_words_beyond_the_byte_limit_are_not_explained(summarizer):
    summary = summarizer.summarize("Storm hits Ghent", max_bytes=12, explain=True)
    assert summary.text == "Storm hits"
    assert summary.explanation.attention.tolist() == [[1, 0, 0], [0, 1, 0], [0, 0, 0]]


def test_spans_of_tokens_match_the_text(summarizer):
    for case in ("sentence", "headline", "plain"):
        summary = summarizer.summarize(TEXT, explain=True, case=case)
        spans = [summary.text[word.start : word.end] for word in summary.words]
        assert spans == [word.surface for word in summary.words]
        assert "".join(spans) == summary.text.replace(" ", "")


def movement(states, lengths, *, num_directions=1):
    """Return the movement of (B, N, L, U) states; `lengths` are the (B, N) sentence lengths."""
    states = np.array(states, dtype=np.float32)
    valid = np.arange(states.shape[2]) < np.array(lengths)[..., None]
    return state_movement(states, valid, num_directions=num_directions)


def test_movement_is_zero_for_an_unchanged_state():
    # The state goes from 0 to (3, 4), stays, goes to (3, 0), and stays: moves of 5, 0, 4 and 0.
    moves = movement([[[[3, 4], [3, 4], [3, 0], [3, 0]]]], [[4]])
    assert moves[0, 0].tolist() == pytest.approx([1.0, 0.0, 0.8, 0.0])


def test_movement_compares_within_each_direction():
    # Forward 0 -> 3 -> 3, backward, from the right, 0 -> 4 -> 4: moves of 3 and 4.
    moves = movement([[[[3, 4], [3, 4]]]], [[2]], num_directions=2)
    assert moves[0, 0].tolist() == pytest.approx([0.75, 1.0])


def test_movement_ignores_padding():
    alone = movement([[[[1, 2], [3, 1]]]], [[2]], num_directions=2)
    padded = movement([[[[1, 2], [3, 1], [9, 9]]]], [[2]], num_directions=2)
    assert padded[0, 0].tolist() == pytest.approx([*alone[0, 0], 0.0])


def test_sentences_of_a_text_share_one_scale():
    # The second sentence begins at zero again: moves of 2 and 1, relative to 2.
    moves = movement([[[[2]], [[1]]]], [[1, 1]])
    assert moves[0, :, 0].tolist() == [1.0, 0.5]


def test_movement_is_scaled_per_text():
    moves = movement([[[[1]]], [[[7]]]], [[1], [1]])
    assert moves.ravel().tolist() == [1.0, 1.0]


def test_movement_of_a_constant_zero_state_is_zero():
    assert movement([[[[0, 0], [0, 0]]]], [[2]]).tolist() == [[[0.0, 0.0]]]
