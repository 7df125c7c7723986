"""Batches of similar length, processed serially or in threads."""

import subprocess
import sys
import threading
import time
from itertools import count

import pytest
from hypothesis import given
from hypothesis import strategies as st

from readagain.errors import DataError
from readagain.search.batching import bucketed_batches, split_by_length

lengths = st.lists(st.integers(0, 30), max_size=60)
LIMITS = {"length": len, "max_words": 20, "max_items": 4, "window": 7}


@given(lengths, st.integers(1, 40), st.integers(1, 8))
def test_split_by_length_covers_all_items_within_limits(lengths, max_words, max_items):
    batches = list(split_by_length(lengths, max_words, max_items))
    assert sorted(index for batch in batches for index in batch) == list(range(len(lengths)))
    for batch in batches:
        assert len(batch) <= max_items
        longest = max(lengths[index] for index in batch)
        assert len(batch) == 1 or len(batch) * longest <= max_words


@given(st.lists(st.text("ab", max_size=12), max_size=60))
def test_batches_yield_results_in_input_order(items):
    results = bucketed_batches(items, lambda batch: [item.upper() for item in batch], **LIMITS)
    assert list(results) == [item.upper() for item in items]


def test_batches_group_items_of_similar_length():
    sizes_seen = []

    def process_batch(batch):
        sizes_seen.append([len(item) for item in batch])
        return batch

    items = ["a" * n for n in (1, 9, 2, 8, 3)]
    list(bucketed_batches(items, process_batch, **LIMITS))
    assert sizes_seen == [[9, 8], [3, 2, 1]]


def test_batches_read_at_most_one_window_ahead():
    num_read = 0

    def endless():
        nonlocal num_read
        while True:
            num_read += 1
            yield "ab"

    results = bucketed_batches(endless(), lambda batch: batch, **LIMITS)
    for _ in range(10):
        next(results)
    assert num_read == 14  # two windows of 7 items


@pytest.mark.parametrize("num_items", [3, 7, 9])
def test_batches_yield_results_before_a_stream_error(num_items):
    def stream():
        yield from "abcdefghi"[:num_items]
        raise DataError("truncated")

    results = bucketed_batches(stream(), lambda batch: batch, **LIMITS)
    assert [next(results) for _ in range(num_items)] == list("abcdefghi"[:num_items])
    with pytest.raises(DataError, match="truncated"):
        next(results)


def test_batches_reject_a_missing_result():
    with pytest.raises(ValueError, match="shorter"):
        list(bucketed_batches(["a", "b"], lambda batch: batch[:1], **LIMITS))


def in_two_threads(process_batch, items, **limits):
    """Call `bucketed_batches` with two threads; fail if a window is processed without them."""

    def process_serially(batch):
        raise AssertionError("processed without threads")

    return bucketed_batches(
        items,
        process_serially,
        **(LIMITS | limits),
        num_threads=2,
        process_in_thread=process_batch,
    )


@given(st.lists(st.text("ab", max_size=9), max_size=60), st.integers(2, 4))
def test_parallel_batches_give_equal_results(items, num_threads):
    def process_batch(batch):
        return [item.upper() for item in batch]

    results = bucketed_batches(items, process_batch, **LIMITS, num_threads=num_threads)
    assert list(results) == [item.upper() for item in items]


def test_parallel_batches_run_at_the_same_time():
    both_threads = threading.Barrier(2, timeout=10)

    def process_batch(batch):
        both_threads.wait()
        return batch

    assert list(in_two_threads(process_batch, ["a", "b", "c", "d"])) == ["a", "b", "c", "d"]


@pytest.mark.parametrize(
    ("num_items", "sizes"),
    [(4, [2, 2]), (5, [3, 2]), (7, [4, 3]), (11, [3, 3, 3, 2]), (16, [4, 4, 4, 4])],
)
def test_parallel_batches_split_items_evenly(num_items, sizes):
    sizes_seen = []

    def process_batch(batch):
        sizes_seen.append(len(batch))
        return batch

    list(in_two_threads(process_batch, ["a"] * num_items, window=20))
    assert sorted(sizes_seen, reverse=True) == sizes


