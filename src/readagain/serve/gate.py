"""Who is let in: requests with a key that fits, while there is room for one more."""

from collections.abc import Callable, Sequence
from hashlib import sha256
from hmac import compare_digest

from starlette.datastructures import Headers
from starlette.types import ASGIApp, Receive, Scope, Send

from readagain.counts import counted
from readagain.serve.refusals import QueueFullError, UnauthorizedError

OPEN_PATHS = ("/", "/healthz", "/readyz", "/docs", "/openapi.json")
"""What is shown without a key, beside the files of the page: nothing that computes or counts."""
SUMMARIZE = "/v1/summarize"


class AdmissionMiddleware:
    """Turns requests away before their body is read.

    Args:
        app: what answers.
        keys: one of these must come with a request; without any, everybody is let in.
        max_requests: how many with texts may be inside at once.
        check_room: raises a refusal when no text more can be taken.
    """

    def __init__(
        self,
        app: ASGIApp,
        *,
        keys: Sequence[str],
        max_requests: int,
        check_room: Callable[[], None],
    ) -> None:
        self._app = app
        # Digests have one length, so comparing them does not even tell that of a key.
        self._digests = [_digest(key.encode()) for key in keys]
        self._max_requests = max_requests
        self._check_room = check_room
        self._inside = 0

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request that is let in.

        Raises:
            UnauthorizedError: without a key that fits.
            QueueFullError: when there is no room.
        """
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        path = scope["path"]
        if self._digests and path not in OPEN_PATHS and not path.startswith(("/static/", "/docs/")):
            self._check_key(Headers(scope=scope))
        if path != SUMMARIZE:  # whoever watches the server is answered under load too
            await self._app(scope, receive, send)
            return
        self._check_room()
        if self._inside >= self._max_requests:
            raise QueueFullError(
                f"{counted(self._inside, 'request')} being answered, and at most "
                f"{self._max_requests} may be; send the request again in a moment"
            )
        self._inside += 1
        try:
            await self._app(scope, receive, send)
        finally:
            self._inside -= 1

    def _check_key(self, headers: Headers) -> None:
        scheme, _, given = headers.get("authorization", "").partition(" ")
        digest = _digest(given.strip().encode())
        # Every key is compared, so that the time taken does not tell which one came close.
        fits = [compare_digest(digest, known) for known in self._digests]
        if scheme.lower() != "bearer" or not any(fits):
            raise UnauthorizedError(
                "no key, or one that does not fit; send the header Authorization: Bearer KEY",
                {"WWW-Authenticate": "Bearer"},
            )


def _digest(key: bytes) -> bytes:
    return sha256(key).digest()
