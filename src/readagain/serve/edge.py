"""The outermost layer: request ids, headers, a line of log, and errors in one shape."""

import json
import re
import time
import traceback
import uuid
from collections.abc import Mapping

from starlette.datastructures import Headers, MutableHeaders
from starlette.responses import Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from readagain.serve.logs import logger
from readagain.serve.metrics import Metrics
from readagain.serve.refusals import ApiError, BrokenError
from readagain.serve.schema import ErrorReply, Problem
from readagain.serve.waiting import ClientGoneError

REQUEST_ID = "X-Request-Id"
SECURITY_HEADERS: Mapping[str, str] = {
    "Content-Security-Policy": (
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; "
        "connect-src 'self'; font-src 'self'; manifest-src 'self'; base-uri 'none'; "
        "form-action 'none'; frame-ancestors 'none'"
    ),
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
}
CLIENT_GONE = 499
"""What log and metrics say of a request whose client left; nobody is sent it."""

_TAKEN_ID = re.compile(r"[A-Za-z0-9._-]{1,64}")


class ErrorMiddleware:
    """Gives every request an id, and every reply its headers, a line of log and a measurement.

    Whatever goes wrong below becomes a reply here, in the one shape that errors have.

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
        begin = time.monotonic()
        request_id = _request_id(Headers(scope=scope))
        scope["state"] = {"begin": begin, "facts": {"request_id": request_id}}
        status = None

        async def send_with_headers(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
                headers = MutableHeaders(scope=message)
                headers[REQUEST_ID] = request_id
                headers.update(SECURITY_HEADERS)
                headers["Cache-Control"] = "no-cache" if "etag" in headers else "no-store"
            await send(message)

        try:
            await self._app(scope, receive, send_with_headers)
        except ClientGoneError:
            pass  # there is nobody to reply to
        except Exception as error:  # the outermost edge: told to the log, not to the client
            refusal = error if isinstance(error, ApiError) else _broken(error, request_id)
            if status is None:
                await _reply(refusal, request_id)(scope, receive, send_with_headers)
        finally:
            self._tell(scope, CLIENT_GONE if status is None else status, time.monotonic() - begin)

    def _tell(self, scope: Scope, status: int, seconds: float) -> None:
        """Log and measure a request; what was in it stays out."""
        route = getattr(scope.get("route"), "path", "other")
        self._metrics.observe_request(route=route, status=status, seconds=seconds)
        facts = {
            **scope["state"]["facts"],
            "method": scope["method"],
            "path": scope["path"][:200],
            "status": status,
            "ms": round(1e3 * seconds, 1),
        }
        logger.info("request", extra={"facts": facts})


def _request_id(headers: Headers) -> str:
    given = headers.get(REQUEST_ID, "")
    return given if _TAKEN_ID.fullmatch(given) else uuid.uuid4().hex


def _reply(refusal: ApiError, request_id: str) -> Response:
    problem = Problem(code=refusal.code, message=str(refusal), request_id=request_id)
    # Escaped, since a message may quote half a surrogate pair, which UTF-8 cannot hold.
    content = json.dumps(ErrorReply(error=problem).model_dump(), ensure_ascii=True)
    return Response(content, refusal.status, refusal.headers, media_type="application/json")


def _broken(error: Exception, request_id: str) -> BrokenError:
    """Log where an unexpected error comes from; its message may hold a text, and is left out."""
    frames = traceback.extract_tb(error.__traceback__)
    facts = {
        "request_id": request_id,
        "error": type(error).__name__,
        "where": [f"{frame.filename}:{frame.lineno} {frame.name}" for frame in frames],
    }
    logger.error("unexpected error", extra={"facts": facts})
    return BrokenError("something went wrong in the server; its log tells more under this id")