def test_small_windows_run_serially():
    def process_in_thread(batch):
        raise AssertionError("processed in a thread")

    items = ["a", "b", "c"]
    results = bucketed_batches(
        items, list, **LIMITS, num_threads=2, process_in_thread=process_in_thread
    )
    assert list(results) == items


def test_long_items_run_in_parallel():
    assert list(in_two_threads(list, ["a" * 20, "b" * 20])) == ["a" * 20, "b" * 20]


def test_parallel_failure_is_raised_and_stops_the_queue():
    started_batches = []
    has_failed = threading.Event()

    def process_batch(batch):
        started_batches.append(batch)
        if batch[0] == "first":
            has_failed.set()
            raise DataError("the first batch fails")
        has_failed.wait(10)
        time.sleep(0.05)
        return batch

    items = ["first", *"abcdefghijklmno"]
    results = in_two_threads(process_batch, items, max_items=1, window=16)
    with pytest.raises(DataError, match="the first batch fails"):
        next(results)
    assert len(started_batches) <= 2
    assert list(results) == []


def test_first_of_two_failed_batches_is_reported():
    both_threads = threading.Barrier(2, timeout=10)

    def process_batch(batch):
        both_threads.wait()
        raise DataError(f"{batch[0]} fails")

    with pytest.raises(DataError, match="bbb fails"):
        list(in_two_threads(process_batch, ["aa", "bbb"], max_items=1))


def test_interrupt_stops_all_threads():
    started_batches = []
    threads_before = threading.enumerate()
    is_interrupted = threading.Event()

    def process_batch(batch):
        started_batches.append(batch)
        if threading.current_thread() is threading.main_thread():
            is_interrupted.set()
            raise KeyboardInterrupt
        is_interrupted.wait(10)
        time.sleep(0.05)
        return batch

    with pytest.raises(KeyboardInterrupt):
        list(in_two_threads(process_batch, ["a"] * 16, max_items=1, window=16))
    assert len(started_batches) <= 2
    assert threading.enumerate() == threads_before


def test_no_thread_runs_while_results_are_consumed():
    threads_before = threading.enumerate()
    results = in_two_threads(list, ["a"] * 30)
    next(results)
    assert threading.enumerate() == threads_before


def test_parallel_batches_read_one_window_ahead():
    num_read = count()
    results = in_two_threads(list, ("ab" for _ in num_read))
    for _ in range(10):
        next(results)
    assert next(num_read) == 14  # two windows of 7 items


def test_parallel_batches_work_after_the_main_thread_ended():
    script = """
import threading
from readagain.search.batching import bucketed_batches

def read():
    threading.main_thread().join()
    limits = {"length": len, "max_words": 9, "max_items": 4, "window": 8}
    print(*bucketed_batches("abcdefgh", list, **limits, num_threads=2, process_in_thread=list))

threading.Thread(target=read).start()
"""
    process = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True)
    assert (process.stdout, process.stderr) == ("a b c d e f g h\n", "")


def test_window_ends_early_at_its_maximum_size():
    num_read, num_read_at_batch = 0, []

    def stream():
        nonlocal num_read
        for item in ["aaaa", "b", "cccccc", "d", "e"]:
            num_read += 1
            yield item

    def process_batch(batch):
        num_read_at_batch.append(num_read)
        return batch

    limits = {"max_words": 100, "max_items": 8, "window": 8}
    results = bucketed_batches(stream(), process_batch, length=len, size=len, max_size=5, **limits)
    assert list(results) == ["aaaa", "b", "cccccc", "d", "e"]
    assert num_read_at_batch == [2, 3, 5]
