"""Texts that wait at the same time are summarized together, and nobody gets another's answer."""

import asyncio
import threading

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from readagain.serve.queue import BatchingQueue
from readagain.serve.refusals import QueueFullError, StoppingError


class Work:
    """Answers texts in capitals; waits to be released before its first call, if asked to."""

    def __init__(self, *, released=True):
        self.calls = []
        self.began = threading.Event()
        self.released = threading.Event()
        if released:
            self.released.set()

    def __call__(self, kind, texts):
        self.calls.append((kind, list(texts)))
        self.began.set()
        assert self.released.wait(timeout=30)
        if "bad" in texts:
            raise ZeroDivisionError
        return [text.upper() for text in texts]


def run(work, story, **options):
    """Run a coroutine with a queue, and return what it returns."""

    async def whole():
        sizes = {"max_texts": 8, "max_batch": 4, "max_wait_s": 0.0, **options}
        queue = BatchingQueue(work, **sizes)
        queue.start()
        try:
            return await story(queue)
        finally:
            work.released.set()
            await queue.close()

    return asyncio.run(whole())


async def began(work):
    await asyncio.to_thread(work.began.wait, 30)


async def joined(queue, number):
    while len(queue) < number:
        await asyncio.sleep(0)


def test_a_request_gets_its_own_answers_in_order():
    async def story(queue):
        return await asyncio.gather(
            queue.summarize("k", ["a", "b"]), queue.summarize("k", ["c"]), queue.summarize("j", "d")
        )

    assert run(Work(), story) == [["A", "B"], ["C"], ["D"]]


def test_texts_of_several_requests_are_worked_on_together():
    work = Work(released=False)

    async def story(queue):
        first = asyncio.create_task(queue.summarize("k", ["first"]))
        await began(work)
        others = [asyncio.create_task(queue.summarize("k", [text])) for text in "abc"]
        await joined(queue, 3)
        work.released.set()
        await asyncio.gather(first, *others)

    run(work, story)
    assert work.calls == [("k", ["first"]), ("k", ["a", "b", "c"])]


def test_texts_wait_for_others_that_come_soon():
    work = Work()

    async def story(queue):
        first = asyncio.create_task(queue.summarize("k", ["a"]))
        await joined(queue, 1)
        second = asyncio.create_task(queue.summarize("k", ["b", "c", "d"]))
        await asyncio.gather(first, second)

    run(work, story, max_wait_s=30.0)  # ends as soon as the batch is full
    assert work.calls == [("k", ["a", "b", "c", "d"])]


def test_a_request_larger_than_a_batch_is_answered_in_several():
    work = Work()
    answers = run(work, lambda queue: queue.summarize("k", "abcdefg"))
    assert answers == list("ABCDEFG")
    assert [len(texts) for _, texts in work.calls] == [4, 3]


def test_what_asks_for_different_things_is_not_mixed_and_the_oldest_goes_first():
    work = Work(released=False)

    async def story(queue):
        tasks = [asyncio.create_task(queue.summarize("k", ["first"]))]
        await began(work)
        for kind, text in (("j", "a"), ("k", "b"), ("j", "c")):
            tasks.append(asyncio.create_task(queue.summarize(kind, [text])))
        await joined(queue, 3)
        work.released.set()
        return await asyncio.gather(*tasks)

    assert run(work, story) == [["FIRST"], ["A"], ["B"], ["C"]]
    assert work.calls == [("k", ["first"]), ("j", ["a", "c"]), ("k", ["b"])]


def test_a_full_queue_refuses_at_once_and_recovers():
    work = Work(released=False)

    async def story(queue):
        first = asyncio.create_task(queue.summarize("k", ["first"]))
        await began(work)
        waiting = asyncio.create_task(queue.summarize("k", "abcdef"))
        await joined(queue, 6)
        with pytest.raises(QueueFullError, match="6 texts waiting already, and at most 8 may"):
            await queue.summarize("k", "xyz")
        work.released.set()
        await asyncio.gather(first, waiting)
        return await queue.summarize("k", "xyz")

    assert run(work, story) == ["X", "Y", "Z"]


