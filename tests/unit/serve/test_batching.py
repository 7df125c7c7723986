"""Batching of waiting texts, limits and failures of the queue."""

import asyncio
import threading

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from readagain.serve.batching import MAX_SHARED_CHARS, BatchingQueue
from readagain.serve.errors import ApiError


class UpperCase:
    """Function that returns texts in upper case; it waits until `released` is set."""

    def __init__(self, *, released=True):
        self.calls = []
        self.started = threading.Event()
        self.released = threading.Event()
        if released:
            self.released.set()

    def __call__(self, key, texts):
        self.calls.append((key, list(texts)))
        self.started.set()
        assert self.released.wait(timeout=30)
        if "bad" in texts:
            raise ZeroDivisionError
        return [text.upper() for text in texts]


def run(work, scenario, **options):
    """Run a coroutine with a queue and return its result."""

    async def run_all():
        sizes = {"max_texts": 8, "max_batch": 4, "max_wait_s": 0.0, **options}
        queue = BatchingQueue(work, **sizes)
        queue.start()
        try:
            return await scenario(queue)
        finally:
            work.released.set()
            await queue.close()

    return asyncio.run(run_all())


async def wait_for_start(work):
    await asyncio.to_thread(work.started.wait, 30)


async def wait_for_length(queue, number):
    while len(queue) < number:
        await asyncio.sleep(0)


def test_summarize_returns_results_in_order():
    async def scenario(queue):
        return await asyncio.gather(
            queue.summarize("k", ["a", "b"]), queue.summarize("k", ["c"]), queue.summarize("j", "d")
        )

    assert run(UpperCase(), scenario) == [["A", "B"], ["C"], ["D"]]


def test_queue_batches_texts_of_several_requests():
    work = UpperCase(released=False)

    async def scenario(queue):
        first = asyncio.create_task(queue.summarize("k", ["first"]))
        await wait_for_start(work)
        others = [asyncio.create_task(queue.summarize("k", [text])) for text in "abc"]
        await wait_for_length(queue, 3)
        work.released.set()
        await asyncio.gather(first, *others)

    run(work, scenario)
    assert work.calls == [("k", ["first"]), ("k", ["a", "b", "c"])]


def test_queue_waits_until_batch_is_full():
    work = UpperCase()

    async def scenario(queue):
        first = asyncio.create_task(queue.summarize("k", ["a"]))
        await wait_for_length(queue, 1)
        second = asyncio.create_task(queue.summarize("k", ["b", "c", "d"]))
        await asyncio.gather(first, second)

    run(work, scenario, max_wait_s=30.0)  # ends as soon as the batch is full
    assert work.calls == [("k", ["a", "b", "c", "d"])]


def test_queue_splits_large_request_into_batches():
    work = UpperCase()
    results = run(work, lambda queue: queue.summarize("k", "abcdefg"))
    assert results == list("ABCDEFG")
    assert [len(texts) for _, texts in work.calls] == [4, 3]


def test_queue_batches_equal_keys_oldest_first():
    work = UpperCase(released=False)

    async def scenario(queue):
        tasks = [asyncio.create_task(queue.summarize("k", ["first"]))]
        await wait_for_start(work)
        for key, text in (("j", "a"), ("k", "b"), ("j", "c")):
            tasks.append(asyncio.create_task(queue.summarize(key, [text])))
        await wait_for_length(queue, 3)
        work.released.set()
        return await asyncio.gather(*tasks)

    assert run(work, scenario) == [["FIRST"], ["A"], ["B"], ["C"]]
    assert work.calls == [("k", ["first"]), ("j", ["a", "c"]), ("k", ["b"])]


def batches_of(texts, *others):
    """Return the batches of a large request and others that arrive during its first batch."""
    work = UpperCase(released=False)

    async def scenario(queue):
        first = asyncio.create_task(queue.summarize("key", texts))
        await wait_for_start(work)
        tasks = [asyncio.create_task(queue.summarize("key", each)) for each in others]
        num_waiting = len(texts) - len(work.calls[0][1])
        await wait_for_length(queue, num_waiting + sum(map(len, others)))
        work.released.set()
        await asyncio.gather(first, *tasks)
        return [batch for _, batch in work.calls]

    return run(work, scenario, max_texts=64, max_batch=8)


def test_small_request_does_not_wait_for_a_large_one():
    texts = [f"a{number}" for number in range(24)]
    first, second, *rest = batches_of(texts, ["b"], ["c"])
    assert first == texts[:8]
    assert second == [*texts[8:12], "b", "c", *texts[12:14]]
    assert [text for batch in rest for text in batch] == texts[14:]


def test_long_texts_leave_the_batch_to_other_requests():
    texts = [f"a{number}" + " " * MAX_SHARED_CHARS for number in range(10)]
    first, second, *rest = batches_of(texts, ["b"])
    assert first == texts[:8]  # alone
    assert second == [texts[8], "b"]
    assert rest == [[texts[9]]]


