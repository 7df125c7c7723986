"""Features of words by hand, and what a search makes of them."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from readagain.errors import ConfigError
from readagain.search.beam import beam_search
from readagain.search.features import ExtractiveFeatures, FeatureWeights, count_features
from readagain.search.live import ActiveHypotheses
from readagain.search.model import SourceBatch
from readagain.search.prefix import ForcedPrefix
from readagain.search.rules import LengthConstraint
from readagain.search.scoring import Scoring
from readagain.text.vocab import BOS

NO_WEIGHTS = FeatureWeights()


def live_with(*rows, document=None):
    words = np.array(rows, dtype=np.int32).reshape(len(rows), -1)
    return ActiveHypotheses(
        document=np.arange(len(rows)) if document is None else np.array(document),
        words=words,
        copied_from=np.full(words.shape, -1),
        log_probs=np.zeros(len(rows)),
        coverage=None,
    )


def features(sources, words, ids):
    """Return unigram, bigram, trigram, reordering of each id behind the words of one row."""
    values = ExtractiveFeatures(sources, NO_WEIGHTS).values(live_with(words), np.array([ids]))
    return np.stack(values, axis=-1)[0].astype(int).tolist()


def test_the_first_word_can_only_be_a_unigram(sources_of):
    assert features(sources_of([4, 5, 6]), [], [4, 7]) == [[1, 0, 0, 0], [0, 0, 0, 0]]


def test_a_word_behind_its_neighbours_is_a_bigram_and_a_trigram(sources_of):
    source = sources_of([4, 5, 6, 7])
    assert features(source, [5], [6, 7]) == [[1, 1, 0, 0], [1, 0, 0, 0]]
    assert features(source, [4, 5], [6]) == [[1, 1, 1, 0]]
    assert features(source, [7, 5], [6]) == [[1, 1, 0, 0]]


def test_a_word_from_before_the_last_one_is_a_reordering(sources_of):
    source = sources_of([4, 5, 6])
    assert features(source, [6], [4, 5, 6]) == [[1, 0, 0, 1], [1, 0, 0, 1], [1, 0, 0, 0]]


def test_a_word_that_stands_twice_can_be_a_bigram_and_a_reordering(sources_of):
    assert features(sources_of([4, 5, 4]), [4], [5]) == [[1, 1, 0, 1]]


def test_a_last_word_that_the_source_lacks_reorders_nothing(sources_of):
    assert features(sources_of([4, 5]), [7], [4]) == [[1, 0, 0, 0]]


def test_neighbours_in_different_sentences_are_no_bigram():
    source = SourceBatch(
        source_ids=np.array([[[4, 5], [6, 7]]]),
        lengths=np.array([[2, 2]]),
        source_ext_ids=np.array([[4, 5, 6, 7]]),
    )
    assert features(source, [5], [6, 4]) == [[1, 0, 0, 0], [1, 0, 0, 1]]


def test_padding_is_no_word(sources_of):
    values = ExtractiveFeatures(sources_of([4], [5, 6, 7]), NO_WEIGHTS).values(
        live_with([4], [6]), np.array([[0, 4, 7], [7, 5, 4]])
    )
    assert np.stack(values, axis=-1).astype(int).tolist() == [
        [[0, 0, 0, 0], [1, 0, 0, 0], [0, 0, 0, 0]],
        [[1, 1, 0, 0], [1, 0, 0, 1], [0, 0, 0, 0]],
    ]


def test_the_most_that_a_word_can_add_respects_what_implies_what():
    assert FeatureWeights(unigram=1, bigram=2, trigram=4, reordering=8).most == 15
    assert FeatureWeights(unigram=-1, bigram=3, trigram=-5, reordering=-1).most == 2
    assert FeatureWeights(unigram=-1, reordering=-2).most == 0


@pytest.mark.parametrize("value", [float("inf"), float("nan")])
def test_a_weight_that_is_no_number_is_refused(value):
    with pytest.raises(ConfigError, match=r"the weight of bigram is .*; expected a finite number"):
        FeatureWeights(bigram=value)


def test_candidates_are_put_in_the_order_of_what_they_are_worth_together(sources_of, offer):
    source = sources_of([5, 6])
    weighing = ExtractiveFeatures(source, FeatureWeights(unigram=1.5))
    weighed, added = weighing.weigh(live_with([]), offer([7, 4, 6]), ForcedPrefix.among([], 1))
    assert weighed.ids.tolist() == [[7, 6, 4]]
    assert weighed.log_probs.tolist() == [[-1, -3, -2]]
    assert added.tolist() == [[0, 1.5, 0]]


def test_a_forced_word_is_worth_what_it_was(sources_of, offer):
    source = sources_of([5, 6])
    weighing = ExtractiveFeatures(source, FeatureWeights(unigram=1.5))
    prefix = ForcedPrefix([[6]], [[-1]])
    live = live_with([])
    _, added = weighing.weigh(live, prefix.force(offer([7, 6]), live), prefix)
    assert not added.any()


def test_a_bonus_can_turn_a_search_and_the_trace_keeps_probabilities(table_model, sources_of):
    model = table_model({BOS: {4: 0.6, 5: 0.3}, 4: {4: 0.1}, 5: {5: 0.1}})
    source = sources_of([5])
    scoring = Scoring(features=FeatureWeights(unigram=1.0))
    options = {"beam_size": 2, "words": LengthConstraint(maximum=2)}
    ((plain,),) = beam_search(model, source, **options)
    ((tuned,),) = beam_search(model, source, **options, scoring=scoring)
    assert [plain.ids.tolist(), tuned.ids.tolist()] == [[4], [5]]
    np.testing.assert_allclose(np.exp(tuned.log_probs), [0.3, 0.9])
    assert tuned.score == pytest.approx(np.log(0.3 * 0.9) + 1.0)


def test_counts_of_a_whole_summary_by_hand():
    source = [["rain", "fell", "on", "ghent"], ["rain", "stopped"]]
    assert count_features(["rain", "fell", "on", "lund"], source).tolist() == [3, 2, 1, 1]
    assert count_features([], source).tolist() == [0, 0, 0, 0]


@given(
    st.lists(st.lists(st.integers(4, 7), max_size=4), min_size=1, max_size=3),
    st.lists(st.integers(4, 8), max_size=5),
)
def test_a_whole_summary_counts_what_its_words_count_one_by_one(sentences, words):
    N, L = len(sentences), max(1, *map(len, sentences))
    ids = np.zeros((1, N, L), dtype=np.int64)
    for n, sentence in enumerate(sentences):
        ids[0, n, : len(sentence)] = sentence
    source = SourceBatch(
        source_ids=ids,
        lengths=np.array([list(map(len, sentences))]),
        source_ext_ids=ids.reshape(1, -1),
    )
    one_by_one = np.zeros(4)
    for end, word in enumerate(words):
        one_by_one += features(source, words[:end], [word])[0]
    assert count_features(words, sentences).tolist() == one_by_one.tolist()
