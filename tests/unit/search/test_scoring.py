"""Scores and their upper bounds."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from readagain.search.features import FeatureWeights
from readagain.search.scoring import Scoring


def test_scores_apply_the_length_penalty():
    log_probs, num_scored = np.array([-6.0, -6.0]), np.array([2, 3])
    assert Scoring().scores(log_probs, num_scored).tolist() == [-6, -6]
    assert Scoring(length_penalty=1).scores(log_probs, num_scored).tolist() == [-3, -2]


@given(
    length_penalty=st.floats(0, 2),
    bonus=st.sampled_from([0.0, 0.5, 3.0]),
    steps=st.lists(st.floats(-5, 0), min_size=1, max_size=8),
)
def test_upper_bounds_hold_for_every_continuation(length_penalty, bonus, steps):
    scoring = Scoring(length_penalty=length_penalty, features=FeatureWeights(unigram=bonus))
    log_probs = np.cumsum([log_prob + bonus for log_prob in steps])
    num_scored = np.arange(1, len(steps) + 1)
    scores = scoring.scores(log_probs, num_scored)
    max_scored = np.full(len(steps), len(steps))
    bounds = scoring.upper_bounds(log_probs, num_scored, max_scored)
    for step in range(len(steps)):
        assert scores[step:].max() <= bounds[step] + 1e-12
