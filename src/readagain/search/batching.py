"""Batches of like length, and results in the order that things came in."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import islice
from typing import TypeVar

from readagain.errors import ConfigError

Item = TypeVar("Item")
Result = TypeVar("Result")


def in_batches(
    items: Iterable[Item],
    work: Callable[[list[Item]], Sequence[Result]],
    *,
    length: Callable[[Item], int],
    max_words: int,
    max_items: int,
    window: int,
) -> Iterator[Result]:
    """Do the work batch by batch, items of like length together, and yield results in order.

    Only `window` items are held at a time, so a stream of any length takes bounded memory. An
    item longer than `max_words` makes a batch of its own.

    Args:
        items: what comes in, read as far as needed.
        work: answers a batch with one result for each item, in order.
        length: the words of an item, padding that it brings itself included.
        max_words: the most words of a batch, every item counted as long as the longest.
        max_items: the most items of a batch.
        window: how many items are sorted together; more means less padding and more memory.
    """
    for name, value in (("max_words", max_words), ("max_items", max_items), ("window", window)):
        if value < 1:
            raise ConfigError(f"{name} is {value}; expected 1 or more")
    stream = iter(items)
    while held := list(islice(stream, window)):
        results: dict[int, Result] = {}
        for places in cut_by_length([length(item) for item in held], max_words, max_items):
            answers = work([held[place] for place in places])
            results.update(zip(places, answers, strict=True))
        yield from (results[place] for place in range(len(held)))


def cut_by_length(lengths: Sequence[int], max_words: int, max_items: int) -> Iterator[list[int]]:
    """Sort places by length, longest first, and cut them into batches.

    The longest come first, so that a batch which does not fit into memory fails at once.

    >>> list(cut_by_length([2, 9, 3, 8], max_words=18, max_items=8))
    [[1, 3], [2, 0]]
    """
    batch: list[int] = []
    for place in sorted(range(len(lengths)), key=lambda place: (-lengths[place], place)):
        longest = lengths[batch[0]] if batch else lengths[place]
        if batch and (len(batch) == max_items or (len(batch) + 1) * longest > max_words):
            yield batch
            batch = []
        batch.append(place)
    if batch:
        yield batch
