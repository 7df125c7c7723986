"""ASGI middleware: errors, headers and log; access control; limits of request bodies."""

import asyncio
import json
import re
import time
import traceback
import uuid
from collections.abc import Callable, Mapping, Sequence
from hashlib import sha256
from hmac import compare_digest

from starlette.datastructures import Headers, MutableHeaders
from starlette.responses import Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from readagain.errors import pluralize
from readagain.serve.errors import ApiError, ClientDisconnectedError
from readagain.serve.logs import logger
from readagain.serve.metrics import Metrics
from readagain.serve.schemas import ErrorDetail, ErrorResponse
from readagain.serve.settings import RequestLimits

OPEN_PATHS = ("/", "/healthz", "/readyz", "/docs", "/openapi.json")
"""Paths that need no key, besides static files."""
SUMMARIZE = "/v1/summarize"
CHAT = "/v1/chat/completions"
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
"""Status that the log and the metrics have if the client disconnected, as in nginx."""
DISCARD_BYTES = 16 << 20
"""Maximum size of the rest of a rejected request's body that is read and discarded."""
DISCARD_S = 2.0
"""Maximum time for reading the rest of a rejected request's body."""
MAX_TOTAL_BYTES = 24 << 20
"""Maximum size of all bodies in a worker that are being received or in progress.

The texts of a body may take four more bytes of memory per byte. With 32 MiB, a worker took 427 MB.
"""
METHODS_WITHOUT_BODY = ("GET", "HEAD", "OPTIONS")

_VALID_ID = re.compile(r"[A-Za-z0-9._-]{1,64}")


class ErrorMiddleware:
    """Outermost middleware: adds headers, logs and counts requests, converts errors to JSON."""

    def __init__(self, app: ASGIApp, metrics: Metrics) -> None:
        self._app = app
        self._metrics = metrics

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Handle a request."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        start = time.monotonic()
        scope["query_string"] = b""  # no route has parameters, and many of them take long to parse
        request_id = Headers(scope=scope).get(REQUEST_ID, "")
        if not _VALID_ID.fullmatch(request_id):
            request_id = uuid.uuid4().hex
        scope["state"] = {"start": start, "log_fields": {"request_id": request_id}}
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
        except ClientDisconnectedError:
            pass  # there is no client to respond to
        except Exception as error:  # an unexpected error is logged and not shown to the client
            api_error = error if isinstance(error, ApiError) else _log_error(error, request_id)
            if status is None:
                await _discard_body(scope, receive)
                await _to_response(api_error, request_id)(scope, receive, send_with_headers)
        finally:
            self._log(scope, CLIENT_GONE if status is None else status, time.monotonic() - start)

    def _log(self, scope: Scope, status: int, seconds: float) -> None:
        """Log and count a request without its content."""
        route = getattr(scope.get("route"), "path", "other")
        self._metrics.observe_request(route=route, status=status, seconds=seconds)
        fields = {
            **scope["state"]["log_fields"],
            "method": scope["method"],
            "path": scope["path"][:200],
            "status": status,
            "ms": round(1e3 * seconds, 1),
        }
        logger.info("request", extra={"fields": fields})


def _to_response(error: ApiError, request_id: str) -> Response:
    detail = ErrorDetail(code=error.code, message=str(error), request_id=request_id)
    # Escaped, since a message may quote a lone surrogate, which UTF-8 cannot encode.
    content = json.dumps(ErrorResponse(error=detail).model_dump(), ensure_ascii=True)
    return Response(content, error.status, error.headers, media_type="application/json")


def _log_error(error: Exception, request_id: str) -> ApiError:
    """Log the origin of an unexpected error, without its message, which may quote a text."""
    frames = traceback.extract_tb(error.__traceback__)
    fields = {
        "request_id": request_id,
        "error": type(error).__name__,
        "where": [f"{frame.filename}:{frame.lineno} {frame.name}" for frame in frames],
    }
    logger.error("unexpected error", extra={"fields": fields})
    return ApiError(
        "internal", "server: internal error; the server log has details for this request id"
    )


async def _discard_body(scope: Scope, receive: Receive) -> None:
    """Read the rest of the body of a rejected request, within limits.

    Clients that send the whole body before they read the response, such as urllib, would otherwise
    get a connection reset.
    """
    if scope["method"] in METHODS_WITHOUT_BODY or "expect" in Headers(scope=scope):
        return
    try:
        async with asyncio.timeout(DISCARD_S):
            size = 0
            while size <= DISCARD_BYTES and not scope["state"].get("is_body_read"):
                message = await receive()
                size += len(message.get("body", b""))
                scope["state"]["is_body_read"] = not message.get("more_body", False)
    except TimeoutError:
        pass


