"""Length buckets: each pair fits its bucket, with minimal padding."""

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from readagain.training.batch import Bucket, assign_buckets

LENGTHS = st.lists(st.tuples(st.integers(0, 12), st.integers(1, 8)), min_size=1, max_size=30)


@given(LENGTHS, st.integers(1, 30))
def test_buckets_contain_every_pair_once(lengths, max_buckets):
    source, summary = np.array(lengths).T
    found = assign_buckets(source, summary, max_buckets=max_buckets)
    assert 1 <= len(found) <= max_buckets
    assert sorted(np.concatenate([members for _, members in found])) == list(range(len(lengths)))
    for bucket, members in found:
        assert list(members) == sorted(members)
        assert source[members].max() == bucket.source_words
        assert summary[members].max() <= bucket.summary_words


def padded_words(lengths, sizes):
    return sum(min(size for size in sizes if size >= length) for length in lengths)


def least_padded_words(lengths, max_groups):
    """Return the minimum over all choices of maximum lengths."""
    *inner, longest = sorted(set(lengths))
    return min(
        padded_words(lengths, [*sizes, longest])
        for count in range(min(max_groups, len(inner) + 1))
        for sizes in combinations(inner, count)
    )


# If all summaries have one length, there are at most √max_buckets groups of source lengths, and
# vice versa.
@given(st.lists(st.integers(0, 9), min_size=1, max_size=25), st.integers(1, 6))
def test_buckets_have_least_padding_of_sources(lengths, max_groups):
    found = assign_buckets(np.array(lengths), np.ones_like(lengths), max_buckets=max_groups**2)
    sizes = {bucket.source_words for bucket, _ in found}
    assert padded_words(lengths, sizes) == least_padded_words(lengths, max_groups)


@given(st.lists(st.integers(1, 9), min_size=1, max_size=25), st.integers(1, 6))
def test_buckets_have_least_padding_of_summaries(lengths, max_groups):
    found = assign_buckets(np.ones_like(lengths), np.array(lengths), max_buckets=max_groups**2)
    sizes = {bucket.summary_words for bucket, _ in found}
    assert padded_words(lengths, sizes) == least_padded_words(lengths, max_groups)


@pytest.mark.parametrize("max_buckets", [1, 2, 3])
def test_fewer_than_four_buckets_split_sources_only(max_buckets):
    found = assign_buckets(np.array([3, 9, 9]), np.array([2, 5, 1]), max_buckets=max_buckets)
    assert {bucket.summary_words for bucket, _ in found} == {5}
    assert len(found) == min(max_buckets, 2)


def test_buckets_equal_hand_computed_shapes():
    found = assign_buckets(np.array([2, 10, 2, 10]), np.array([1, 1, 6, 6]), max_buckets=4)
    assert [(bucket, list(members)) for bucket, members in found] == [
        (Bucket(2, 1), [0]),
        (Bucket(10, 1), [1]),
        (Bucket(2, 6), [2]),
        (Bucket(10, 6), [3]),
    ]
