"""Scores and their upper bounds."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from readagain.search.features import FeatureWeights
from readagain.search.scoring import Scoring, sum_over_attention


def test_scores_apply_the_length_penalty():
    log_probs, num_scored = np.array([-6.0, -6.0]), np.array([2, 3])
    assert Scoring().scores(log_probs, num_scored, None).tolist() == [-6, -6]
    assert Scoring(length_penalty=1).scores(log_probs, num_scored, None).tolist() == [-3, -2]


def test_over_attention_sums_the_excess_over_one():
    assert sum_over_attention(np.array([[0.5, 1.0, 1.75, 2.0], [0.9, 0.9, 0.0, 1.0]])).tolist() == [
        1.75,
        0,
    ]


def test_over_attention_is_exact_under_padding():
    coverage = np.random.default_rng(1).random((50, 37)) * 3
    padded = np.zeros((50, 211))
    padded[:, :37] = coverage
    assert (sum_over_attention(coverage) == sum_over_attention(padded)).all()


@given(
    length_penalty=st.floats(0, 2),
    coverage_penalty=st.floats(0, 3),
    bonus=st.sampled_from([0.0, 0.5, 3.0]),
    steps=st.lists(st.tuples(st.floats(-5, 0), st.floats(0, 1)), min_size=1, max_size=8),
)
def test_upper_bounds_hold_for_every_continuation(length_penalty, coverage_penalty, bonus, steps):
    scoring = Scoring(
        length_penalty=length_penalty,
        coverage_penalty=coverage_penalty,
        features=FeatureWeights(unigram=bonus),
    )
    log_probs = np.cumsum([log_prob + bonus for log_prob, _ in steps])
    over_attention = np.cumsum([added for _, added in steps])
    num_scored = np.arange(1, len(steps) + 1)
    scores = scoring.scores(log_probs, num_scored, over_attention)
    max_scored = np.full(len(steps), len(steps))
    bounds = scoring.upper_bounds(log_probs, num_scored, max_scored, over_attention)
    for step in range(len(steps)):
        assert scores[step:].max() <= bounds[step] + 1e-12