class AdmissionMiddleware:
    """Rejects requests without a valid key, or if the queue is full, before their body is read.

    If `keys` is empty, no key is needed. `check_capacity` raises an `ApiError` for a full queue.
    """

    def __init__(
        self, app: ASGIApp, *, keys: Sequence[str], check_capacity: Callable[[], None]
    ) -> None:
        self._app = app
        # Digests have equal lengths, so that comparing them does not reveal the length of a key.
        self._digests = [sha256(key.encode()).digest() for key in keys]
        self._check_capacity = check_capacity

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Handle a request, or raise an `ApiError`."""
        if scope["type"] == "http":
            path, headers = scope["path"], Headers(scope=scope)
            if "content-length" in headers and "transfer-encoding" in headers:
                raise ApiError(
                    "bad_request",
                    "headers: both Content-Length and Transfer-Encoding; send one of them",
                    {"Connection": "close"},
                )
            is_open_path = path in OPEN_PATHS or path.startswith("/static/")
            if self._digests and not is_open_path:
                self._check_key(headers)
            if path in (SUMMARIZE, CHAT):  # health checks must work under load
                self._check_capacity()
        await self._app(scope, receive, send)

    def _check_key(self, headers: Headers) -> None:
        scheme, _, key = headers.get("authorization", "").partition(" ")
        digest = sha256(key.strip().encode()).digest()
        # All keys are compared, so that the time does not depend on which one matches.
        matches = [compare_digest(digest, key_digest) for key_digest in self._digests]
        if scheme.lower() != "bearer" or not any(matches):
            raise ApiError(
                "unauthorized",
                "API key: missing or invalid; send the header Authorization: Bearer KEY",
                {"WWW-Authenticate": "Bearer"},
            )


class BodyMiddleware:
    """Reads the body of a request within limits of size and time, and limits requests in progress.

    If a body arrives while `max_requests` others are being received, or if all bodies together have
    more than `max_total_bytes`, the oldest body that is being received is aborted, so that slow
    clients cannot block others. A request with a complete body is in progress; `max_requests` is
    also the limit of requests in progress.
    """

    def __init__(
        self, app: ASGIApp, *, limits: RequestLimits, max_total_bytes: int = MAX_TOTAL_BYTES
    ) -> None:
        self._app = app
        self._limits = limits
        self._max_total_bytes = max(max_total_bytes, limits.max_body_bytes)
        # Bodies that are being received, with their timeouts, oldest first.
        self._receiving: dict[asyncio.Timeout, bytearray] = {}
        self._num_requests = 0
        self._num_bytes = 0  # of all bodies that are being received or in progress

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Handle a request, or raise an `ApiError` or `ClientDisconnectedError`."""
        if scope["type"] != "http" or scope["method"] in METHODS_WITHOUT_BODY:
            await self._app(scope, receive, send)
            return
        length = Headers(scope=scope).get("content-length", "")
        if length.isdecimal() and int(length) > self._limits.max_body_bytes:
            raise self._too_large_error()
        body = await self._read_in_time(receive)
        num_bytes = len(body)
        self._num_bytes += num_bytes
        try:
            scope["state"]["is_body_read"] = True
            receive = _replay(body, receive)
            del body  # the application frees it when it has parsed it
            if self._num_requests >= self._limits.max_requests:
                num_requests = pluralize(self._num_requests, "request")
                raise _busy_error(f"{num_requests} in progress, which is the limit")
            self._num_requests += 1
            try:
                await self._app(scope, receive, send)
            finally:
                self._num_requests -= 1
        finally:
            self._num_bytes -= num_bytes

    async def _read_in_time(self, receive: Receive) -> bytes:
        """Read a body within the timeout; if too many are being received, abort the oldest."""
        if len(self._receiving) >= self._limits.max_requests:
            self._abort(next(iter(self._receiving)))
        try:
            async with asyncio.timeout(self._limits.timeout_s) as timeout:
                self._receiving[timeout] = bytearray()
                try:
                    return await self._read(receive, timeout)
                finally:
                    self._remove(timeout)
        except TimeoutError as error:
            raise ApiError(
                "slow_body",
                f"body: not received within {self._limits.timeout_s:g} s, or aborted because the "
                "server is busy; send it without pauses",
                {"Connection": "close"},
            ) from error

    async def _read(self, receive: Receive, timeout: asyncio.Timeout) -> bytes:
        while True:
            message = await receive()
            if message["type"] == "http.disconnect":
                raise ClientDisconnectedError("the client disconnected")
            if timeout not in self._receiving:  # aborted when the message had already arrived
                raise TimeoutError
            part, body = message.get("body", b""), self._receiving[timeout]
            body += part
            self._num_bytes += len(part)
            if len(body) > self._limits.max_body_bytes:
                raise self._too_large_error()
            self._free_memory(timeout)
            if not message.get("more_body", False):
                return bytes(body)

    def _free_memory(self, timeout: asyncio.Timeout) -> None:
        """Abort bodies that are older than that of `timeout` until all have few enough bytes."""
        while self._num_bytes > self._max_total_bytes:
            oldest = next(iter(self._receiving))
            if oldest is timeout:
                raise _busy_error(f"requests of {self._num_bytes:,} bytes in progress")
            self._abort(oldest)

    def _abort(self, timeout: asyncio.Timeout) -> None:
        """Abort a body that is being received."""
        self._remove(timeout)
        if not timeout.expired():
            timeout.reschedule(0.0)  # expires at once

    def _remove(self, timeout: asyncio.Timeout) -> None:
        """Free the memory of a body that is no longer being received."""
        body = self._receiving.pop(timeout, bytearray())
        self._num_bytes -= len(body)
        body.clear()  # the traceback of an error may keep the object

    def _too_large_error(self) -> ApiError:
        return ApiError(
            "body_too_large",
            f"body: more than {self._limits.max_body_bytes:,} bytes; send fewer or shorter texts",
        )


def _busy_error(reason: str) -> ApiError:
    return ApiError("queue_full", f"server: {reason}; try again in a moment")


def _replay(body: bytes, receive: Receive) -> Receive:
    """Return a `receive` that returns the body first, and then the messages of `receive`."""
    messages: list[Message] = [{"type": "http.request", "body": body, "more_body": False}]

    async def replay() -> Message:
        return messages.pop() if messages else await receive()

    return replay