def test_the_texts_of_a_client_who_left_are_dropped():
    work = Work(released=False)

    async def story(queue):
        first = asyncio.create_task(queue.summarize("k", ["first"]))
        await began(work)
        left = asyncio.create_task(queue.summarize("k", ["a", "b"]))
        stays = asyncio.create_task(queue.summarize("k", ["c"]))
        await joined(queue, 3)
        left.cancel()
        await asyncio.wait({left})
        assert len(queue) == 1
        work.released.set()
        await asyncio.gather(first, stays)

    run(work, story)
    assert work.calls == [("k", ["first"]), ("k", ["c"])]


def test_an_error_fails_the_request_it_belongs_to_alone():
    work = Work(released=False)

    async def story(queue):
        first = asyncio.create_task(queue.summarize("k", ["first"]))
        await began(work)
        tasks = [asyncio.create_task(queue.summarize("k", texts)) for texts in (["a", "bad"], "b")]
        await joined(queue, 3)
        work.released.set()
        await first
        return await asyncio.gather(*tasks, return_exceptions=True)

    failed, answered = run(work, story)
    assert isinstance(failed, ZeroDivisionError)
    assert answered == ["B"]


def test_the_rest_of_a_request_that_failed_is_not_worked_on():
    work = Work()
    with pytest.raises(ZeroDivisionError):
        run(work, lambda queue: queue.summarize("k", ["bad", "a"]))
    assert work.calls == [("k", ["bad", "a"]), ("k", ["bad"])]


def test_a_queue_that_closes_finishes_what_waits_and_takes_nothing_new():
    work = Work(released=False)

    async def story(queue):
        tasks = [asyncio.create_task(queue.summarize("k", ["a"]))]
        await began(work)
        tasks.append(asyncio.create_task(queue.summarize("k", ["b"])))
        await joined(queue, 1)
        closing = asyncio.create_task(queue.close())
        await asyncio.sleep(0)
        assert not queue.is_open
        with pytest.raises(StoppingError, match="the server is stopping"):
            await queue.summarize("k", ["c"])
        work.released.set()
        await closing
        return await asyncio.gather(*tasks)

    assert run(work, story) == [["A"], ["B"]]


@settings(deadline=None, max_examples=50)
@given(
    requests=st.lists(
        st.tuples(st.sampled_from("jk"), st.integers(1, 6), st.integers(0, 3)), max_size=12
    ),
    leaving=st.sets(st.integers(0, 11)),
)
def test_whoever_stays_gets_the_own_answers_whatever_the_others_do(requests, leaving):
    work = Work()

    async def story(queue):
        tasks = []
        for number, (kind, size, turns) in enumerate(requests):
            texts = [f"{number}.{place}" for place in range(size)]
            tasks.append(asyncio.create_task(queue.summarize(kind, texts)))
            for _ in range(turns):  # let the queue get on with it
                await asyncio.sleep(0)
            if number in leaving:
                tasks[-1].cancel()
        return await asyncio.gather(*tasks, return_exceptions=True)

    answers = run(work, story, max_texts=100)
    for number, ((_, size, _), answer) in enumerate(zip(requests, answers, strict=True)):
        if number not in leaving:
            assert answer == [f"{number}.{place}" for place in range(size)]
    worked = [text for _, texts in work.calls for text in texts]
    assert len(worked) == len(set(worked))
    assert all(1 <= len(texts) <= 4 for _, texts in work.calls)
    for kind, texts in work.calls:
        assert {requests[int(text.partition(".")[0])][0] for text in texts} == {kind}


def test_batches_are_told_and_what_waits_whenever_it_changes():
    told = []
    run(
        Work(),
        lambda queue: queue.summarize("k", "abcdef"),
        observe_batch=lambda size: told.append(f"batch of {size}"),
        observe_waiting=lambda waiting: told.append(f"{waiting} wait"),
    )
    assert told == ["6 wait", "2 wait", "batch of 4", "0 wait", "batch of 2"]


def test_texts_that_join_behind_a_batch_and_leave_again_are_told():
    work, waiting = Work(released=False), []

    async def story(queue):
        first = asyncio.create_task(queue.summarize("k", ["first"]))
        await began(work)
        left = asyncio.create_task(queue.summarize("k", ["a", "b"]))
        await joined(queue, 2)
        assert waiting[-1] == 2
        left.cancel()
        await asyncio.wait({left})
        assert waiting[-1] == 0
        work.released.set()
        await first

    run(work, story, observe_waiting=waiting.append)
