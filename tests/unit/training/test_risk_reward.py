"""Rewards of sampled summaries, compared with a simple implementation."""

from collections import Counter
from itertools import pairwise

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from readagain.text.vocab import EOS, PAD, UNK
from readagain.training.risk import overlap_reward

WORDS = st.lists(st.integers(4, 8), max_size=7)


def f1(matched, left, right):
    return 2 * matched / max(left + right, 1)


def longest_common(left, right):
    """Return the length of the longest common subsequence."""
    table = [[0] * (len(right) + 1) for _ in range(len(left) + 1)]
    for i, a in enumerate(left):
        for j, b in enumerate(right):
            table[i + 1][j + 1] = (
                table[i][j] + 1 if a == b else max(table[i][j + 1], table[i + 1][j])
            )
    return table[-1][-1]


def slow_reward(summary, reference):
    def count_shared(left, right):
        return sum((Counter(left) & Counter(right)).values())

    bigrams, reference_bigrams = list(pairwise(summary)), list(pairwise(reference))
    return (
        f1(count_shared(summary, reference), len(summary), len(reference))
        + f1(count_shared(bigrams, reference_bigrams), len(summary) - 1, len(reference) - 1)
        + f1(longest_common(summary, reference), len(summary), len(reference))
    ) / 3


def compute_rewards(summaries, references):
    """Pad lists of ids and return their rewards."""

    def padded(rows):
        size = max(map(len, rows)) + 1
        return torch.tensor([[*row, *[PAD] * (size - len(row))] for row in rows])

    def lengths(rows):
        return torch.tensor([len(row) for row in rows])

    return overlap_reward(
        padded(summaries), lengths(summaries), padded(references), lengths(references)
    ).tolist()


@given(st.lists(st.tuples(WORDS, WORDS), min_size=1, max_size=4))
def test_reward_is_mean_of_three_measures(rows):
    summaries, references = zip(*rows, strict=True)
    expected = [slow_reward(list(left), list(right)) for left, right in rows]
    assert compute_rewards(summaries, references) == pytest.approx(expected)


def test_unk_never_matches():
    assert compute_rewards([[UNK, 5]], [[UNK, 6]]) == [0.0]


def test_reference_has_reward_one():
    assert compute_rewards([[5, 6, 5]], [[5, 6, 5]]) == [1.0]


def test_longest_reference_has_reward_one():
    ids = torch.arange(10, 72)[None]  # 62 words, as config.validation allows
    reference = torch.cat([ids, torch.tensor([[EOS]])], 1)
    lengths = torch.tensor([62])
    assert overlap_reward(ids, lengths, reference, lengths).item() == 1.0
