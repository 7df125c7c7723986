"""Batching of waiting texts, limits and failures of the queue."""

import asyncio
import threading

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from readagain.serve import batching
from readagain.serve.batching import BatchingQueue
from readagain.serve.errors import ApiError
from readagain.serve.schemas import SummarizeRequest


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


def costs(key, texts):
    return [1.0 + text.count("!") for text in texts]


def run(work, scenario, **options):
    """Run a coroutine with a queue and return its result."""

    async def run_all():
        sizes = {"max_texts": 8, "max_batch": 4, "max_wait_s": 0.0, "estimate_costs": costs}
        sizes |= options
        queue = BatchingQueue(work, **sizes)
        queue.start()
        try:
            return await asyncio.wait_for(scenario(queue), 30)  # fails instead of waiting
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


class TimedWork(UpperCase):
    """Function that advances a clock by the cost of each batch."""

    now = 0.0

    def __call__(self, key, texts):
        self.now += sum(costs(key, texts))
        return super().__call__(key, texts)

    def monotonic(self):
        return self.now


def batches_of(requests, monkeypatch):
    """Return the batches of requests that arrive, in order, during the batch of another one."""
    work = TimedWork(released=False)
    monkeypatch.setattr(batching, "time", work)

    async def scenario(queue):
        tasks = [asyncio.create_task(queue.summarize("first", ["first" + "!" * 99]))]
        await wait_for_start(work)
        for key, texts in requests:
            tasks.append(asyncio.create_task(queue.summarize(key, texts)))
            await asyncio.sleep(0)
        work.released.set()
        await asyncio.gather(*tasks)
        return work.calls[1:]

    return run(work, scenario, max_texts=999, max_batch=8)


def light_requests(number):
    return [("light", [f"b{index}"]) for index in range(number)]


@pytest.mark.parametrize("heavy_keys", [["light"] * 2, ["heavy"] * 2, ["heavy", "heavier"]])
@pytest.mark.parametrize("text", ["a" * 9, "a!!!"], ids=["many texts", "costly texts"])
def test_heavy_requests_use_a_third_of_the_time(heavy_keys, text, monkeypatch):
    monkeypatch.setattr(batching, "SHARED_PERIOD_S", 1e6)
    heavy = [(key, [f"{text}{number}" for number in range(8)]) for key in heavy_keys]
    batches = batches_of([*heavy, *light_requests(400)], monkeypatch)
    heavy_s = light_s = 0.0
    for key, texts in batches:
        if texts[0].startswith("a"):
            assert sum(costs(key, texts)) <= batching.LIGHT_COST
            assert heavy_s <= light_s / 2
            heavy_s += sum(costs(key, texts))
        else:
            light_s += sum(costs(key, texts))
    assert heavy_s == sum(sum(costs(key, texts)) for key, texts in heavy)


def test_heavy_requests_take_turns(monkeypatch):
    """The request that was served longest ago is next, also among different keys."""
    requests = [
        ("j", [f"a{n}!!!!!!!!" for n in range(3)]),
        ("k", [f"b{n}!!!!!!!!" for n in range(3)]),
    ]
    batches = batches_of([*requests, ("j", [f"c{n}!!!!!!!!" for n in range(2)])], monkeypatch)
    order = ["".join(text[:2] for text in texts) for _, texts in batches]
    assert order == ["a0c0", "b0b1", "a1c1", "b2", "a2"]


def test_heavy_request_alone_gets_full_batches():
    work = UpperCase()
    run(work, lambda queue: queue.summarize("k", "abcdefghijklmnop"), max_texts=16, max_batch=16)
    assert [len(texts) for _, texts in work.calls] == [16]


def test_batch_of_costly_texts_is_small():
    work = UpperCase()
    run(work, lambda queue: queue.summarize("k", ["a!!!!!!!"] * 4))
    assert [len(texts) for _, texts in work.calls] == [2, 2]


def test_pause_of_heavy_requests_ends_when_the_queue_closes(monkeypatch):
    work = UpperCase()
    monkeypatch.setattr(batching, "SHARED_PERIOD_S", 1e9)
    monkeypatch.setattr(batching, "PAUSE_FACTOR", 1e9)

    async def scenario(queue):
        tasks = [asyncio.create_task(queue.summarize("k", list("abcdefgh")))]
        tasks.append(asyncio.create_task(queue.summarize("k", ["light"])))
        await tasks[1]
        assert not tasks[0].done()
        await queue.close()
        return await tasks[0]

    assert run(work, scenario, max_texts=9) == list("ABCDEFGH")


@pytest.mark.parametrize(
    ("texts", "options", "is_light"),
    [
        (["A storm."] * 4, {}, True),
        (["A storm."] * 5, {}, False),
        (["A storm."] * 5, {"max_words": 3}, False),
        (["a" * 15_000] * 2, {}, False),
        (["a" * 20_000], {"explain": True}, True),
        (["a" * 10_000] * 2, {"max_words": 3}, True),
        (["A storm."], {"beam": 32}, False),
        (["A storm."], {"min_words": 60, "max_words": 64}, False),
        (["A storm."], {"min_bytes": 1_000, "max_words": 40}, False),
        (["A storm."], {"min_bytes": 20, "max_words": 40}, True),
    ],
    ids=str,
)
def test_request_is_light_by_texts_and_options(models, texts, options, is_light):
    key = models.batch_key(SummarizeRequest(texts=texts, **options))
    assert (sum(models.estimate_costs(key, texts)) <= batching.LIGHT_COST) == is_light


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