def test_full_queue_refuses_then_recovers():
    work = UpperCase(released=False)

    async def scenario(queue):
        first = asyncio.create_task(queue.summarize("k", ["first"]))
        await wait_for_start(work)
        waiting = asyncio.create_task(queue.summarize("k", "abcdef"))
        await wait_for_length(queue, 6)
        with pytest.raises(ApiError, match="queue: 6 texts waiting, the limit is 8"):
            await queue.summarize("k", "xyz")
        work.released.set()
        await asyncio.gather(first, waiting)
        return await queue.summarize("k", "xyz")

    assert run(work, scenario) == ["X", "Y", "Z"]


def test_cancelled_request_leaves_queue():
    work = UpperCase(released=False)

    async def scenario(queue):
        first = asyncio.create_task(queue.summarize("k", ["first"]))
        await wait_for_start(work)
        cancelled_task = asyncio.create_task(queue.summarize("k", ["a", "b"]))
        remaining_task = asyncio.create_task(queue.summarize("k", ["c"]))
        await wait_for_length(queue, 3)
        cancelled_task.cancel()
        await asyncio.wait({cancelled_task})
        assert len(queue) == 1
        work.released.set()
        await asyncio.gather(first, remaining_task)

    run(work, scenario)
    assert work.calls == [("k", ["first"]), ("k", ["c"])]


def test_error_fails_only_its_request():
    work = UpperCase(released=False)

    async def scenario(queue):
        first = asyncio.create_task(queue.summarize("k", ["first"]))
        await wait_for_start(work)
        tasks = [asyncio.create_task(queue.summarize("k", texts)) for texts in (["a", "bad"], "b")]
        await wait_for_length(queue, 3)
        work.released.set()
        await first
        return await asyncio.gather(*tasks, return_exceptions=True)

    failed, result = run(work, scenario)
    assert isinstance(failed, ZeroDivisionError)
    assert result == ["B"]


def test_failed_request_stops_processing():
    work = UpperCase()
    with pytest.raises(ZeroDivisionError):
        run(work, lambda queue: queue.summarize("k", ["bad", "a"]))
    assert work.calls == [("k", ["bad", "a"]), ("k", ["bad"])]


def test_closed_queue_finishes_and_refuses_new_texts():
    work = UpperCase(released=False)

    async def scenario(queue):
        tasks = [asyncio.create_task(queue.summarize("k", ["a"]))]
        await wait_for_start(work)
        tasks.append(asyncio.create_task(queue.summarize("k", ["b"])))
        await wait_for_length(queue, 1)
        closing = asyncio.create_task(queue.close())
        await asyncio.sleep(0)
        assert not queue.is_open
        with pytest.raises(ApiError, match="server: stopping"):
            await queue.summarize("k", ["c"])
        work.released.set()
        await closing
        return await asyncio.gather(*tasks)

    assert run(work, scenario) == [["A"], ["B"]]


@settings(deadline=None, max_examples=50)
@given(
    requests=st.lists(
        st.tuples(st.sampled_from("jk"), st.integers(1, 6), st.integers(0, 3)), max_size=12
    ),
    cancelled=st.sets(st.integers(0, 11)),
)
def test_results_match_requests_despite_cancellations(requests, cancelled):
    work = UpperCase()

    async def scenario(queue):
        tasks = []
        for number, (key, size, turns) in enumerate(requests):
            texts = [f"{number}.{index}" for index in range(size)]
            tasks.append(asyncio.create_task(queue.summarize(key, texts)))
            for _ in range(turns):  # let the queue continue
                await asyncio.sleep(0)
            if number in cancelled:
                tasks[-1].cancel()
        return await asyncio.gather(*tasks, return_exceptions=True)

    results = run(work, scenario, max_texts=100)
    for number, ((_, size, _), result) in enumerate(zip(requests, results, strict=True)):
        if number not in cancelled:
            assert result == [f"{number}.{index}" for index in range(size)]
    processed = [text for _, texts in work.calls for text in texts]
    assert len(processed) == len(set(processed))
    assert all(1 <= len(texts) <= 4 for _, texts in work.calls)
    for key, texts in work.calls:
        assert {requests[int(text.partition(".")[0])][0] for text in texts} == {key}


def test_observers_see_batches_and_queue_length():
    events = []
    run(
        UpperCase(),
        lambda queue: queue.summarize("k", "abcdef"),
        observe_batch=lambda size: events.append(f"batch of {size}"),
        observe_queue=lambda waiting: events.append(f"{waiting} wait"),
    )
    assert events == ["6 wait", "2 wait", "batch of 4", "0 wait", "batch of 2"]


def test_observer_sees_texts_join_and_leave():
    work, waiting = UpperCase(released=False), []

    async def scenario(queue):
        first = asyncio.create_task(queue.summarize("k", ["first"]))
        await wait_for_start(work)
        cancelled_task = asyncio.create_task(queue.summarize("k", ["a", "b"]))
        await wait_for_length(queue, 2)
        assert waiting[-1] == 2
        cancelled_task.cancel()
        await asyncio.wait({cancelled_task})
        assert waiting[-1] == 0
        work.released.set()
        await first

    run(work, scenario, observe_queue=waiting.append)
