"""Requests that are refused: a status for each, a code for programs, a sentence for people."""

from collections.abc import Mapping
from typing import ClassVar

from readagain.errors import RequestError

_SOON: Mapping[str, str] = {"Retry-After": "1"}


class RefusedError(RequestError):
    """A request that gets an error for an answer; its message is what the client reads."""

    status: ClassVar[int]
    code: ClassVar[str]
    headers: ClassVar[Mapping[str, str]] = {}


class BadJsonError(RefusedError):
    """The body cannot be read as JSON."""

    status = 400
    code = "bad_json"


class UnauthorizedError(RefusedError):
    """No key, or one that does not fit."""

    status = 401
    code = "unauthorized"
    headers = {"WWW-Authenticate": "Bearer"}


class SlowBodyError(RefusedError):
    """The body did not arrive in time."""

    status = 408
    code = "slow_body"


class BodyTooLargeError(RefusedError):
    """More bytes than a request may have."""

    status = 413
    code = "body_too_large"


class NotJsonError(RefusedError):
    """The body says that it is something else."""

    status = 415
    code = "not_json"


class InvalidError(RefusedError):
    """JSON that asks for what cannot be done."""

    status = 422
    code = "invalid"


class BrokenError(RefusedError):
    """Our own mistake; the log knows more than the client."""

    status = 500
    code = "internal"


class QueueFullError(RefusedError):
    """More waits already than can be answered soon."""

    status = 503
    code = "queue_full"
    headers = _SOON


class StoppingError(RefusedError):
    """The server finishes what it has, and takes nothing new."""

    status = 503
    code = "stopping"
    headers = _SOON


class DeadlineError(RefusedError):
    """The answer was not there in time, and is no longer worked on."""

    status = 504
    code = "deadline"
