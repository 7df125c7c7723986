"""MBR reranking."""

from collections import Counter
from itertools import pairwise
from math import exp

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from readagain.search.decoding import mbr_rerank
from readagain.search.hypotheses import Hypothesis


def hypothesis(*ids: int, score: float, meets_min_length: bool = True) -> Hypothesis:
    return Hypothesis(
        ids=np.array(ids, dtype=np.int64),
        copied_from=np.full((len(ids), 2), -1),
        log_probs=np.zeros(len(ids) + 1),
        score=score,
        meets_min_length=meets_min_length,
        attention=None,
    )


OUTLIER = hypothesis(10, 11, score=-1.0)
CENTRAL = hypothesis(20, 21, 22, score=-1.1)
SIMILAR = hypothesis(20, 21, 23, score=-1.2)


def test_mbr_prefers_similar_hypotheses_over_an_outlier():
    # With equal weights, the outlier has an expected F1 of 1/3. The two other hypotheses share two
    # words of three, so they have (1 + 2/3) / 3.
    ordered = mbr_rerank([OUTLIER, CENTRAL, SIMILAR], temperature=1e6)
    assert [each.ids for each in ordered] == [CENTRAL.ids, SIMILAR.ids, OUTLIER.ids]
    assert [each.score for each in ordered] == pytest.approx([5 / 9, 5 / 9, 1 / 3])


def test_mbr_with_low_temperature_keeps_the_best_score():
    ordered = mbr_rerank([OUTLIER, CENTRAL, SIMILAR], temperature=0.01)
    assert ordered[0].ids is OUTLIER.ids


def test_mbr_counts_repeated_words():
    twice, once = hypothesis(5, 5, 6, score=-1.0), hypothesis(5, 6, 7, score=-1.0)
    thrice = hypothesis(5, 5, 5, score=-1.0)
    # F1 against the two other hypotheses: `twice` 2/3 + 2/3, `once` 2/3 + 1/3, `thrice` 2/3 + 1/3.
    assert mbr_rerank([thrice, once, twice], temperature=1e6)[0].ids is twice.ids


def test_mbr_by_recall_prefers_the_covering_hypothesis():
    covering, tiny = hypothesis(20, 21, 22, 23, 24, score=-1.0), hypothesis(20, score=-1.0)
    beam = [CENTRAL, SIMILAR, covering, tiny]
    # `covering` has the words of all others. Sums of F1: CENTRAL 1 + 2/3 + 6/8 + 2/4, `covering`
    # 6/8 + 6/8 + 1 + 2/6.
    assert mbr_rerank(beam, temperature=1e6)[0].ids is CENTRAL.ids
    assert mbr_rerank(beam, temperature=1e6, utility="recall")[0].ids is covering.ids


beams = st.lists(
    st.tuples(st.lists(st.integers(4, 8), min_size=1, max_size=6), st.floats(-3, 0)),
    min_size=2,
    max_size=6,
)


@pytest.mark.parametrize("utility", ["f1", "recall"])
@given(beams, st.sampled_from([0.3, 1.0]))
def test_mbr_order_equals_expected_utility(utility, beam, temperature):
    def overlap(candidate, reference):
        shared_words = Counter(candidate.ids.tolist()) & Counter(reference.ids.tolist())
        mean_length = (len(candidate) + len(reference)) / 2
        return shared_words.total() / (len(reference) if utility == "recall" else mean_length)

    def expected_utility(candidate):
        return sum(
            exp(reference.score / temperature) * overlap(candidate, reference)
            for reference in hypotheses
        )

    hypotheses = [hypothesis(*ids, score=score) for ids, score in beam]
    ordered = mbr_rerank(hypotheses, temperature=temperature, utility=utility)
    by_ids = {id(each.ids): each for each in hypotheses}
    assert sorted(by_ids) == sorted(id(each.ids) for each in ordered)
    for better, worse in pairwise(expected_utility(by_ids[id(each.ids)]) for each in ordered):
        assert better >= worse or better == pytest.approx(worse)


def test_mbr_keeps_short_hypotheses_last():
    short = hypothesis(20, 21, score=-0.1, meets_min_length=False)
    assert mbr_rerank([CENTRAL, SIMILAR, short], temperature=1e6)[-1].ids is short.ids


def test_mbr_accepts_empty_and_single_lists():
    assert mbr_rerank([], temperature=0.3) == []
    (only,) = mbr_rerank([CENTRAL], temperature=0.3)
    assert (only.ids is CENTRAL.ids, only.score) == (True, 1.0)
    assert mbr_rerank([hypothesis(score=-1.0)], temperature=0.3)[0].score == 0.0
