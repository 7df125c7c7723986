"""Words, positions, probabilities and attention of the hypotheses that a search returns."""

import numpy as np
import pytest

from readagain.search.beam import beam_search
from readagain.search.constraints import LengthConstraint
from readagain.search.model import SourceBatch
from readagain.text.vocab import BOS, EOS


@pytest.fixture
def two_sentences():
    """Return one document with the sentences "4 5" and "OOV 6"; the vocabulary has 8 words."""
    return SourceBatch(
        source_ids=np.array([[[4, 5, 0], [1, 6, 0]]]),
        lengths=np.array([[2, 2]]),
        source_ext_ids=np.array([[4, 5, 0, 8 + 3, 6, 0]]),
    )


def best_of(model, sources, **options):
    options = {"beam_size": 4, "length": LengthConstraint(minimum=2, maximum=2)} | options
    return beam_search(model, sources, **options)[0]


def test_hypothesis_gives_sentence_and_word_of_copies(table_model, two_sentences):
    model = table_model({}, copying=0.9, continuing=20.0)
    copied_from = {
        tuple(hypothesis.ids.tolist()): hypothesis.copied_from.tolist()
        for hypothesis in best_of(model, two_sentences, n_best=4)
    }
    assert copied_from[(11, 6)] == [[1, 0], [1, 1]]
    assert copied_from[(4, 5)] == [[0, 0], [0, 1]]


def test_hypothesis_marks_generated_words(table_model, two_sentences):
    model = table_model({BOS: {7: 0.9}, 7: {7: 0.9}})
    (best,) = best_of(model, two_sentences)
    assert best.copied_from.tolist() == [[-1, -1], [-1, -1]]


def test_hypothesis_log_probs_sum_to_its_score(table_model, two_sentences):
    model = table_model({BOS: {7: 0.9}, 7: {7: 0.5}}, copying=0.5)
    for hypothesis in best_of(model, two_sentences, n_best=4):
        assert len(hypothesis.log_probs) == len(hypothesis) + 1
        assert hypothesis.log_probs.sum() == pytest.approx(hypothesis.score)


def test_hypothesis_has_attention_weights(table_model, two_sentences):
    model = table_model({}, copying=0.9, continuing=3.0)
    (best,) = best_of(model, two_sentences)
    assert best.attention.shape == (3, 2, 3)
    np.testing.assert_allclose(best.attention.sum(axis=(1, 2)), 1, rtol=1e-6)


def test_hypothesis_aligns_attention_with_words(table_model, two_sentences):
    model = table_model({}, copying=0.9, continuing=3.0)
    hypotheses = best_of(model, two_sentences, n_best=4)
    (hypothesis,) = [each for each in hypotheses if each.ids.tolist() == [4, 5]]
    even = [[1 / 4, 1 / 4, 0], [1 / 4, 1 / 4, 0]]
    after_4 = [[1 / 6, 3 / 6, 0], [1 / 6, 1 / 6, 0]]
    np.testing.assert_allclose(hypothesis.attention, [even, after_4, even], rtol=1e-6)


def test_hypothesis_ids_exclude_eos(table_model, two_sentences):
    model = table_model({BOS: {7: 0.9}, 7: {7: 0.9}})
    (best,) = best_of(model, two_sentences)
    assert EOS not in best.ids
    assert len(best) == 2
