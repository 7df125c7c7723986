"""Batches of items of similar length, processed serially or in threads."""

from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from itertools import islice
from math import ceil
from threading import Thread
from typing import TypeVar

Item = TypeVar("Item")
Result = TypeVar("Result")
ProcessBatch = Callable[[list[Item]], Sequence[Result]]


def bucketed_batches(
    items: Iterable[Item],
    process_batch: ProcessBatch[Item, Result],
    *,
    length: Callable[[Item], int],
    max_words: int,
    max_items: int,
    window: int,
    size: Callable[[Item], int] = lambda item: 0,
    max_size: int = 0,
    num_threads: int = 1,
    process_in_thread: ProcessBatch[Item, Result] | None = None,
) -> Iterator[Result]:
    """Process items in batches of similar length and yield the results in input order.

    Items are read in windows. A window is sorted by length and split into batches; its results are
    yielded before the next window is read. Threads run only while batches are processed, not while
    items are read or results are yielded. If reading `items` fails, the results of the items before
    the failure are yielded first, then the exception is raised.

    Args:
        items: items, read lazily.
        process_batch: function that returns one result per item of a batch, in order.
        length: function that returns the number of words of an item, including its padding.
        max_words: maximum number of words of a batch, including padding. A longer item is a batch
            of its own.
        max_items: maximum number of items of a batch.
        window: number of items that are in memory at the same time.
        size: function that returns the size of an item in memory, in any unit.
        max_size: a window ends early when its items together have at least this size.
        num_threads: number of threads that process the batches of a window in parallel. A window
            is processed without threads if it has fewer batches than threads and less than
            `max_items / 2` items per thread.
        process_in_thread: thread-safe function to use with threads (default: `process_batch`).
    """
    stream = iter(items)
    read_error = None
    while read_error is None:
        window_items, read_error = _read_window(stream, window, size, max_size)
        if not window_items:
            break
        lengths = [length(item) for item in window_items]
        batch_indices = list(split_by_length(lengths, max_words, max_items))
        num_half_batches = 2 * len(window_items) // max_items
        is_parallel = num_threads > 1 and max(len(batch_indices), num_half_batches) >= num_threads
        if is_parallel:
            # Round up to a multiple of the number of threads, so that all are busy until the end.
            num_batches = ceil(len(batch_indices) / num_threads) * num_threads
            batch_size = ceil(len(window_items) / num_batches)
            batch_indices = list(split_by_length(lengths, max_words, batch_size))
        batches = [[window_items[index] for index in indices] for indices in batch_indices]
        if is_parallel:
            outputs = _process_parallel(batches, process_in_thread or process_batch, num_threads)
        else:
            outputs = [process_batch(batch) for batch in batches]
        results: dict[int, Result] = {}
        for indices, output in zip(batch_indices, outputs, strict=True):
            results.update(zip(indices, output, strict=True))
        yield from (results[index] for index in range(len(window_items)))
    if read_error is not None:
        raise read_error


def _read_window(
    stream: Iterator[Item], max_items: int, size: Callable[[Item], int], max_size: int
) -> tuple[list[Item], Exception | None]:
    """Read a window of items; return them and the exception that stopped the stream, if any."""
    items: list[Item] = []
    total_size = 0
    try:
        for item in islice(stream, max_items):
            items.append(item)
            total_size += size(item)
            if total_size >= max_size > 0:
                break
    except Exception as error:
        return items, error
    return items, None


def _process_parallel(
    batches: Sequence[list[Item]], process_batch: ProcessBatch[Item, Result], num_threads: int
) -> list[Sequence[Result]]:
    """Process batches in several threads, of which the calling thread is one.

    After an exception no further batch is started. When all threads have finished their current
    batch, the exception of the first failed batch is raised. `ThreadPoolExecutor` is not used,
    since it fails after the main thread has ended.
    """
    outputs: dict[int, Sequence[Result]] = {}
    failures: dict[int, BaseException] = {}
    queue = deque(enumerate(batches))

    def process_queue() -> None:
        while True:
            try:
                index, batch = queue.popleft()
            except IndexError:
                return
            try:
                outputs[index] = process_batch(batch)
            except BaseException as error:  # raised below in the calling thread
                failures[index] = error
                queue.clear()

    threads: list[Thread] = []
    try:
        # Python 3.12 cannot start a thread after the main thread has ended. The calling thread
        # then processes all batches.
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
    return [outputs[index] for index in range(len(batches))]


def split_by_length(lengths: Sequence[int], max_words: int, max_items: int) -> Iterator[list[int]]:
    """Yield batches of the indices of items, sorted by length.

    The longest items come first, so that a batch that is too large for the memory fails early.

    >>> list(split_by_length([2, 9, 3, 8], max_words=18, max_items=8))
    [[1, 3], [2, 0]]
    """
    batch: list[int] = []
    for index in sorted(range(len(lengths)), key=lambda index: -lengths[index]):
        if batch:
            num_padded_words = (len(batch) + 1) * lengths[batch[0]]  # the first item is the longest
            if len(batch) == max_items or num_padded_words > max_words:
                yield batch
                batch = []
        batch.append(index)
    if batch:
        yield batch
