"""Error responses with status and code, and messages for invalid requests."""

from collections.abc import Iterable, Mapping, Sequence
from difflib import get_close_matches
from http import HTTPStatus
from typing import Any

from fastapi.exceptions import RequestValidationError
from starlette.exceptions import HTTPException
from starlette.requests import Request

from readagain.errors import MAX_QUOTE_LENGTH, ConfigError, ReadAgainError, quoted, type_in_words
from readagain.serve.schemas import SummarizeRequest

MAX_PROBLEMS = 5
"""Maximum number of problems in the error message of one request."""

# What pydantic expects, by the type of its error.
_EXPECTED = {
    "int_type": "a whole number",
    "bool_type": "true or false",
    "list_type": "a list",
    "string_type": "a string",
    "model_attributes_type": "an object; see /docs for its fields",
}


ERRORS = {
    "bad_request": 400,
    "bad_json": 400,
    "unauthorized": 401,
    "not_found": 404,
    "method_not_allowed": 405,
    "slow_body": 408,
    "body_too_large": 413,
    "not_json": 415,
    "invalid": 422,
    "internal": 500,
    "queue_full": 503,
    "stopping": 503,
    "deadline": 504,
}
"""HTTP status of each error code; docs/serving.md explains the codes."""


class ApiError(ReadAgainError):
    """Error that becomes an HTTP response; `code` is one of `ERRORS`."""

    def __init__(self, code: str, message: str, headers: Mapping[str, str] | None = None) -> None:
        super().__init__(message)
        self.code = code
        self.status = ERRORS[code]
        self.headers = dict(headers or {})
        if self.status == HTTPStatus.SERVICE_UNAVAILABLE:
            self.headers["Retry-After"] = "1"


def stopping_error() -> ApiError:
    """Return the error for a request to a server that is stopping."""
    return ApiError("stopping", "server: stopping; send the request again")


class ClientDisconnectedError(ReadAgainError):
    """The client disconnected before the response."""


async def handle_validation_error(request: Request, error: Exception) -> None:
    """Raise an `ApiError` in place of FastAPI's error for a body that does not match the schema."""
    assert isinstance(error, RequestValidationError)
    problems = error.errors()
    if problems and problems[0]["type"] == "json_invalid":
        position, reason = problems[0]["loc"][-1], problems[0]["ctx"]["error"]
        raise ApiError("bad_json", f"body: not valid JSON; {reason} at character {position}")
    if isinstance(error.body, bytes):  # FastAPI parses a body only if it is declared as JSON
        raise ApiError(
            "not_json", "body: not declared as JSON; send Content-Type: application/json"
        )
    raise ApiError("invalid", describe_problems(problems))


async def handle_http_error(request: Request, error: Exception) -> None:
    """Raise an `ApiError` in place of errors of Starlette's router and FastAPI's JSON parsing."""
    assert isinstance(error, HTTPException)
    path, method = request.url.path[:100], request.method[:20]
    match error.status_code:
        case 400:  # raised by FastAPI for errors of json.loads other than JSONDecodeError
            raise ApiError("bad_json", "body: not valid JSON; expected UTF-8 without deep nesting")
        case 404:
            raise ApiError("not_found", f"{path}: not found; see /docs for all paths")
        case 405:
            raise ApiError(
                "method_not_allowed", f"{path}: does not support {method}; see /docs", error.headers
            )
    raise error


async def handle_config_error(request: Request, error: Exception) -> None:
    """Raise an `ApiError` in place of the summarizer's error for invalid options."""
    raise ApiError("invalid", str(error))


HANDLERS: dict[int | type[Exception], Any] = {
    RequestValidationError: handle_validation_error,
    HTTPException: handle_http_error,
    ConfigError: handle_config_error,
}
"""Exception handlers that raise an `ApiError` instead; `ErrorMiddleware` turns it into JSON."""


def describe_problems(problems: Sequence[Mapping[str, Any]]) -> str:
    """Describe the first problems that pydantic found, in one line."""
    descriptions = [_describe_problem(problem) for problem in problems[:MAX_PROBLEMS]]
    if len(problems) > MAX_PROBLEMS:
        descriptions.append(f"and {len(problems) - MAX_PROBLEMS} more")
    return "; ".join(descriptions)


def _describe_problem(problem: Mapping[str, Any]) -> str:
    name = _field_name(problem["loc"][1:])
    value, context = problem.get("input"), problem.get("ctx", {})
    match problem["type"]:
        case "missing":
            return f"{name} is missing"
        case "unknown_field":
            return _describe_unknown_field(context["name"])
        case "greater_than_equal":
            return f"{name} is {quoted(value)}; expected {context['ge']} or more"
        case "less_than_equal":
            return f"{name} is {quoted(value)}; expected {context['le']} or less"
        case "literal_error":
            return f"{name} is {quoted(value)}; expected {context['expected']}"
        case "string_too_long":
            return (
                f"{name} has {len(str(value)):,} characters; the limit is {context['max_length']:,}"
            )
        case "too_long":
            return f"{name} has {len(value or ()):,} items; the limit is {context['max_length']:,}"
        case "too_short":
            return f"{name} is empty; expected at least one item"
        case "string_unicode":
            return f"{name} contains a lone surrogate; expected Unicode text"
        case kind if kind in _EXPECTED:
            # The value is not quoted, since it may be a private text.
            return f"{name} is {type_in_words(value)}; expected {_EXPECTED[kind]}"
    return f"{name}: {problem['msg']}"


def _field_name(location: Iterable[str | int]) -> str:
    """Return the name of a field as it is written in code, such as texts[3]."""
    name = ""
    for step in location:
        name += f"[{step}]" if isinstance(step, int) else f".{step}" if name else step
    return name[:MAX_QUOTE_LENGTH] or "body"


def _describe_unknown_field(name: str) -> str:
    close = get_close_matches(name, SummarizeRequest.model_fields, n=1)
    hint = f"did you mean '{close[0]}'?" if close else "see /docs for all fields"
    return f"unknown field {quoted(name)}; {hint}"
