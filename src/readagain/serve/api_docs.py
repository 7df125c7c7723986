"""OpenAPI schema, and a page at /docs made from it that loads nothing from other sites."""

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from html import escape
from pathlib import Path
from typing import Any

from fastapi import FastAPI
from fastapi.openapi.utils import get_openapi
from fastapi.responses import FileResponse, HTMLResponse, Response
from starlette.requests import Request
from starlette.routing import Route

from readagain.serve.errors import ERRORS
from readagain.serve.middleware import OPEN_PATHS
from readagain.serve.settings import ServeSettings
from readagain.version import __version__

STYLE = Path(__file__).parent / "api_docs.css"
DESCRIPTION = (
    "Headlines for texts. Within /v1 fields are added, never renamed or removed. Every response "
    "has the header X-Request-Id: the one of the request, or a new one. Every error has the form "
    "of ErrorResponse."
)

_EXAMPLE = """curl -s {url}v1/summarize \\
  -H 'Content-Type: application/json' \\
  -d '{{"texts": ["Police in Ghent said on Monday that 12 people crossed the old bridge."]}}'"""


def add_docs(app: FastAPI, settings: ServeSettings) -> None:
    """Add the schema at /openapi.json and the page at /docs."""

    def schema() -> dict[str, Any]:
        if app.openapi_schema is None:
            app.openapi_schema = get_openapi(
                title="readagain", version=__version__, description=DESCRIPTION, routes=app.routes
            )
            if settings.api_keys:
                _add_security(app.openapi_schema)
        return app.openapi_schema

    app.openapi = schema  # type: ignore[method-assign]

    async def docs(request: Request) -> Response:
        return HTMLResponse(write_reference(schema(), url=str(request.base_url)))

    async def style(request: Request) -> Response:
        return FileResponse(STYLE)

    app.router.routes.extend([Route("/docs", docs), Route("/docs/style.css", style)])


def _add_security(schema: dict[str, Any]) -> None:
    schema["components"]["securitySchemes"] = {"key": {"type": "http", "scheme": "bearer"}}
    for path in schema["paths"].keys() - set(OPEN_PATHS):
        for operation in schema["paths"][path].values():
            operation["security"] = [{"key": []}]


def write_reference(schema: Mapping[str, Any], *, url: str) -> str:
    """Return the HTML page of an OpenAPI schema.

    Args:
        schema: the OpenAPI schema.
        url: address of the server, for an example to copy.
    """
    info = schema["info"]
    return "\n".join(
        [
            "<!doctype html>",
            '<html lang="en"><head><meta charset="utf-8">',
            '<meta name="viewport" content="width=device-width, initial-scale=1">',
            '<meta name="color-scheme" content="light dark">',
            f"<title>{escape(info['title'])} API</title>",
            '<link rel="icon" type="image/svg+xml" href="static/icon.svg">',
            '<link rel="stylesheet" href="docs/style.css"></head><body><main>',
            f"<h1>{escape(info['title'])} API <small>{escape(info['version'])}</small></h1>",
            f"<p>{escape(info['description'])}</p>",
            '<p><a href="openapi.json">openapi.json</a> · <a href=".">the page</a></p>',
            f"<pre>{escape(_EXAMPLE.format(url=url))}</pre>",
            *_operations(schema),
            "<h2>Schemas</h2>",
            *_schemas(schema),
            "<h2>Errors</h2>",
            *_errors(),
            "</main></body></html>",
        ]
    )


def _operations(schema: Mapping[str, Any]) -> Iterator[str]:
    for path, operations in schema["paths"].items():
        for method, operation in operations.items():
            yield f"<h2><code>{method.upper()} {escape(path)}</code></h2>"
            yield f"<p>{escape(operation['description'])}</p><ul>"
            if "requestBody" in operation:
                yield f"<li>body: {_body(operation['requestBody'])}</li>"
            for status, response in operation["responses"].items():
                label = "any error" if status == "default" else status
                yield f"<li>{escape(label)}: {_body(response)}</li>"
            if "security" in operation:
                yield "<li>needs the header <code>Authorization: Bearer KEY</code></li>"
            yield "</ul>"


def _body(holder: Mapping[str, Any]) -> str:
    content = holder.get("content", {}).get("application/json", {})
    return _type(content["schema"]) if content.get("schema") else "text"


def _schemas(document: Mapping[str, Any]) -> Iterator[str]:
    for name in _in_order_of_use(document):
        schema = document["components"]["schemas"][name]
        required = schema.get("required", ())
        yield f'<h3 id="{escape(name)}">{escape(name)}</h3>'
        yield f"<p>{escape(schema.get('description', ''))}</p>"
        rows = [
            (
                f"<code>{escape(field)}</code>"
                + ("" if field in required else f" <i>{_default(value)}</i>"),
                _type(value),
                escape(value.get("description", "")),
            )
            for field, value in schema.get("properties", {}).items()
        ]
        yield _table(("field", "type", "meaning"), rows)


def _in_order_of_use(document: Mapping[str, Any]) -> list[str]:
    """Return schema names in the order of the routes, each before those that it contains."""
    found: list[str] = []

    def visit(part: object) -> None:
        if isinstance(part, Mapping):
            name = str(part.get("$ref", "")).rpartition("/")[2]
            if name and name not in found:
                found.append(name)
                visit(document["components"]["schemas"][name])
            for each in part.values():
                visit(each)
        elif isinstance(part, list):
            for each in part:
                visit(each)

    visit(document["paths"])
    return found


def _errors() -> Iterator[str]:
    yield _table(
        ("status", "code", "when"),
        [
            (str(status), f"<code>{code}</code>", escape(when))
            for code, (status, when) in ERRORS.items()
        ],
    )


def _table(heads: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    head = "".join(f'<th scope="col">{each}</th>' for each in heads)
    body = "\n".join(f"<tr>{''.join(f'<td>{cell}</td>' for cell in row)}</tr>" for row in rows)
    return f"<table><thead><tr>{head}</tr></thead><tbody>\n{body}\n</tbody></table>"


def _default(value: Mapping[str, Any]) -> str:
    return escape(json.dumps(value["default"])) if "default" in value else "optional"


def _type(schema: Mapping[str, Any]) -> str:
    """Return the type of a value and its bounds as HTML."""
    if "$ref" in schema:
        name = escape(schema["$ref"].rpartition("/")[2])
        return f'<a href="#{name}">{name}</a>'
    if "anyOf" in schema:
        return " or ".join(map(_type, schema["anyOf"]))
    if "enum" in schema:
        return " or ".join(f"<code>{escape(json.dumps(each))}</code>" for each in schema["enum"])
    if "const" in schema:
        return f"<code>{escape(json.dumps(schema['const']))}</code>"
    if schema.get("type") == "array":
        return f"list of {_type(schema['items'])}{_bounds(schema, 'minItems', 'maxItems')}"
    bounds = _bounds(schema, "minimum", "maximum") + _bounds(schema, "minLength", "maxLength")
    return escape(schema.get("type", "anything")) + bounds


def _bounds(schema: Mapping[str, Any], low: str, high: str) -> str:
    match schema.get(low), schema.get(high):
        case None, None:
            return ""
        case None, maximum:
            return f", at most {maximum}"
        case minimum, None:
            return f", at least {minimum}"
        case minimum, maximum:
            return f", {minimum} to {maximum}"
    return ""
