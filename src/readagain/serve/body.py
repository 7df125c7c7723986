"""The body of a request: read once, within bounds of size and time."""

import asyncio

from starlette.datastructures import Headers
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from readagain.serve.refusals import BodyTooLargeError, SlowBodyError
from readagain.serve.waiting import ClientGoneError


class BoundedBody:
    """Reads the body of a request before anything else does, and stops where it is too much.

    A length that is announced is believed before a byte is read; what comes in pieces is counted
    as it comes.

    Args:
        app: what answers.
        max_bytes: the most bytes of a body.
        timeout_s: how long a body may take to arrive.
    """

    def __init__(self, app: ASGIApp, *, max_bytes: int, timeout_s: float) -> None:
        self._app = app
        self._max_bytes = max_bytes
        self._timeout_s = timeout_s

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request.

        Raises:
            BodyTooLargeError: for a body beyond the bound.
            SlowBodyError: for one that does not arrive in time.
            ClientGoneError: when the client leaves before its end.
        """
        if scope["type"] != "http" or scope["method"] in ("GET", "HEAD", "OPTIONS"):
            await self._app(scope, receive, send)
            return
        announced = Headers(scope=scope).get("content-length", "")
        if announced.isdecimal() and int(announced) > self._max_bytes:
            raise self._too_large()
        try:
            body = await asyncio.wait_for(self._read(receive), self._timeout_s)
        except TimeoutError as error:
            raise SlowBodyError(
                f"the body did not arrive within {self._timeout_s:g} s; send it in one go",
                {"Connection": "close"},
            ) from error
        if body is None:
            raise ClientGoneError("the client left")
        await self._app(scope, _replay(body, receive), send)

    async def _read(self, receive: Receive) -> bytes | None:
        pieces: list[bytes] = []
        size = 0
        more = True
        while more:
            message = await receive()
            if message["type"] == "http.disconnect":
                return None
            pieces.append(message.get("body", b""))
            size += len(pieces[-1])
            if size > self._max_bytes:
                raise self._too_large()
            more = message.get("more_body", False)
        return b"".join(pieces)

    def _too_large(self) -> BodyTooLargeError:
        return BodyTooLargeError(
            f"the body has more than {self._max_bytes:,} bytes, the most that is taken here; "
            "send fewer or shorter texts"
        )


def _replay(body: bytes, receive: Receive) -> Receive:
    """Return what gives the body that was read, then whatever comes after it."""
    messages: list[Message] = [{"type": "http.request", "body": body, "more_body": False}]

    async def replay() -> Message:
        return messages.pop() if messages else await receive()

    return replay
