import subprocess
import sys
import threading
import time
from itertools import count

import pytest
from hypothesis import given
from hypothesis import strategies as st

from readagain.errors import ConfigError, DataError
from readagain.search.batching import ParallelBatches, bucketed_batches, cut_by_length

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
    results = bucketed_batches(items, lambda batch: [item.upper() for item in batch], **LIMITS)
    assert list(results) == [item.upper() for item in items]


def test_items_of_like_length_go_together():
    seen = []

    def work(batch):
        seen.append([len(item) for item in batch])
        return batch

    items = ["a" * n for n in (1, 9, 2, 8, 3)]
    list(bucketed_batches(items, work, **LIMITS))
    assert seen == [[9, 8], [3, 2, 1]]


def test_a_stream_is_read_no_further_than_one_window():
    read = 0

    def endless():
        nonlocal read
        while True:
            read += 1
            yield "ab"

    results = bucketed_batches(endless(), lambda batch: batch, **LIMITS)
    for _ in range(10):
        next(results)
    assert read == 14


@pytest.mark.parametrize("given", [3, 7, 9])
def test_what_was_given_before_a_stream_failed_is_answered_before_its_error(given):
    def stream():
        yield from "abcdefghi"[:given]
        raise DataError("cut short")

    results = bucketed_batches(stream(), lambda batch: batch, **LIMITS)
    assert [next(results) for _ in range(given)] == list("abcdefghi"[:given])
    with pytest.raises(DataError, match="cut short"):
        next(results)


def test_a_lost_result_is_noticed():
    with pytest.raises(ValueError, match="shorter"):
        list(bucketed_batches(["a", "b"], lambda batch: batch[:1], **LIMITS))


@pytest.mark.parametrize("name", ["max_words", "max_items", "window"])
def test_a_limit_of_nothing_is_refused(name):
    with pytest.raises(ConfigError, match=f"{name} is 0; expected 1 or more"):
        list(bucketed_batches(["a"], list, **(LIMITS | {name: 0})))


def in_two_lanes(work, items, **changes):
    def alone(batch):
        raise AssertionError("worked on outside of lanes")

    return bucketed_batches(items, alone, **(LIMITS | changes), lanes=ParallelBatches(2, work))


@given(st.lists(st.text("ab", max_size=9), max_size=60), st.integers(2, 4))
def test_lanes_change_nothing(items, count):
    def work(batch):
        return [item.upper() for item in batch]

    results = bucketed_batches(items, work, **LIMITS, lanes=ParallelBatches(count, work))
    assert list(results) == [item.upper() for item in items]


def test_two_batches_are_worked_on_at_once():
    both = threading.Barrier(2, timeout=10)

    def work(batch):
        both.wait()
        return batch

    assert list(in_two_lanes(work, ["a", "b", "c", "d"])) == ["a", "b", "c", "d"]


@pytest.mark.parametrize(
    ("num_items", "sizes"),
    [(4, [2, 2]), (5, [3, 2]), (7, [4, 3]), (11, [3, 3, 3, 2]), (16, [4, 4, 4, 4])],
)
def test_lanes_share_the_items_evenly(num_items, sizes):
    seen = []

    def work(batch):
        seen.append(len(batch))
        return batch

    list(in_two_lanes(work, ["a"] * num_items, window=20))
    assert sorted(seen, reverse=True) == sizes


def test_what_gives_each_lane_less_than_half_a_batch_is_worked_on_alone():
    def in_lane(batch):
        raise AssertionError("worked on in a lane")

    items = ["a", "b", "c"]
    assert list(bucketed_batches(items, list, **LIMITS, lanes=ParallelBatches(2, in_lane))) == items


def test_long_items_that_make_a_batch_each_are_worked_on_in_lanes():
    assert list(in_two_lanes(list, ["a" * 20, "b" * 20])) == ["a" * 20, "b" * 20]


def test_what_fails_in_a_lane_is_raised_and_nothing_else_is_begun():
    begun = []
    is_raised = threading.Event()

    def work(batch):
        begun.append(batch)
        if batch[0] == "first":
            is_raised.set()
            raise DataError("the first batch fails")
        is_raised.wait(10)  # until there has been time to stop
        time.sleep(0.05)
        return batch

    items = ["first", *"abcdefghijklmno"]
    results = in_two_lanes(work, items, max_items=1, window=16)
    with pytest.raises(DataError, match="the first batch fails"):
        next(results)
    assert len(begun) <= 2
    assert list(results) == []


def test_of_several_failures_the_first_batch_s_is_raised():
    both = threading.Barrier(2, timeout=10)

    def work(batch):
        both.wait()
        raise DataError(f"{batch[0]} fails")

    with pytest.raises(DataError, match="bbb fails"):
        list(in_two_lanes(work, ["aa", "bbb"], max_items=1))


def test_an_interrupt_ends_all_lanes():
    begun = []
    before = threading.enumerate()
    is_interrupted = threading.Event()

    def work(batch):
        begun.append(batch)
        if threading.current_thread() is threading.main_thread():
            is_interrupted.set()
            raise KeyboardInterrupt
        is_interrupted.wait(10)
        time.sleep(0.05)
        return batch

    with pytest.raises(KeyboardInterrupt):
        list(in_two_lanes(work, ["a"] * 16, max_items=1, window=16))
    assert len(begun) <= 2
    assert threading.enumerate() == before


def test_no_thread_is_left_while_results_are_taken():
    before = threading.enumerate()
    results = in_two_lanes(list, ["a"] * 30)
    next(results)
    assert threading.enumerate() == before


def test_a_stream_in_lanes_is_read_no_further_than_one_window():
    read = count()
    results = in_two_lanes(list, ("ab" for _ in read))
    for _ in range(10):
        next(results)
    assert next(read) == 14


def test_a_thread_that_outlives_the_main_one_may_use_lanes():
    script = """
import threading
from readagain.search.batching import Lanes, in_batches

def read():
    threading.main_thread().join()
    limits = {"length": len, "max_words": 9, "max_items": 4, "window": 8}
    print(*in_batches("abcdefgh", list, **limits, lanes=Lanes(2, list)))

threading.Thread(target=read).start()
"""
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True)
    assert (done.stdout, done.stderr) == ("a b c d e f g h\n", "")
