import pytest
from hypothesis import given
from hypothesis import strategies as st

from readagain.errors import ConfigError
from readagain.search.batching import cut_by_length, in_batches

lengths = st.lists(st.integers(0, 30), max_size=60)
LIMITS = {"length": len, "max_words": 20, "max_items": 4, "window": 7}


@given(lengths, st.integers(1, 40), st.integers(1, 8))
def test_every_place_stands_in_one_batch_within_the_limits(lengths, max_words, max_items):
    batches = list(cut_by_length(lengths, max_words, max_items))
    assert sorted(place for batch in batches for place in batch) == list(range(len(lengths)))
    for batch in batches:
        assert len(batch) <= max_items
        longest = max(lengths[place] for place in batch)
        assert len(batch) == 1 or len(batch) * longest <= max_words


@given(st.lists(st.text("ab", max_size=12), max_size=60))
def test_results_come_in_the_order_of_the_items(items):
    results = in_batches(items, lambda batch: [item.upper() for item in batch], **LIMITS)
    assert list(results) == [item.upper() for item in items]


def test_items_of_like_length_go_together():
    seen = []

    def work(batch):
        seen.append([len(item) for item in batch])
        return batch

    items = ["a" * n for n in (1, 9, 2, 8, 3)]
    list(in_batches(items, work, **LIMITS))
    assert seen == [[9, 8], [3, 2, 1]]


def test_a_stream_is_read_no_further_than_one_window():
    read = 0

    def endless():
        nonlocal read
        while True:
            read += 1
            yield "ab"

    results = in_batches(endless(), lambda batch: batch, **LIMITS)
    for _ in range(10):
        next(results)
    assert read == 14


def test_a_lost_result_is_noticed():
    with pytest.raises(ValueError, match="shorter"):
        list(in_batches(["a", "b"], lambda batch: batch[:1], **LIMITS))


@pytest.mark.parametrize("name", ["max_words", "max_items", "window"])
def test_a_limit_of_nothing_is_refused(name):
    with pytest.raises(ConfigError, match=f"{name} is 0; expected 1 or more"):
        list(in_batches(["a"], list, **(LIMITS | {name: 0})))
