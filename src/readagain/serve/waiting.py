"""Waiting for an answer no longer than its client does, or than is allowed."""

import asyncio
from collections.abc import Coroutine
from typing import Any, TypeVar

from starlette.types import Receive

from readagain.errors import RequestError
from readagain.serve.refusals import DeadlineError

Answer = TypeVar("Answer")


class ClientGoneError(RequestError):
    """Nobody waits for the answer any more."""


async def answer_in_time(
    work: Coroutine[Any, Any, Answer], receive: Receive, *, deadline: float, timeout_s: float
) -> Answer:
    """Wait for some work, and cancel it when its client leaves or time is up.

    Args:
        work: what the client waits for.
        receive: says when the client leaves; the body has been read from it.
        deadline: when time is up, on the clock of the event loop.
        timeout_s: how long that was, for the message.

    Raises:
        ClientGoneError: when the client left.
        DeadlineError: when time is up.
    """
    working = asyncio.create_task(work)
    leaving = asyncio.create_task(_client_leaves(receive))
    remaining = deadline - asyncio.get_running_loop().time()
    try:
        await asyncio.wait(
            {working, leaving}, timeout=remaining, return_when=asyncio.FIRST_COMPLETED
        )
        if working.done():
            return working.result()
        if leaving.done():
            raise ClientGoneError("the client left")
        raise DeadlineError(
            f"no answer within {timeout_s:g} s; send fewer texts at once, or the request again "
            "when the server is less busy"
        )
    finally:
        working.cancel()
        leaving.cancel()
        await asyncio.wait({working, leaving})


async def _client_leaves(receive: Receive) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass
