"""Batches of similar length, processed serially or in threads, with results in input order."""

from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from itertools import islice
from math import ceil
from threading import Thread
from typing import TypeVar

Item = TypeVar("Item")
Result = TypeVar("Result")
Process = Callable[[list[Item]], Sequence[Result]]


def bucketed_batches(
    items: Iterable[Item],
    process: Process[Item, Result],
    *,
    length: Callable[[Item], int],
    max_words: int,
    max_items: int,
    window: int,
    num_threads: int = 1,
    process_in_thread: Process[Item, Result] | None = None,
) -> Iterator[Result]:
    """Process items in batches of similar length and yield the results in input order.

    At most `window` items are in memory. An item longer than `max_words` is a batch of its own.
    Items are read and results are yielded only while no thread is running. If reading `items`
    fails, the results of the preceding items are yielded first, then the exception is raised.

    Args:
        items: items, read lazily.
        process: function that returns one result per item of a batch, in order.
        length: number of words of an item, including its padding.
        max_words: maximum number of words of a batch, including padding.
        max_items: maximum number of items of a batch.
        window: number of items sorted together.
        num_threads: number of threads that process batches in parallel. They are used only if a
            window has enough items for at least half a batch per thread.
        process_in_thread: thread-safe function used instead of `process` in these threads.
    """
    stream = iter(items)
    failure = None
    while failure is None:
        loaded, failure = _read(stream, window)
        if not loaded:
            break
        lengths = [length(item) for item in loaded]
        batches = list(split_by_length(lengths, max_words, max_items))
        num_half_batches = 2 * len(loaded) // max_items
        if num_threads == 1 or max(len(batches), num_half_batches) < num_threads:
            outputs: Iterable[Sequence[Result]] = map(process, _select(loaded, batches))
        else:
            # Round up to a multiple of the number of threads, so that all are busy until the end.
            num_batches = ceil(len(batches) / num_threads) * num_threads
            batches = list(split_by_length(lengths, max_words, ceil(len(loaded) / num_batches)))
            outputs = _process_parallel(
                _select(loaded, batches), process_in_thread or process, num_threads
            )
        results: dict[int, Result] = {}
        for indices, output in zip(batches, outputs, strict=True):
            results.update(zip(indices, output, strict=True))
        yield from (results[index] for index in range(len(loaded)))
    if failure is not None:
        raise failure


def _read(stream: Iterator[Item], count: int) -> tuple[list[Item], Exception | None]:
    """Read up to `count` items; return them and the exception that stopped the stream, if any."""
    loaded: list[Item] = []
    try:
        for item in islice(stream, count):
            loaded.append(item)
    except Exception as error:
        return loaded, error
    return loaded, None


def _select(loaded: Sequence[Item], batches: Sequence[Sequence[int]]) -> list[list[Item]]:
    return [[loaded[index] for index in batch] for batch in batches]


def _process_parallel(
    batches: Sequence[list[Item]], process: Process[Item, Result], num_threads: int
) -> list[Sequence[Result]]:
    """Process batches in several threads, including the current one.

    After an exception each thread finishes its batch; then the exception of the first failed batch
    is raised. `ThreadPoolExecutor` is not used, since it fails after the main thread has ended.
    """
    outputs: dict[int, Sequence[Result]] = {}
    failures: dict[int, BaseException] = {}
    queue = deque(enumerate(batches))

    def process_queue() -> None:
        while True:
            try:
                number, batch = queue.popleft()
            except IndexError:
                return
            try:
                outputs[number] = process(batch)
            except BaseException as error:  # raised below in the calling thread
                failures[number] = error
                queue.clear()

    threads: list[Thread] = []
    try:
        # Python 3.12 starts no thread after the main thread has ended; this one then does all.
        with suppress(RuntimeError):
            for _ in range(num_threads - 1):
                thread = Thread(target=process_queue)
                thread.start()
                threads.append(thread)
        process_queue()
        for thread in threads:
            thread.join()
    finally:
        queue.clear()  # after an interrupt, no thread starts another batch
    if failures:
        raise failures[min(failures)]
    return [outputs[number] for number in range(len(batches))]


def split_by_length(lengths: Sequence[int], max_words: int, max_items: int) -> Iterator[list[int]]:
    """Sort indices by length and split them into batches.

    The longest come first, so that a batch that is too large for the memory fails early.

    >>> list(split_by_length([2, 9, 3, 8], max_words=18, max_items=8))
    [[1, 3], [2, 0]]
    """
    batch: list[int] = []
    for index in sorted(range(len(lengths)), key=lambda index: (-lengths[index], index)):
        longest = lengths[batch[0]] if batch else lengths[index]
        if batch and (len(batch) == max_items or (len(batch) + 1) * longest > max_words):
            yield batch
            batch = []
        batch.append(index)
    if batch:
        yield batch
