"""Queue that batches the texts of several requests and summarizes them in one thread."""

import asyncio
import math
import time
from collections import Counter
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress

from readagain.errors import pluralize
from readagain.serve.errors import ApiError, stopping_error
from readagain.serve.models import BatchKey
from readagain.serve.schemas import SummaryResult

LIGHT_COST = 4.5
"""Maximum cost of a light request, about that of four short texts; others are heavy.

It is also the maximum cost of a batch of heavy requests while light requests are served.
"""
MAX_BATCH_COST = 4 * LIGHT_COST
"""Maximum cost of a batch of heavy requests at other times, so that no batch takes long."""
SHARED_PERIOD_S = 1.0
"""Heavy requests are limited until no light request has been waiting for this many seconds."""
PAUSE_FACTOR = 2.0
"""Pause after a batch of heavy requests, as a multiple of the time that it took."""


class _Job:
    """Texts of one request, their costs and their results so far."""

    def __init__(self, key: BatchKey, texts: Sequence[str], costs: Sequence[float]) -> None:
        self.key = key
        self.texts = texts
        self.costs = costs
        self.is_light = sum(costs) <= LIGHT_COST
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

    The request that arrived first, or was served longest ago, determines the key of the next batch;
    texts of other requests with that key are added. A request with many or long texts or costly
    options is heavy. While light requests are served, heavy ones use at most a third of the time: a
    batch of them is small, and the next one starts only after a pause. So they delay light requests
    little, whatever their options are. Batches run in one thread, so that the event loop stays
    free. While that thread is idle, a text waits a short time for others to form a batch.

    Args:
        summarize_batch: returns one result for each text of a batch with one key.
        max_texts: maximum number of waiting texts.
        max_batch: maximum number of texts per batch.
        max_wait_s: maximum time that a text waits for others.
        estimate_costs: returns the estimated time for each text; a short text has about 1.
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
        estimate_costs: Callable[[BatchKey, Sequence[str]], Sequence[float]],
        observe_batch: Callable[[int], None] = lambda size: None,
        observe_queue: Callable[[int], None] = lambda length: None,
    ) -> None:
        self._summarize_batch = summarize_batch
        self._max_texts = max_texts
        self._max_batch = max_batch
        self._max_wait_s = max_wait_s
        self._estimate_costs = estimate_costs
        self._observe_batch = observe_batch
        self._observe_queue = observe_queue
        self._items: list[_Item] = []
        self._arrival = asyncio.Event()
        self._is_closed = False
        self._light_time = -math.inf  # when a light request was last waiting
        self._heavy_time = -math.inf  # when the pause of heavy requests ends
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
        job = _Job(key, texts, self._estimate_costs(key, texts))
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
                start = time.monotonic()
                await self._process(batch)
                if not batch[0][0].is_light:
                    end = time.monotonic()
                    self._heavy_time = end + PAUSE_FACTOR * (end - start)

    async def _wait_for_items(self) -> bool:
        """Wait until a text may be processed; return False once the queue is closed and empty."""
        while not self._next_items():
            if self._is_closed:
                return False
            self._arrival.clear()
            pause_s = self._pause_end() - time.monotonic() if self._items else None
            with suppress(TimeoutError):
                await asyncio.wait_for(self._arrival.wait(), pause_s)
        return True

    async def _wait_for_full_batch(self) -> None:
        """Wait until a batch is full or the oldest text has waited `max_wait_s`."""
        while (items := self._next_items()) and len(items) < self._max_batch:
            remaining_s = items[0][0].arrival_time + self._max_wait_s - time.monotonic()
            if remaining_s <= 0 or self._is_closed:
                return
            self._arrival.clear()
            with suppress(TimeoutError):
                await asyncio.wait_for(self._arrival.wait(), remaining_s)

    def _next_items(self) -> list[_Item]:
        """Return the waiting texts of heavy requests or, during their pause, of light ones."""
        light_items = [item for item in self._items if item[0].is_light]
        if light_items:
            self._light_time = time.monotonic()
        if time.monotonic() < self._pause_end() and not self._is_closed:
            return light_items
        return [item for item in self._items if not item[0].is_light] or light_items

    def _pause_end(self) -> float:
        """Return when the next batch of heavy requests may start."""
        return min(self._heavy_time, self._light_time + SHARED_PERIOD_S)

    def _take_batch(self) -> list[_Item]:
        """Remove the texts of the next batch from the queue."""
        items = self._next_items()
        if not items:
            return []
        first_job = items[0][0]
        items = [item for item in items if item[0].key == first_job.key]
        batch = items[: self._max_batch] if first_job.is_light else self._take_turns(items)
        taken, served_jobs = set(batch), {job for job, _ in batch}
        remaining = [item for item in self._items if item not in taken]
        # The sort is stable: the jobs that were served are now last.
        self._set_items(sorted(remaining, key=lambda item: item[0] in served_jobs))
        return batch

    def _take_turns(self, items: Sequence[_Item]) -> list[_Item]:
        """Return texts of heavy requests, in turn one of each, up to the maximum cost."""
        is_shared = time.monotonic() - self._light_time < SHARED_PERIOD_S
        remaining_cost = LIGHT_COST if is_shared else MAX_BATCH_COST
        num_waiting: Counter[_Job] = Counter()
        ranked_items: list[tuple[int, _Item]] = []  # with the rank of each in its request
        for item in items:
            ranked_items.append((num_waiting[item[0]], item))
            num_waiting[item[0]] += 1
        batch: list[_Item] = []
        for _, (job, index) in sorted(ranked_items, key=lambda ranked_item: ranked_item[0]):
            remaining_cost -= job.costs[index]
            if batch and (remaining_cost < 0 or len(batch) == self._max_batch):
                break
            batch.append((job, index))
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
