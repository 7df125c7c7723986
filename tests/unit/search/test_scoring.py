import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from readagain.errors import ConfigError
from readagain.search.features import FeatureWeights
from readagain.search.scoring import Scoring, over_attention


def test_a_score_is_a_sum_of_log_probabilities_unless_normalised():
    log_probs, decisions = np.array([-6.0, -6.0]), np.array([2, 3])
    assert Scoring().scores(log_probs, decisions, None).tolist() == [-6, -6]
    assert Scoring(length_exponent=1).scores(log_probs, decisions, None).tolist() == [-3, -2]


def test_over_attention_is_what_exceeds_one():
    assert over_attention(np.array([[0.5, 1.0, 1.75, 2.0], [0.9, 0.9, 0.0, 1.0]])).tolist() == [
        1.75,
        0,
    ]


def test_padding_does_not_change_the_last_bit_of_over_attention():
    coverage = np.random.default_rng(1).random((50, 37)) * 3
    padded = np.zeros((50, 211))
    padded[:, :37] = coverage
    assert (over_attention(coverage) == over_attention(padded)).all()


@given(
    exponent=st.floats(0, 2),
    weight=st.floats(0, 3),
    bonus=st.sampled_from([0.0, 0.5, 3.0]),
    steps=st.lists(st.tuples(st.floats(-5, 0), st.floats(0, 1)), min_size=1, max_size=8),
)
def test_no_hypothesis_passes_its_bound(exponent, weight, bonus, steps):
    scoring = Scoring(
        length_exponent=exponent, coverage=weight, features=FeatureWeights(unigram=bonus)
    )
    log_probs = np.cumsum([log_prob + bonus for log_prob, _ in steps])
    over = np.cumsum([extra for _, extra in steps])
    decisions = np.arange(1, len(steps) + 1)
    scores = scoring.scores(log_probs, decisions, over)
    bounds = scoring.bounds(log_probs, decisions, np.full(len(steps), len(steps)), over)
    for now in range(len(steps)):
        assert scores[now:].max() <= bounds[now] + 1e-12


@pytest.mark.parametrize("name", ["length_exponent", "coverage", "diversity"])
def test_a_negative_weight_is_refused(name):
    with pytest.raises(ConfigError, match=f"{name} is -0.5; expected 0 or more"):
        Scoring(**{name: -0.5})
