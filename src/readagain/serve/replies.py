"""Errors as replies: one shape, one sentence, and never a traceback."""

from collections.abc import Iterable, Mapping, Sequence
from difflib import get_close_matches
from typing import Any

from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse
from starlette.exceptions import HTTPException
from starlette.requests import Request

from readagain.errors import ConfigError
from readagain.serve.refusals import BadJsonError, InvalidError, NotJsonError, RefusedError
from readagain.serve.schema import ErrorReply, Problem, SummarizeRequest

MAX_PROBLEMS = 5
"""How many problems of one request are told."""
_MAX_QUOTED = 40

_CODES = {404: "not_found", 405: "method_not_allowed"}
_KINDS = {
    "int_type": "a whole number",
    "bool_type": "true or false",
    "list_type": "a list",
    "string_type": "a string",
    "model_attributes_type": 'an object such as {"texts": ["..."]}',
}


def error_reply(
    request_id: str, status: int, code: str, message: str, headers: Mapping[str, str]
) -> JSONResponse:
    """Write an error in the one shape that all of them have."""
    problem = ErrorReply(error=Problem(code=code, message=message, request_id=request_id))
    return JSONResponse(problem.model_dump(), status_code=status, headers=dict(headers))


async def refuse(request: Request, error: Exception) -> JSONResponse:
    """Reply to a request that is refused."""
    assert isinstance(error, RefusedError)
    return error_reply(
        request_id_of(request.scope), error.status, error.code, str(error), error.headers
    )


async def refuse_setting(request: Request, error: Exception) -> JSONResponse:
    """Reply to a request whose limits the engine cannot honour, in the engine's words."""
    return await refuse(request, InvalidError(str(error).removeprefix("decode.")))


async def refuse_invalid(request: Request, error: Exception) -> JSONResponse:
    """Reply to a body that is not what the schema asks for."""
    assert isinstance(error, RequestValidationError)
    problems = error.errors()
    if problems and problems[0]["type"] == "json_invalid":
        where, reason = problems[0]["loc"][-1], problems[0]["ctx"]["error"]
        return await refuse(
            request, BadJsonError(f"the body is not JSON: {reason} at character {where}")
        )
    if isinstance(error.body, bytes):
        return await refuse(
            request, NotJsonError("the body is not JSON; say Content-Type: application/json")
        )
    return await refuse(request, InvalidError(describe(problems)))


async def refuse_route(request: Request, error: Exception) -> JSONResponse:
    """Reply to what the framework refuses: no such path, or not with this method."""
    assert isinstance(error, HTTPException)
    path, method = request.url.path[:100], request.method[:20]
    if error.status_code == 400:  # how FastAPI words what json cannot read
        return await refuse(request, BadJsonError("the body is not JSON in UTF-8 that can be read"))
    message = {
        404: f"nothing at {path}; see /docs for what there is",
        405: f"{path} does not take {method}; see /docs for what it takes",
    }.get(error.status_code, str(error.detail))
    return error_reply(
        request_id_of(request.scope),
        error.status_code,
        _CODES.get(error.status_code, "refused"),
        message,
        error.headers or {},
    )


HANDLERS: dict[int | type[Exception], Any] = {
    RefusedError: refuse,
    ConfigError: refuse_setting,
    RequestValidationError: refuse_invalid,
    HTTPException: refuse_route,
}
"""Which function replies to which exception."""


def request_id_of(scope: Mapping[str, Any]) -> str:
    """Return the id that the edge gave a request."""
    return str(scope["state"]["request_id"])


def describe(problems: Sequence[Mapping[str, Any]]) -> str:
    """Say in one line what is wrong with a request, the first few problems of it."""
    told = [_describe_one(problem) for problem in problems[:MAX_PROBLEMS]]
    if len(problems) > MAX_PROBLEMS:
        told.append(f"and {len(problems) - MAX_PROBLEMS} more")
    return "; ".join(told)


def _describe_one(problem: Mapping[str, Any]) -> str:
    name = _name(problem["loc"][1:])
    value, limits = problem.get("input"), problem.get("ctx", {})
    match problem["type"]:
        case "missing":
            return f"no {name}" if name != "the body" else "no body; expected a JSON object"
        case "extra_forbidden":
            return _unknown_field(name)
        case "greater_than_equal":
            return f"{name} is {_quoted(value)}; expected {limits['ge']} or more"
        case "less_than_equal":
            return f"{name} is {_quoted(value)}; expected {limits['le']} or less"
        case "literal_error":
            return f"{name} is {_quoted(value)}; expected {limits['expected']}"
        case "too_short":
            return f"{name} is empty; expected at least one"
        case "string_unicode":
            return f"{name} holds half a surrogate pair, which is no character"
        case kind if kind in _KINDS:
            return f"{name} is {_kind_of(value)}; expected {_KINDS[kind]}"
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
    return f"no field '{name}'; {hint}"


def _quoted(value: object) -> str:
    shown = repr(value)
    return shown if len(shown) <= _MAX_QUOTED else f"{shown[:_MAX_QUOTED]}..."


def _kind_of(value: object) -> str:
    """Say what kind of JSON a value is; never the value, which may be somebody's text."""
    if value is None:
        return "null"
    names = {
        bool: "true or false", int: "a whole number", float: "a fraction",
        str: "a string", list: "a list", dict: "an object",
    }  # fmt: skip
    return names.get(type(value), "something else")
