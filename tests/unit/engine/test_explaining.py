"""What a model is said to have looked at."""

import numpy as np
import pytest

from readagain.config.override import override
from readagain.engine.explaining import look_at
from readagain.engine.summarizer import Summarizer
from readagain.presets import PRESETS
from readagain.storage.bundled import find_model

TEXT = "The harbour of Ghent reopened on Monday. Two ferries sailed at noon."
SHORT = "A storm passed."


class Reader:
    """A model without weights of words, whose states are given."""

    def __init__(self, states, weights=None):
        self._states, self._weights = states, weights

    def importance(self, batch):
        return self._weights

    def states(self, batch):
        return self._states


class Batch:
    """Two words of one text."""

    source_ids = np.zeros((1, 1, 2), dtype=np.int64)
    source_valid = np.ones((1, 2), dtype=bool)


def test_a_model_that_weighs_words_is_asked_for_its_weights():
    weights = np.array([[0.25, -0.5]])
    looks = look_at(Reader(None, weights), PRESETS["read_again_gru_copy_15k"].model, Batch)
    assert looks.kind == "weight"
    assert looks.importance is weights


def test_a_model_that_reads_again_without_weights_shows_how_its_state_moves():
    states = np.array([[[4.0], [6.0]]])
    looks = look_at(Reader(states), PRESETS["read_again_lstm_copy_15k"].model, Batch)
    assert looks.kind == "movement"
    assert looks.importance.tolist() == [[1.0, 0.5]]


def test_a_model_that_reads_from_both_ends_is_looked_at_from_both():
    run = override(PRESETS["read_again_lstm_copy_15k"], {"model.encoder.bidirectional": True})
    states = np.array([[[3.0, 4.0], [3.0, 4.0]]])  # forward 0 -> 3 -> 3, backward 4 <- 4 <- 0
    looks = look_at(Reader(states), run.model, Batch)
    assert looks.importance.tolist() == [[0.75, 1.0]]


@pytest.mark.parametrize("name", ["gru_15k", "abs_69k", "ras_elman"])
def test_a_model_that_reads_once_has_no_importance(name):
    looks = look_at(Reader(None), PRESETS[name].model, Batch)
    assert (looks.importance, looks.kind) == (None, None)


@pytest.mark.parametrize("name", ["news", "papers"])
def test_bundled_models_explain_a_text_alone_as_among_others(name):
    summarizer = Summarizer.load(find_model(name), threads=1)
    alone = summarizer.summarize(TEXT, explain=True).explanation
    among, other = (each.explanation for each in summarizer.summarize([TEXT, SHORT], explain=True))
    other_alone = summarizer.summarize(SHORT, explain=True).explanation
    assert other.importance == pytest.approx(other_alone.importance, abs=1e-5)
    assert alone.importance_kind == "movement"
    assert alone.importance.max() == 1.0
    assert alone.importance.shape == (len(alone.source_words),)
    assert among.importance == pytest.approx(alone.importance, abs=1e-5)
    assert among.attention == pytest.approx(alone.attention, abs=1e-5)


def test_words_that_do_not_fit_into_a_limit_are_not_explained(summarizer):
    summary = summarizer.summarize("Storm hits Ghent", max_bytes=12, explain=True)
    assert summary.text == "Storm hits"
    assert summary.explanation.attention.tolist() == [[1, 0, 0], [0, 1, 0], [0, 0, 0]]


def test_printed_words_stand_where_they_say(summarizer):
    for case in ("sentence", "headline", "plain"):
        summary = summarizer.summarize(TEXT, explain=True, case=case)
        printed = summary.explanation.printed
        assert len(printed) == len(summary.words)
        assert [summary.text[word.start : word.end] for word in printed] == [
            word.surface for word in printed
        ]
        assert "".join(word.surface for word in printed) == summary.text.replace(" ", "")
