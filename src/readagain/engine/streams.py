"""What has come in so far: batches from a pipe that neither wait nor starve."""

from collections.abc import Iterable, Iterator
from queue import Queue
from threading import Thread
from typing import TypeVar

Item = TypeVar("Item")


def as_they_come(items: Iterable[Item], most: int) -> Iterator[list[Item]]:
    """Yield what is there, one item at least and `most` at the most, as soon as it is there.

    The items are read in a thread of its own, at most `most` ahead. A fast source makes full
    batches; a slow one, such as a log that is being written, is answered item by item. What
    reading raises is raised here, after the items that came before it.
    """
    queue: Queue[Item | _End] = Queue(maxsize=most)
    Thread(target=_fill, args=(items, queue), daemon=True).start()
    while True:
        batch: list[Item] = []
        item = queue.get()
        while not isinstance(item, _End):
            batch.append(item)
            if len(batch) == most or queue.empty():
                break
            item = queue.get()
        if batch:
            yield batch
        if isinstance(item, _End):
            if item.error is not None:
                raise item.error
            return


class _End:
    """No more items, or what went wrong while reading the next."""

    def __init__(self, error: BaseException | None = None) -> None:
        self.error = error


def _fill(items: Iterable[Item], queue: "Queue[Item | _End]") -> None:
    try:
        for item in items:
            queue.put(item)
    except BaseException as error:  # an outermost edge: handed over, not swallowed
        queue.put(_End(error))
    else:
        queue.put(_End())
