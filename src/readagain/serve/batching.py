"""Queue that batches the texts of several requests and summarizes them in one thread."""

import asyncio
import math
import time
from collections import Counter
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor

from readagain.errors import pluralize
from readagain.serve.errors import ApiError, stopping_error
from readagain.serve.models import BatchKey
from readagain.serve.schemas import SummaryResult

TEXTS_PER_TURN = 4
"""Number of texts that a request adds to a batch before it is the turn of the next request."""
MAX_SHARED_CHARS = 16_000
"""Maximum number of characters in a batch while several requests are served.

The first waiting text of each request is added even beyond this limit.
"""
SHARED_PERIOD_S = 1.0
"""`MAX_SHARED_CHARS` applies for this many seconds after texts of several requests were waiting."""


class _Job:
    """Texts of one request and their results so far."""

    def __init__(self, key: BatchKey, texts: Sequence[str]) -> None:
        self.key = key
        self.texts = texts
        self.results: dict[int, SummaryResult] = {}
        self.future: asyncio.Future[list[SummaryResult]] = asyncio.Future()
        self.arrival_time = time.monotonic()

    def add_result(self, index: int, result: SummaryResult) -> None:
        """Store the result of one text; the last result completes the job."""
        self.results[index] = result
        if len(self.results) == len(self.texts) and not self.future.done():
            self.future.set_result([self.results[index] for index in range(len(self.texts))])

    def fail(self, error: BaseException) -> None:
        """Complete the job with an error."""
        if not self.future.done():
            self.future.set_exception(error)


_Item = tuple[_Job, int]
"""A waiting text: its job and its index in the job."""


