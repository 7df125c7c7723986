"""The page at /docs: the OpenAPI schema as plain HTML that loads nothing from elsewhere."""

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from html import escape
from pathlib import Path
from typing import Any

from readagain.serve.refusals import ApiError

STYLE = Path(__file__).parent / "reference.css"

_EXAMPLE = """curl -s {url}v1/summarize \\
  -H 'Content-Type: application/json' \\
  -d '{{"texts": ["Police in Ghent said on Monday that 12 people crossed the old bridge."]}}'"""


def write_reference(described: Mapping[str, Any], *, url: str) -> str:
    """Write the page for an OpenAPI schema.

    Args:
        described: the schema.
        url: where the reader found the server, for an example to copy.
    """
    info = described["info"]
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
            *_operations(described),
            "<h2>Shapes</h2>",
            *_shapes(described),
            "<h2>Errors</h2>",
            *_errors(),
            "</main></body></html>",
        ]
    )


def _operations(described: Mapping[str, Any]) -> Iterator[str]:
    for path, operations in described["paths"].items():
        for method, operation in operations.items():
            yield f"<h2><code>{method.upper()} {escape(path)}</code></h2>"
            yield f"<p>{escape(operation['description'])}</p><ul>"
            if "requestBody" in operation:
                yield f"<li>takes {_body(operation['requestBody'])}</li>"
            for status, response in operation["responses"].items():
                named = "any error" if status == "default" else status
                yield f"<li>{escape(named)}: {_body(response)}</li>"
            if "security" in operation:
                yield "<li>needs the header <code>Authorization: Bearer KEY</code></li>"
            yield "</ul>"


def _body(holder: Mapping[str, Any]) -> str:
    content = holder.get("content", {}).get("application/json", {})
    return _type(content["schema"]) if content.get("schema") else "text"


def _shapes(described: Mapping[str, Any]) -> Iterator[str]:
    schemas = described["components"]["schemas"]
    for name in _in_order_of_use(described):
        schema = schemas[name]
        required = schema.get("required", ())
        yield f'<h3 id="{escape(name)}">{escape(name)}</h3>'
        yield f"<p>{escape(schema.get('description', ''))}</p>"
        rows = [
            (
                f"<code>{escape(field)}</code>"
                + ("" if field in required else f" <i>{_default(facts)}</i>"),
                _type(facts),
                escape(facts.get("description", "")),
            )
            for field, facts in schema.get("properties", {}).items()
        ]
        yield _table(("field", "type", "meaning"), rows)


def _in_order_of_use(described: Mapping[str, Any]) -> list[str]:
    """List the shapes as the routes name them, each followed by those that it is made of."""
    found: list[str] = []

    def look(part: object) -> None:
        if isinstance(part, Mapping):
            name = str(part.get("$ref", "")).rpartition("/")[2]
            if name and name not in found:
                found.append(name)
                look(described["components"]["schemas"][name])
            for each in part.values():
                look(each)
        elif isinstance(part, list):
            for each in part:
                look(each)

    look(described["paths"])
    return found


def _errors() -> Iterator[str]:
    refusals = sorted(ApiError.__subclasses__(), key=lambda refusal: refusal.status)
    yield _table(
        ("status", "code", "when"),
        [(str(r.status), f"<code>{r.code}</code>", escape(r.__doc__ or "")) for r in refusals],
    )


def _table(heads: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    head = "".join(f'<th scope="col">{each}</th>' for each in heads)
    body = "\n".join(f"<tr>{''.join(f'<td>{cell}</td>' for cell in row)}</tr>" for row in rows)
    return f"<table><thead><tr>{head}</tr></thead><tbody>\n{body}\n</tbody></table>"


def _default(facts: Mapping[str, Any]) -> str:
    return escape(json.dumps(facts["default"])) if "default" in facts else "optional"


def _type(schema: Mapping[str, Any]) -> str:
    """Say in HTML what a value is, with its bounds."""
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
        case None, most:
            return f", at most {most}"
        case least, None:
            return f", at least {least}"
        case least, most:
            return f", {least} to {most}"
    return ""
