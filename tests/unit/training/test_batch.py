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
    buckets = assign_buckets(source, summary, max_buckets=max_buckets)
    assert 1 <= len(buckets) <= max_buckets
    assert sorted(np.concatenate([members for _, members in buckets])) == list(range(len(lengths)))
    for bucket, members in buckets:
        assert list(members) == sorted(members)
        assert source[members].max() == bucket.source_words
        assert summary[members].max() <= bucket.summary_words


def padded_words(lengths, sizes):
    """Return the total length of sequences that are padded to the next of the sizes."""
    return sum(min(size for size in sizes if size >= length) for length in lengths)


def least_padded_words(lengths, max_groups):
    """Return the minimum of `padded_words` over all choices of at most `max_groups` sizes."""
    *inner, longest = sorted(set(lengths))
    return min(
        padded_words(lengths, [*sizes, longest])
        for count in range(min(max_groups, len(inner) + 1))
        for sizes in combinations(inner, count)
    )


# With `max_groups ** 2` buckets, there are at most `max_groups` groups of summary lengths, and each
# has at most `max_groups` groups of source lengths.
@given(st.lists(st.integers(0, 9), min_size=1, max_size=25), st.integers(1, 6))
def test_buckets_have_least_padding_of_sources(lengths, max_groups):
    buckets = assign_buckets(np.array(lengths), np.ones_like(lengths), max_buckets=max_groups**2)
    sizes = {bucket.source_words for bucket, _ in buckets}
    assert padded_words(lengths, sizes) == least_padded_words(lengths, max_groups)


@given(st.lists(st.integers(1, 9), min_size=1, max_size=25), st.integers(1, 6))
def test_buckets_have_least_padding_of_summaries(lengths, max_groups):
    buckets = assign_buckets(np.ones_like(lengths), np.array(lengths), max_buckets=max_groups**2)
    sizes = {bucket.summary_words for bucket, _ in buckets}
    assert padded_words(lengths, sizes) == least_padded_words(lengths, max_groups)


@pytest.mark.parametrize("max_buckets", [1, 2, 3])
def test_fewer_than_four_buckets_split_sources_only(max_buckets):
    buckets = assign_buckets(np.array([3, 9, 9]), np.array([2, 5, 1]), max_buckets=max_buckets)
    assert {bucket.summary_words for bucket, _ in buckets} == {5}
    assert len(buckets) == min(max_buckets, 2)


def test_buckets_equal_hand_computed_shapes():
    buckets = assign_buckets(np.array([2, 10, 2, 10]), np.array([1, 1, 6, 6]), max_buckets=4)
    assert [(bucket, list(members)) for bucket, members in buckets] == [
        (Bucket(2, 1), [0]),
        (Bucket(10, 1), [1]),
        (Bucket(2, 6), [2]),
        (Bucket(10, 6), [3]),
    ]
