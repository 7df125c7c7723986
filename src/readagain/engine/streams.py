"""Batches of the items of a slow source, such as a pipe."""

from collections.abc import Iterable, Iterator
from queue import Queue
from threading import Thread
from typing import TypeVar

Item = TypeVar("Item")


def available_batches(items: Iterable[Item], max_items: int) -> Iterator[list[Item]]:
    """Yield the available items as soon as there is one, at most `max_items` at once.

    A thread reads up to `max_items` ahead. A fast source gives full batches, a slow source
    single items. An exception of the source is raised after the items that precede it.
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
    """End of the items, or the exception of the source."""

    def __init__(self, error: BaseException | None = None) -> None:
        self.error = error


def _fill(items: Iterable[Item], queue: "Queue[Item | _End]") -> None:
    try:
        for item in items:
            queue.put(item)
    except BaseException as error:  # raised in the other thread
        queue.put(_End(error))
    else:
        queue.put(_End())
