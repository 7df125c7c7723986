"""Extractive features, computed by hand, and their effect on search."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from readagain.search.beam import beam_search
from readagain.search.constraints import LengthConstraint
from readagain.search.features import ExtractiveFeatures, FeatureWeights, count_features
from readagain.search.hypotheses import ActiveHypotheses
from readagain.search.model import SourceBatch
from readagain.search.scoring import Scoring
from readagain.text.vocab import BOS, PAD

NO_WEIGHTS = FeatureWeights()


def active_with(*rows):
    """Return one hypothesis with generated words per document."""
    ids = np.array(rows, dtype=np.int32).reshape(len(rows), -1)
    copied_from = np.full(ids.shape, -1)
    return replace(ActiveHypotheses.initial(len(rows)), ids=ids, copied_from=copied_from)


def features(sources, words, ids):
    """Return [unigram, bigram, trigram, reordering] of each of `ids` after `words`."""
    extractive = ExtractiveFeatures(sources, NO_WEIGHTS)
    arrays = extractive.compute(active_with(words), np.array([ids]))
    return np.stack(arrays, axis=-1)[0].astype(int).tolist()


def test_first_word_has_only_the_unigram_feature(sources_of):
    assert features(sources_of([4, 5, 6]), [], [4, 7]) == [[1, 0, 0, 0], [0, 0, 0, 0]]


def test_source_ngrams_have_bigram_and_trigram_features(sources_of):
    source = sources_of([4, 5, 6, 7])
    assert features(source, [5], [6, 7]) == [[1, 1, 0, 0], [1, 0, 0, 0]]
    assert features(source, [4, 5], [6]) == [[1, 1, 1, 0]]
    assert features(source, [7, 5], [6]) == [[1, 1, 0, 0]]


def test_earlier_source_word_is_a_reordering(sources_of):
    source = sources_of([4, 5, 6])
    assert features(source, [6], [4, 5, 6]) == [[1, 0, 0, 1], [1, 0, 0, 1], [1, 0, 0, 0]]


def test_repeated_word_can_be_bigram_and_reordering(sources_of):
    assert features(sources_of([4, 5, 4]), [4], [5]) == [[1, 1, 0, 1]]


def test_last_word_not_in_source_gives_no_reordering(sources_of):
    assert features(sources_of([4, 5]), [7], [4]) == [[1, 0, 0, 0]]


def test_bigrams_do_not_cross_sentences():
    source = SourceBatch(
        source_ids=np.array([[[4, 5], [6, 7]]]),
        lengths=np.array([[2, 2]]),
        source_ext_ids=np.array([[4, 5, 6, 7]]),
    )
    assert features(source, [5], [6, 4]) == [[1, 0, 0, 0], [1, 0, 0, 1]]


def test_padding_has_no_features(sources_of):
    extractive = ExtractiveFeatures(sources_of([4], [5, 6, 7]), NO_WEIGHTS)
    arrays = extractive.compute(active_with([4], [6]), np.array([[PAD, 4, 7], [7, 5, 4]]))
    assert np.stack(arrays, axis=-1).astype(int).tolist() == [
        [[0, 0, 0, 0], [1, 0, 0, 0], [0, 0, 0, 0]],
        [[1, 1, 0, 0], [1, 0, 0, 1], [0, 0, 0, 0]],
    ]


def test_max_bonus_respects_nested_features():
    assert FeatureWeights(unigram=1, bigram=2, trigram=4, reordering=8).max_bonus == 15
    assert FeatureWeights(unigram=-1, bigram=3, trigram=-5, reordering=-1).max_bonus == 2
    assert FeatureWeights(unigram=-1, reordering=-2).max_bonus == 0


def test_rerank_sorts_by_log_prob_plus_bonus(sources_of, make_candidates):
    source = sources_of([5, 6])
    extractive = ExtractiveFeatures(source, FeatureWeights(unigram=1.5))
    reranked, bonuses = extractive.rerank(active_with([]), make_candidates([7, 4, 6]))
    assert reranked.ids.tolist() == [[7, 6, 4]]
    assert reranked.log_probs.tolist() == [[-1, -3, -2]]
    assert bonuses.tolist() == [[0, 1.5, 0]]


def test_features_change_the_best_but_not_its_log_probs(table_model, sources_of):
    model = table_model({BOS: {4: 0.6, 5: 0.3}, 4: {4: 0.1}, 5: {5: 0.1}})
    source = sources_of([5])
    scoring = Scoring(features=FeatureWeights(unigram=1.0))
    options = {"beam_size": 2, "length": LengthConstraint(maximum=2)}
    ((plain,),) = beam_search(model, source, **options)
    ((tuned,),) = beam_search(model, source, **options, scoring=scoring)
    assert [plain.ids.tolist(), tuned.ids.tolist()] == [[4], [5]]
    np.testing.assert_allclose(np.exp(tuned.log_probs), [0.3, 0.9])
    assert tuned.score == pytest.approx(np.log(0.3 * 0.9) + 1.0)


def test_count_features_of_a_small_example():
    source = [["rain", "fell", "on", "ghent"], ["rain", "stopped"]]
    assert count_features(["rain", "fell", "on", "lund"], source).tolist() == [3, 2, 1, 1]
    assert count_features([], source).tolist() == [0, 0, 0, 0]


@given(
    st.lists(st.lists(st.integers(4, 7), max_size=4), min_size=1, max_size=3),
    st.lists(st.integers(4, 8), max_size=5),
)
def test_count_features_equals_the_sum_over_words(sentences, words):
    N, L = len(sentences), max(1, *map(len, sentences))
    ids = np.zeros((1, N, L), dtype=np.int64)
    for n, sentence in enumerate(sentences):
        ids[0, n, : len(sentence)] = sentence
    source = SourceBatch(
        source_ids=ids,
        lengths=np.array([list(map(len, sentences))]),
        source_ext_ids=ids.reshape(1, -1),
    )
    counts = np.zeros(4)
    for position, word in enumerate(words):
        counts += features(source, words[:position], [word])[0]
    assert count_features(words, sentences).tolist() == counts.tolist()