class BatchingQueue:
    """Bounded queue that batches waiting texts with equal keys (`BatchKey`).

    The oldest request determines the key of the next batch; texts of other requests with that key
    are added. Requests take turns, a few texts each. While several requests are served, a batch
    contains one text of each request, and further texts only up to `MAX_SHARED_CHARS` in total. So
    a request with many or long texts does not delay the other requests. Batches run in one thread,
    so that the event loop stays free. While that thread is idle, a text waits a short time for
    others to form a batch.

    Args:
        summarize_batch: returns one result for each text of a batch with one key.
        max_texts: maximum number of waiting texts.
        max_batch: maximum number of texts per batch.
        max_wait_s: maximum time that a text waits for others.
        observe_batch: called with the size of each batch when it starts.
        observe_queue: called with the number of waiting texts when it changes.
    """

    def __init__(
        self,
        summarize_batch: Callable[[BatchKey, Sequence[str]], Sequence[SummaryResult]],
        *,
        max_texts: int,
        max_batch: int,
        max_wait_s: float,
        observe_batch: Callable[[int], None] = lambda size: None,
        observe_queue: Callable[[int], None] = lambda length: None,
    ) -> None:
        self._summarize_batch = summarize_batch
        self._max_texts = max_texts
        self._max_batch = max_batch
        self._max_wait_s = max_wait_s
        self._observe_batch = observe_batch
        self._observe_queue = observe_queue
        self._items: list[_Item] = []
        self._arrival = asyncio.Event()
        self._is_closed = False
        self._last_shared_time = -math.inf  # when texts of several requests were last waiting
        self._executor = ThreadPoolExecutor(max_workers=1, thread_name_prefix="summarize")
        self._task: asyncio.Task[None] | None = None

    def __len__(self) -> int:
        """Return the number of waiting texts."""
        return len(self._items)

    @property
    def is_open(self) -> bool:
        """Return whether texts are accepted and processed."""
        return not self._is_closed and self._task is not None and not self._task.done()

    def check_capacity(self, num_texts: int = 1) -> None:
        """Raise an `ApiError` unless the queue is open and has space for `num_texts` more texts."""
        if self._is_closed:
            raise stopping_error()
        if len(self._items) + num_texts > self._max_texts:
            raise ApiError(
                "queue_full",
                f"queue: {pluralize(len(self._items), 'text')} waiting, the limit is "
                f"{self._max_texts}; try again in a moment",
            )

    async def summarize(self, key: BatchKey, texts: Sequence[str]) -> list[SummaryResult]:
        """Return the result of each text, in order; if cancelled, drop the waiting texts."""
        self.check_capacity(len(texts))
        job = _Job(key, texts)
        self._set_items([*self._items, *((job, index) for index in range(len(texts)))])
        self._arrival.set()
        try:
            return await job.future
        finally:
            if len(job.results) < len(texts):  # cancelled or failed
                self._set_items([item for item in self._items if item[0] is not job])

    def start(self) -> None:
        """Start processing; must be called in a running event loop."""
        self._task = asyncio.create_task(self._run(), name="batching queue")

    async def close(self) -> None:
        """Stop accepting texts, process the waiting texts, and stop the thread."""
        self._is_closed = True
        self._arrival.set()
        if self._task is not None:
            await self._task
        self._executor.shutdown()

    async def _run(self) -> None:
        while await self._wait_for_items():
            await self._wait_for_full_batch()
            batch = self._take_batch()
            if batch:
                self._observe_batch(len(batch))
                await self._process(batch)

    async def _wait_for_items(self) -> bool:
        """Wait until a text arrives; return False once the queue is closed and empty."""
        while not self._items:
            if self._is_closed:
                return False
            self._arrival.clear()
            await self._arrival.wait()
        return True

    async def _wait_for_full_batch(self) -> None:
        """Wait until a batch is full or the oldest text has waited `max_wait_s`."""
        deadline = self._items[0][0].arrival_time + self._max_wait_s
        while self._items and len(self._items) < self._max_batch and not self._is_closed:
            remaining_s = deadline - time.monotonic()
            if remaining_s <= 0:
                return
            self._arrival.clear()
            try:
                await asyncio.wait_for(self._arrival.wait(), remaining_s)
            except TimeoutError:
                return

    def _take_batch(self) -> list[_Item]:
        """Remove the texts of the next batch from the queue; requests take turns."""
        if not self._items:
            return []
        key = self._items[0][0].key
        if len({job for job, _ in self._items}) > 1:
            self._last_shared_time = time.monotonic()
        is_shared = time.monotonic() - self._last_shared_time < SHARED_PERIOD_S
        num_waiting: Counter[_Job] = Counter()
        # Items with the key of the batch, and the rank of each among the texts of its request.
        ranked_items: list[tuple[int, _Item]] = []
        for job, index in self._items:
            if job.key == key:
                ranked_items.append((num_waiting[job], (job, index)))
                num_waiting[job] += 1
        # The sort is stable: within a turn, requests stay in order of arrival.
        ranked_items.sort(key=lambda ranked_item: ranked_item[0] // TEXTS_PER_TURN)
        batch: list[_Item] = []
        num_chars = 0
        for rank, (job, index) in ranked_items:
            num_chars += len(job.texts[index])  # also of a text that is not added below
            fits = not is_shared or num_chars <= MAX_SHARED_CHARS
            if len(batch) < self._max_batch and (rank == 0 or fits):
                batch.append((job, index))
        batch_items = set(batch)
        self._set_items([item for item in self._items if item not in batch_items])
        return batch

    def _set_items(self, items: list[_Item]) -> None:
        self._items = items
        self._observe_queue(len(items))

    async def _process(self, batch: Sequence[_Item]) -> None:
        """Summarize a batch; if that fails, retry each text alone, so that others succeed."""
        loop = asyncio.get_running_loop()
        key = batch[0][0].key
        texts = [job.texts[index] for job, index in batch]
        try:
            results = await loop.run_in_executor(self._executor, self._summarize_batch, key, texts)
        except Exception as error:  # any error is passed on to the request
            if len(batch) == 1:
                batch[0][0].fail(error)
                return
            for job, index in batch:
                if not job.future.done():
                    await self._process([(job, index)])
            return
        for (job, index), result in zip(batch, results, strict=True):
            job.add_result(index, result)
