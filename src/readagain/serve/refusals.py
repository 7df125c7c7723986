"""Requests that are refused: a status for each, a code for programs, a sentence for people."""

from collections.abc import Mapping
from typing import ClassVar

from readagain.errors import RequestError


class ApiError(RequestError):
    """A request that gets an error for an answer.

    Args:
        message: what the client reads; one sentence.
        headers: what its reply says besides.
    """

    status: ClassVar[int]
    code: ClassVar[str]

    def __init__(self, message: str, headers: Mapping[str, str] | None = None) -> None:
        super().__init__(message)
        self.headers = dict(headers or {})


class BadJsonError(ApiError):
    """The body cannot be read as JSON."""

    status = 400
    code = "bad_json"


class UnauthorizedError(ApiError):
    """No key, or one that does not fit."""

    status = 401
    code = "unauthorized"


class NotFoundError(ApiError):
    """No such path."""

    status = 404
    code = "not_found"


class MethodNotAllowedError(ApiError):
    """A path that is there, but not for this method."""

    status = 405
    code = "method_not_allowed"


class SlowBodyError(ApiError):
    """The body did not arrive in time."""

    status = 408
    code = "slow_body"


class BodyTooLargeError(ApiError):
    """More bytes than a request may have."""

    status = 413
    code = "body_too_large"


class NotJsonError(ApiError):
    """The body says that it is something else."""

    status = 415
    code = "not_json"


class InvalidError(ApiError):
    """JSON that asks for what cannot be done."""

    status = 422
    code = "invalid"


class BrokenError(ApiError):
    """Our own mistake; the log knows more than the client."""

    status = 500
    code = "internal"


class QueueFullError(ApiError):
    """More waits already than can be answered soon."""

    status = 503
    code = "queue_full"

    def __init__(self, message: str) -> None:
        super().__init__(message, {"Retry-After": "1"})


class StoppingError(ApiError):
    """The server finishes what it has, and takes nothing new."""

    status = 503
    code = "stopping"

    def __init__(self, message: str) -> None:
        super().__init__(message, {"Retry-After": "1"})


class DeadlineError(ApiError):
    """The answer was not there in time, and is no longer worked on."""

    status = 504
    code = "deadline"
