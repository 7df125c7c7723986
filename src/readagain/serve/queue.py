"""Texts of many requests, summarized together: a bounded queue, and a thread that empties it."""

import asyncio
import time
from collections.abc import Callable, Hashable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Generic, TypeVar

from readagain.counts import counted
from readagain.serve.refusals import QueueFullError, StoppingError

Kind = TypeVar("Kind", bound=Hashable)
Result = TypeVar("Result")
Work = Callable[[Kind, Sequence[str]], Sequence[Result]]


class _Job(Generic[Kind, Result]):
    """The texts of one request, and what is known of their results."""

    def __init__(self, kind: Kind, texts: Sequence[str]) -> None:
        self.kind = kind
        self.texts = texts
        self.results: dict[int, Result] = {}
        self.answer: asyncio.Future[list[Result]] = asyncio.get_running_loop().create_future()
        self.arrived = time.monotonic()

    def keep(self, place: int, result: Result) -> None:
        """Keep the result of one text; the last one completes the answer."""
        self.results[place] = result
        if len(self.results) == len(self.texts) and not self.answer.done():
            self.answer.set_result([self.results[place] for place in range(len(self.texts))])

    def fail(self, error: BaseException) -> None:
        if not self.answer.done():
            self.answer.set_exception(error)


_Waiting = tuple[_Job[Kind, Result], int]  # a text: the place it has in its job


class BatchingQueue(Generic[Kind, Result]):
    """Puts texts that wait at the same time, and ask for the same, into one call.

    The oldest text decides what is asked for next; others of its kind join it, in the order in
    which they came, whichever request they belong to. A text waits for company only while nothing
    else is worked on. Work runs in one thread, so that the event loop stays free.

    Args:
        work: answers some texts of one kind, with one result for each.
        max_texts: how many texts may wait.
        max_batch: how many are worked on together.
        max_wait_s: how long a text waits for others, at most.
        observe_batch: is told the size of each batch that is begun.
        observe_waiting: is told how many texts wait whenever some join, are taken or are dropped.
    """

    def __init__(
        self,
        work: Work[Kind, Result],
        *,
        max_texts: int,
        max_batch: int,
        max_wait_s: float,
        observe_batch: Callable[[int], None] = lambda size: None,
        observe_waiting: Callable[[int], None] = lambda waiting: None,
    ) -> None:
        self._work = work
        self._max_texts = max_texts
        self._max_batch = max_batch
        self._max_wait_s = max_wait_s
        self._observe_batch = observe_batch
        self._observe_waiting = observe_waiting
        self._waiting: list[_Waiting[Kind, Result]] = []
        self._arrival = asyncio.Event()
        self._is_closed = False
        self._thread = ThreadPoolExecutor(max_workers=1, thread_name_prefix="summarize")
        self._loop: asyncio.Task[None] | None = None

    def __len__(self) -> int:
        """Count the texts that wait."""
        return len(self._waiting)

    @property
    def is_open(self) -> bool:
        """Say whether requests are taken and worked on."""
        return not self._is_closed and self._loop is not None and not self._loop.done()

    def check_room(self, num_texts: int = 1) -> None:
        """Make sure that so many texts may join.

        Raises:
            QueueFullError: when too many wait.
            StoppingError: when the queue is closed.
        """
        if self._is_closed:
            raise StoppingError("the server is stopping; send the request again")
        if len(self._waiting) + num_texts > self._max_texts:
            raise QueueFullError(
                f"{counted(len(self._waiting), 'text')} waiting already, and at most "
                f"{self._max_texts} may; "
                "send the request again in a moment"
            )

    async def summarize(self, kind: Kind, texts: Sequence[str]) -> list[Result]:
        """Wait for the results of some texts, in order; cancelled, they are dropped.

        Raises:
            QueueFullError: at once, when too many texts wait.
            StoppingError: when the queue is closed.
        """
        self.check_room(len(texts))
        job: _Job[Kind, Result] = _Job(kind, texts)
        self._wait_with([*self._waiting, *((job, place) for place in range(len(texts)))])
        self._arrival.set()
        try:
            return await job.answer
        finally:
            if len(job.results) < len(texts):  # given up, or failed: nobody wants the rest
                self._wait_with([item for item in self._waiting if item[0] is not job])

    def start(self) -> None:
        """Begin to work; to be called in a running event loop."""
        self._loop = asyncio.create_task(self._run(), name="summary queue")

    async def close(self) -> None:
        """Finish what waits, take nothing new, and stop."""
        self._is_closed = True
        self._arrival.set()
        if self._loop is not None:
            await self._loop
        self._thread.shutdown()

    async def _run(self) -> None:
        while await self._something_waits():
            await self._wait_for_company()
            batch = self._take_batch()
            if batch:
                self._observe_batch(len(batch))
                await self._answer(batch)

    async def _something_waits(self) -> bool:
        while not self._waiting:
            if self._is_closed:
                return False
            self._arrival.clear()
            await self._arrival.wait()
        return True

    async def _wait_for_company(self) -> None:
        """Let others join the oldest text, until the batch is full or it has waited enough."""
        until = self._waiting[0][0].arrived + self._max_wait_s
        while self._waiting and len(self._waiting) < self._max_batch and not self._is_closed:
            remaining = until - time.monotonic()
            if remaining <= 0:
                return
            self._arrival.clear()
            try:
                await asyncio.wait_for(self._arrival.wait(), remaining)
            except TimeoutError:
                return

    def _take_batch(self) -> list[_Waiting[Kind, Result]]:
        """Take the oldest text, and others of its kind, out of the queue."""
        if not self._waiting:
            return []
        kind = self._waiting[0][0].kind
        batch: list[_Waiting[Kind, Result]] = []
        others: list[_Waiting[Kind, Result]] = []
        for item in self._waiting:
            joins = item[0].kind == kind and len(batch) < self._max_batch
            (batch if joins else others).append(item)
        self._wait_with(others)
        return batch

    def _wait_with(self, items: list[_Waiting[Kind, Result]]) -> None:
        """Let these texts wait, and say how many they are."""
        self._waiting = items
        self._observe_waiting(len(items))

    async def _answer(self, batch: Sequence[_Waiting[Kind, Result]]) -> None:
        """Work on a batch; where it fails, on each text alone, so that only the guilty fail."""
        loop = asyncio.get_running_loop()
        kind = batch[0][0].kind
        texts = [job.texts[place] for job, place in batch]
        try:
            results = await loop.run_in_executor(self._thread, self._work, kind, texts)
        except Exception as error:  # an outermost edge: handed over, not swallowed
            if len(batch) == 1:
                batch[0][0].fail(error)
                return
            for item in batch:
                if not item[0].answer.done():
                    await self._answer([item])
            return
        for (job, place), result in zip(batch, results, strict=True):
            job.keep(place, result)
