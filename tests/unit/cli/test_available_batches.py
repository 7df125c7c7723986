"""Batches of the items that have arrived."""

import threading

import pytest

from readagain.cli.summarize import _VALUE_CHARS, _num_chars, available_batches
from readagain.formats.records import InvalidRecord
from readagain.formats.texts import TextRecord


def test_batches_are_complete_and_bounded():
    batches = list(available_batches(range(1000), 64))
    assert [item for batch in batches for item in batch] == list(range(1000))
    assert max(map(len, batches)) <= 64


def test_items_ahead_are_bounded_in_size():
    are_three_read, num_read = threading.Event(), 0

    def items():
        nonlocal num_read
        for num_read in range(1, 1000):
            if num_read == 5:  # 1 was yielded; 2 to 4 are waiting
                are_three_read.set()
            yield num_read

    batches = available_batches(items(), 64, size=lambda item: 10, max_size=20)
    first = next(batches)
    assert are_three_read.wait(timeout=20)
    rest = list(batches)
    assert [item for batch in [first, *rest] for item in batch] == list(range(1, 1000))
    assert max(map(len, [first, *rest])) <= 3


def test_slow_items_come_one_by_one():
    is_received = threading.Event()

    def slow():
        yield "first"
        assert is_received.wait(timeout=20), "the first item was not yielded at once"
        yield "second"

    batches = available_batches(slow(), 64)
    assert next(batches) == ["first"]
    is_received.set()
    assert list(batches) == [["second"]]


def test_fast_items_come_in_full_batches():
    is_first_received, are_four_read = threading.Event(), threading.Event()

    def fast():
        yield 0
        assert is_first_received.wait(timeout=20), "the first item was not yielded at once"
        yield from (1, 2, 3, 4)
        are_four_read.set()
        yield 5

    batches = available_batches(fast(), 4)
    assert next(batches) == [0]
    is_first_received.set()
    assert are_four_read.wait(timeout=20), "four items were not read ahead"
    assert list(batches) == [[1, 2, 3, 4], [5]]


def test_error_is_raised_after_earlier_items():
    def broken():
        yield 1
        raise ValueError("the second cannot be read")

    batches = available_batches(broken(), 8)
    assert next(batches) == [1]
    with pytest.raises(ValueError, match="the second cannot be read"):
        next(batches)


def test_no_items_give_no_batches():
    assert list(available_batches([], 8)) == []


def test_all_values_of_a_record_count():
    record = TextRecord("A storm.", "a.jsonl:1", {"text": "A storm.", "x": {"y": [[], [1, None]]}})
    # The record, its two values, the list under "y" and the four values in it.
    assert _num_chars(record) == len("A storm.") + 8 * _VALUE_CHARS
    row = ["A storm.", ""]
    assert _num_chars(InvalidRecord("a.csv:2", "one field", row)) == 8 + 3 * _VALUE_CHARS
