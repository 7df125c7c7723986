"""Nobody works for a client who has left."""

import asyncio

import pytest

from readagain.serve.waiting import ClientGoneError, answer_in_time


def test_work_is_cancelled_when_its_client_leaves():
    cancelled = []

    async def work():
        try:
            await asyncio.Event().wait()
        except asyncio.CancelledError:
            cancelled.append(True)
            raise

    async def leave():
        await asyncio.sleep(0)  # not before the work has begun
        return {"type": "http.disconnect"}

    async def story():
        deadline = asyncio.get_running_loop().time() + 30
        with pytest.raises(ClientGoneError):
            await answer_in_time(work(), leave, deadline=deadline, timeout_s=30)

    asyncio.run(story())
    assert cancelled == [True]


def test_an_answer_that_is_there_counts_even_if_the_client_leaves_at_the_same_moment():
    async def work():
        return "answer"

    async def leave():
        return {"type": "http.disconnect"}

    async def story():
        deadline = asyncio.get_running_loop().time() + 30
        return await answer_in_time(work(), leave, deadline=deadline, timeout_s=30)

    assert asyncio.run(story()) == "answer"
