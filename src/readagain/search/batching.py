"""Batches of like length, and results in the order that things came in."""

from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from threading import Thread
from typing import Generic, TypeVar

from readagain.errors import ConfigError

Item = TypeVar("Item")
Result = TypeVar("Result")
Work = Callable[[list[Item]], Sequence[Result]]


@dataclass(frozen=True)
class ParallelBatches(Generic[Item, Result]):
    """Threads that work on batches side by side.

    Args:
        count: how many.
        work: answers a batch as `bucketed_batches` says, in any of them.
    """

    count: int
    work: Work[Item, Result]


def bucketed_batches(
    items: Iterable[Item],
    work: Work[Item, Result],
    *,
    length: Callable[[Item], int],
    max_words: int,
    max_items: int,
    window: int,
    lanes: ParallelBatches[Item, Result] | None = None,
) -> Iterator[Result]:
    """Do the work batch by batch, items of like length together, and yield results in order.

    Only `window` items are held at a time, so a stream of any length takes bounded memory. An
    item longer than `max_words` makes a batch of its own. Items are read, and results given, only
    while no lane is at work. What reading raises is raised after the results of the items before.

    Args:
        items: what comes in, read as far as needed.
        work: answers a batch with one result for each item, in order.
        length: the words of an item, padding that it brings itself included.
        max_words: the most words of a batch, every item counted as long as the longest.
        max_items: the most items of a batch.
        window: how many items are sorted together; more means less padding and more memory.
        lanes: who works on a window that gives each of them half a batch at least; else, and
            unless given, batches are worked on one after the other.
    """
    for name, value in (("max_words", max_words), ("max_items", max_items), ("window", window)):
        if value < 1:
            raise ConfigError(f"{name} is {value}; expected 1 or more")
    stream = iter(items)
    failure = None
    while failure is None:
        held, failure = _read(stream, window)
        if not held:
            break
        lengths = [length(item) for item in held]
        cut = list(cut_by_length(lengths, max_words, max_items))
        if lanes is None or max(len(cut), 2 * len(held) // max_items) < lanes.count:
            answers: Iterable[Sequence[Result]] = map(work, _take(held, cut))
        else:
            num_batches = -(-len(cut) // lanes.count) * lanes.count  # for each lane as many
            cut = list(cut_by_length(lengths, max_words, -(-len(held) // num_batches)))
            answers = _side_by_side(_take(held, cut), lanes)
        results: dict[int, Result] = {}
        for places, of_batch in zip(cut, answers, strict=True):
            results.update(zip(places, of_batch, strict=True))
        yield from (results[place] for place in range(len(held)))
    if failure is not None:
        raise failure


def _read(stream: Iterator[Item], most: int) -> tuple[list[Item], Exception | None]:
    """Read the next items, and what kept the stream from giving more of them."""
    held: list[Item] = []
    try:
        for item in islice(stream, most):
            held.append(item)
    except Exception as error:
        return held, error
    return held, None


def _take(held: Sequence[Item], cut: Sequence[Sequence[int]]) -> list[list[Item]]:
    return [[held[place] for place in places] for places in cut]


def _side_by_side(
    batches: Sequence[list[Item]], lanes: ParallelBatches[Item, Result]
) -> list[Sequence[Result]]:
    """Answer batches in several threads, this one among them; each takes the next that waits.

    What fails first in the order of the batches is raised, once every thread has stopped: after
    the batch it is at. Threads, not an executor, which would take no work any more from a thread
    that outlives the main one.
    """
    answers: dict[int, Sequence[Result]] = {}
    failures: dict[int, BaseException] = {}
    waiting = deque(enumerate(batches))

    def take_batches() -> None:
        while True:
            try:
                number, batch = waiting.popleft()
            except IndexError:
                return
            try:
                answers[number] = lanes.work(batch)
            except BaseException as error:  # raised below, by the thread that waits for all
                failures[number] = error
                waiting.clear()

    others = [Thread(target=take_batches) for _ in range(lanes.count - 1)]
    try:
        for thread in others:
            thread.start()
        take_batches()
        for thread in others:
            thread.join()
    finally:
        waiting.clear()  # interrupted, nobody begins another
    if failures:
        raise failures[min(failures)]
    return [answers[number] for number in range(len(batches))]


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
