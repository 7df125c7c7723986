"""Batches of items that arrive one after another, as from a pipe."""

from collections.abc import Iterable, Iterator
from queue import Queue
from threading import Thread
from typing import TypeVar

Item = TypeVar("Item")


def available_batches(items: Iterable[Item], max_items: int) -> Iterator[list[Item]]:
    """Yield lists of the items that have arrived, each of 1 to `max_items` items.

    A thread reads up to `max_items` ahead. Items that arrive fast come in full lists, items that
    arrive slowly come one by one. An exception of `items` is raised after the items before it.
    """
    queue: Queue[Item | _End] = Queue(maxsize=max_items)
    Thread(target=_fill, args=(items, queue), daemon=True).start()
    while True:
        batch: list[Item] = []
        item = queue.get()
        while not isinstance(item, _End):
            batch.append(item)
            if len(batch) == max_items or queue.empty():
                break
            item = queue.get()
        if batch:
            yield batch
        if isinstance(item, _End):
            if item.error is not None:
                raise item.error
            return


class _End:
    """Queue entry after the last item, with the exception that ended the items, if any."""

    def __init__(self, error: BaseException | None = None) -> None:
        self.error = error


def _fill(items: Iterable[Item], queue: "Queue[Item | _End]") -> None:
    """Put all items into the queue, then an `_End`."""
    try:
        for item in items:
            queue.put(item)
    except BaseException as error:  # `available_batches` raises it in its own thread
        queue.put(_End(error))
    else:
        queue.put(_End())
