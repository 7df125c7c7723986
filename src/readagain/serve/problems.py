"""What is wrong with a request, in one line: the errors of others as refusals of ours."""

from collections.abc import Iterable, Mapping, Sequence
from difflib import get_close_matches
from typing import Any

from fastapi.exceptions import RequestValidationError
from starlette.exceptions import HTTPException
from starlette.requests import Request

from readagain.errors import ConfigError, type_in_words
from readagain.serve.refusals import (
    BadJsonError,
    InvalidError,
    MethodNotAllowedError,
    NotFoundError,
    NotJsonError,
)
from readagain.serve.schema import HALF_A_PAIR, SummarizeRequest

MAX_PROBLEMS = 5
"""How many problems of one request are told."""
_MAX_QUOTED = 40

_EXPECTED = {
    "int_type": "a whole number",
    "bool_type": "true or false",
    "list_type": "a list",
    "string_type": "a string",
    "model_attributes_type": 'an object such as {"texts": ["..."]}',
}


async def refuse_body(request: Request, error: Exception) -> None:
    """Refuse a body that is not what the schema asks for.

    Raises:
        RefusedError: saying what is wrong with it.
    """
    assert isinstance(error, RequestValidationError)
    problems = error.errors()
    if problems and problems[0]["type"] == "json_invalid":
        place, reason = problems[0]["loc"][-1], problems[0]["ctx"]["error"]
        raise BadJsonError(f"the body is not JSON: {reason} at character {place}")
    if isinstance(error.body, bytes):
        raise NotJsonError("the body is not called JSON; send Content-Type: application/json")
    raise InvalidError(describe(problems))


async def refuse_route(request: Request, error: Exception) -> None:
    """Refuse what no route answers.

    Raises:
        RefusedError: saying so.
    """
    assert isinstance(error, HTTPException)
    path, method = request.url.path[:100], request.method[:20]
    match error.status_code:
        case 400:  # how FastAPI puts it that json raised something else than its own error
            raise BadJsonError("the body is not JSON that can be read: UTF-8, not nested deeply")
        case 404:
            raise NotFoundError(f"nothing at {path}; see /docs for what there is")
        case 405:
            raise MethodNotAllowedError(
                f"{path} does not take {method}; see /docs for what it takes", error.headers
            )
    raise error


async def refuse_setting(request: Request, error: Exception) -> None:
    """Refuse limits that the engine cannot honour, in its own words.

    Raises:
        InvalidError: always.
    """
    raise InvalidError(str(error))


HANDLERS: dict[int | type[Exception], Any] = {
    RequestValidationError: refuse_body,
    HTTPException: refuse_route,
    ConfigError: refuse_setting,
}
"""Which function turns which exception into a `RefusedError`; the edge replies to that."""


def describe(problems: Sequence[Mapping[str, Any]]) -> str:
    """Say in one line what is wrong with a request, the first few problems of it."""
    told = [_describe_one(problem) for problem in problems[:MAX_PROBLEMS]]
    if len(problems) > MAX_PROBLEMS:
        told.append(f"and {len(problems) - MAX_PROBLEMS} more")
    return "; ".join(told)


def _describe_one(problem: Mapping[str, Any]) -> str:
    name = _name(problem["loc"][1:])
    value, context = problem.get("input"), problem.get("ctx", {})
    match problem["type"]:
        case "missing":
            return f"no {name}" if name != "the body" else "no body; expected a JSON object"
        case "extra_forbidden":
            return _unknown_field(problem["loc"][-1][:_MAX_QUOTED])
        case "greater_than_equal":
            return f"{name} is {_quoted(value)}; expected {context['ge']} or more"
        case "less_than_equal":
            return f"{name} is {_quoted(value)}; expected {context['le']} or less"
        case "literal_error":
            return f"{name} is {_quoted(value)}; expected {context['expected']}"
        case "string_too_long":
            most = context["max_length"]
            return f"{name} has {len(str(value))} characters; at most {most} are taken"
        case "too_short":
            return f"{name} is empty; expected at least one"
        case "string_unicode":  # in the name of a field
            return f"{name} {HALF_A_PAIR}"
        case "value_error":
            return f"{name} {context['error']}"
        case kind if kind in _EXPECTED:
            # Never the value itself, which may be somebody's text.
            return f"{name} is {type_in_words(value)}; expected {_EXPECTED[kind]}"
    return f"{name}: {problem['msg']}"


def _name(location: Iterable[str | int]) -> str:
    """Name a place in a request as one would in code: texts[3]."""
    name = ""
    for step in location:
        name += f"[{step}]" if isinstance(step, int) else f".{step}" if name else step
    return name[:_MAX_QUOTED] or "the body"


def _unknown_field(name: str) -> str:
    close = get_close_matches(name, SummarizeRequest.model_fields, n=1)
    hint = f"did you mean '{close[0]}'?" if close else "see /docs for those there are"
    return f"no field {_quoted(name)}; {hint}"


def _quoted(value: object) -> str:
    shown = repr(value)
    return shown if len(shown) <= _MAX_QUOTED else f"{shown[:_MAX_QUOTED]}..."
