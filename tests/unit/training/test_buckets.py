"""Length buckets: each pair fits its bucket, with the least padding."""

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from readagain.training.buckets import Bucket, assign_buckets

LENGTHS = st.lists(st.tuples(st.integers(0, 12), st.integers(1, 8)), min_size=1, max_size=30)


@given(LENGTHS, st.integers(1, 30))
def test_buckets_contain_every_pair_once(lengths, most):
    source, summary = np.array(lengths).T
    found = assign_buckets(source, summary, max_buckets=most)
    assert 1 <= len(found) <= most
    assert sorted(np.concatenate([members for _, members in found])) == list(range(len(lengths)))
    for bucket, members in found:
        assert list(members) == sorted(members)
        assert source[members].max() == bucket.source_words
        assert summary[members].max() <= bucket.summary_words


def padded_words(lengths, edges):
    return sum(min(edge for edge in edges if edge >= length) for length in lengths)


def least_padded_words(lengths, num_pieces):
    """Try every choice of edges."""
    *inner, longest = sorted(set(lengths))
    return min(
        padded_words(lengths, [*edges, longest])
        for count in range(min(num_pieces, len(inner) + 1))
        for edges in combinations(inner, count)
    )


# Where one side has a single length, the other is cut into the square root of `most` pieces.
@given(st.lists(st.integers(0, 9), min_size=1, max_size=25), st.integers(1, 6))
def test_buckets_have_least_padding_of_sources(lengths, num_pieces):
    found = assign_buckets(np.array(lengths), np.ones_like(lengths), max_buckets=num_pieces**2)
    edges = {bucket.source_words for bucket, _ in found}
    assert padded_words(lengths, edges) == least_padded_words(lengths, num_pieces)


@given(st.lists(st.integers(1, 9), min_size=1, max_size=25), st.integers(1, 6))
def test_buckets_have_least_padding_of_summaries(lengths, num_pieces):
    found = assign_buckets(np.ones_like(lengths), np.array(lengths), max_buckets=num_pieces**2)
    edges = {bucket.summary_words for bucket, _ in found}
    assert padded_words(lengths, edges) == least_padded_words(lengths, num_pieces)


@pytest.mark.parametrize("most", [1, 2, 3])
def test_fewer_than_four_buckets_split_sources_only(most):
    found = assign_buckets(np.array([3, 9, 9]), np.array([2, 5, 1]), max_buckets=most)
    assert {bucket.summary_words for bucket, _ in found} == {5}
    assert len(found) == min(most, 2)


def test_buckets_equal_hand_computed_shapes():
    found = assign_buckets(np.array([2, 10, 2, 10]), np.array([1, 1, 6, 6]), max_buckets=4)
    assert [(bucket, list(members)) for bucket, members in found] == [
        (Bucket(2, 1), [0]),
        (Bucket(10, 1), [1]),
        (Bucket(2, 6), [2]),
        (Bucket(10, 6), [3]),
    ]
