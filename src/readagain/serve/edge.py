"""The outermost layer of the server: request ids, headers, a line of log, no traceback."""

import re
import time
import traceback
import uuid
from collections.abc import Mapping

from starlette.datastructures import Headers, MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from readagain.serve.logs import logger
from readagain.serve.metrics import Metrics
from readagain.serve.refusals import BrokenError, RefusedError
from readagain.serve.replies import error_reply

CONTENT_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; "
    "connect-src 'self'; font-src 'self'; manifest-src 'self'; base-uri 'none'; "
    "form-action 'none'; frame-ancestors 'none'"
)
SECURITY_HEADERS: Mapping[str, str] = {
    "Content-Security-Policy": CONTENT_POLICY,
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
}
REQUEST_ID = "X-Request-Id"
CLIENT_GONE = 499
"""What the log says of a request whose client left; nobody is sent it."""

_OUR_FORM_OF_ID = re.compile(r"[A-Za-z0-9._-]{1,64}")


class Edge:
    """Gives every request an id, and every reply its headers, a line of log, and a measurement.

    Args:
        app: what answers.
        metrics: what counts.
    """

    def __init__(self, app: ASGIApp, metrics: Metrics) -> None:
        self._app = app
        self._metrics = metrics

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        begin = time.perf_counter()
        request_id = _request_id(Headers(scope=scope))
        # Copied, since the server may hand the same dictionary to every request.
        scope["state"] = {**scope.get("state", {}), "request_id": request_id, "facts": {}}
        status = CLIENT_GONE

        async def send_with_headers(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
                headers = MutableHeaders(scope=message)
                headers[REQUEST_ID] = request_id
                for name, value in SECURITY_HEADERS.items():
                    headers[name] = value
                headers.setdefault("Cache-Control", "no-store")
            await send(message)

        try:
            await self._app(scope, receive, send_with_headers)
        except Exception as error:  # the outermost edge: told to the log, not to the client
            refusal = error if isinstance(error, RefusedError) else _broken(error, request_id)
            if status == CLIENT_GONE:  # nothing was sent yet
                reply = error_reply(
                    request_id, refusal.status, refusal.code, str(refusal), refusal.headers
                )
                await reply(scope, receive, send_with_headers)
        finally:
            self._tell(scope, status, time.perf_counter() - begin)

    def _tell(self, scope: Scope, status: int, seconds: float) -> None:
        """Log and measure a request; what was in it stays out."""
        state = scope["state"]
        route = scope.get("route")
        self._metrics.observe_request(
            route=getattr(route, "path", "other"), status=status, seconds=seconds
        )
        logger.info(
            "request",
            extra={
                "facts": {
                    "request_id": state["request_id"],
                    "method": scope["method"],
                    "path": scope["path"][:200],
                    "status": status,
                    "ms": round(1e3 * seconds, 1),
                    **state["facts"],
                }
            },
        )


def _request_id(headers: Headers) -> str:
    given = headers.get(REQUEST_ID, "")
    return given if _OUR_FORM_OF_ID.fullmatch(given) else uuid.uuid4().hex


def _broken(error: Exception, request_id: str) -> BrokenError:
    """Log where an unexpected error comes from; its message may hold a text, and is left out."""
    frames = traceback.extract_tb(error.__traceback__)
    logger.error(
        "unexpected error",
        extra={
            "facts": {
                "request_id": request_id,
                "error": type(error).__name__,
                "where": [f"{frame.filename}:{frame.lineno} {frame.name}" for frame in frames],
            }
        },
    )
    return BrokenError("something went wrong in the server; its log has the request's id")
