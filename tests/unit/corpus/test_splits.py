import random

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from readagain.corpus.settings import PrepareSettings, SplitSize
from readagain.corpus.splits import (
    DEV,
    DUPLICATE,
    IN_DEV,
    IN_TEST,
    NOT_SAMPLED,
    TEST,
    TRAIN,
    choose_splits,
    count_dropped,
)
from readagain.errors import ConfigError


def splits_of(texts, pairs, splits, **settings):
    """Return the split of each pair, given its hashes and the split of its input."""
    return choose_splits(
        np.array(texts, np.uint64),
        np.array(pairs, np.uint64),
        np.array(splits, np.int8),
        PrepareSettings(**settings),
    ).tolist()


def test_duplicate_filter_keeps_first_pair():
    splits = splits_of([1, 2, 1, 1], [10, 20, 10, 11], [TRAIN] * 4)
    assert splits == [TRAIN, TRAIN, DUPLICATE, TRAIN]


def test_duplicates_are_kept_without_filter():
    assert splits_of([1, 1], [10, 10], [TRAIN] * 2, filters=()) == [TRAIN, TRAIN]


def test_texts_of_dev_and_test_inputs_are_dropped_elsewhere():
    texts = [1, 2, 3, 4, 2, 3, 3, 5]
    splits = [TRAIN] * 4 + [DEV] * 2 + [TEST] * 2
    expected = [TRAIN, IN_DEV, IN_TEST, TRAIN, DEV, IN_TEST, TEST, TEST]
    assert splits_of(texts, range(8), splits) == expected


def test_dev_input_keeps_duplicates():
    assert splits_of([1, 1], [10, 10], [DEV] * 2) == [DEV, DEV]


def test_split_size_in_pairs_takes_whole_texts():
    texts = [5, 1, 1, 9, 2]
    assert splits_of(texts, range(5), [TRAIN] * 5, dev=SplitSize(pairs=3)) == [
        TRAIN,
        DEV,
        DEV,
        TRAIN,
        DEV,
    ]
    # The text with hash 1 has two pairs, which must stay together.
    assert splits_of(texts, range(5), [TRAIN] * 5, dev=SplitSize(pairs=1)) == [TRAIN] * 5


@pytest.mark.parametrize(("num_pairs", "num_dev"), [(5, 1), (40, 4), (400, 10)])
def test_split_size_in_pairs_is_limited_by_share(num_pairs, num_dev):
    size = SplitSize(pairs=10, max_share=0.1)
    splits = splits_of(range(num_pairs), range(num_pairs), [TRAIN] * num_pairs, dev=size)
    assert splits.count(DEV) == num_dev


def test_split_share_is_taken_by_text_hash():
    texts = [0, 2**63, 2**62, 2**64 - 1]
    splits = splits_of(
        texts, range(4), [TRAIN] * 4, dev=SplitSize(share=0.26), test=SplitSize(share=0.1)
    )
    assert splits == [DEV, TRAIN, DEV, TEST]


def test_sample_keeps_some_dev_and_test_pairs():
    input_splits = [TRAIN] * 10 + [DEV] * 10 + [TEST] * 3

    def sample_splits(**settings):
        return splits_of(range(23), range(23), input_splits, sample=4, **settings)

    splits = sample_splits()
    assert [splits.count(split) for split in (TRAIN, DEV, TEST, NOT_SAMPLED)] == [10, 4, 3, 6]
    sample = sorted(random.Random(1).sample(range(10), 4))  # as `evaluate --sample` does
    assert [index - 10 for index, split in enumerate(splits) if split == DEV] == sample
    assert sample_splits() == splits
    assert sample_splits(seed=2) != splits


def test_negative_sample_is_rejected():
    with pytest.raises(ConfigError, match="sample is -1; expected 0 or more"):
        PrepareSettings(sample=-1)


def test_count_dropped_counts_by_reason():
    codes = np.array([TRAIN, DUPLICATE, DUPLICATE, IN_TEST], np.int8)
    assert count_dropped(codes) == {"duplicate": 2, "text-in-test": 1}


@settings(deadline=None)  # a busy machine may be slow
@given(
    rows=st.lists(
        st.tuples(
            st.integers(0, 6) | st.integers(0, 2**64 - 1),
            st.integers(0, 3),
            st.sampled_from([TRAIN, DEV, TEST]),
        ),
        max_size=40,
    ),
    num_dev_pairs=st.integers(0, 5),
    test_share=st.floats(0, 0.9),
)
def test_no_text_is_in_two_splits(rows, num_dev_pairs, test_share):
    texts, headlines, input_splits = zip(*rows, strict=True) if rows else ((), (), ())
    pairs = [hash(pair) % 2**64 for pair in zip(texts, headlines, strict=True)]
    sizes = {"dev": SplitSize(pairs=num_dev_pairs), "test": SplitSize(share=test_share)}
    split_of_text = {}
    for text, split in zip(texts, splits_of(texts, pairs, input_splits, **sizes), strict=True):
        if split >= 0:  # not dropped
            assert split_of_text.setdefault(text, split) == split


@pytest.mark.parametrize(
    ("sizes", "message"),
    [
        ({"dev": {"pairs": -1}}, "dev_pairs is -1; expected 0 or more"),
        ({"test": {"share": 1.5}}, "test_share is 1.5; expected at least 0 and below 1"),
        ({"dev": {"pairs": 3, "share": 0.1}}, "dev_pairs and dev_share both set"),
        ({"dev": {"share": 0.5}, "test": {"share": 0.5}}, "leave nothing to train on"),
    ],
)
def test_invalid_split_sizes_are_rejected(sizes, message):
    with pytest.raises(ConfigError, match=message):
        PrepareSettings(**{split: SplitSize(**size) for split, size in sizes.items()})


def test_unknown_on_error_is_rejected():
    with pytest.raises(ConfigError, match="on_error is 'ignore'; expected stop or skip"):
        PrepareSettings(on_error="ignore")


def test_zero_max_sentences_is_rejected():
    with pytest.raises(ConfigError, match="max_sentences is 0; expected 1 or more"):
        PrepareSettings(max_sentences=0)
