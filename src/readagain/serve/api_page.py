"""Page that lists the routes and request fields of the API, without external resources."""

from collections.abc import Iterator, Mapping
from html import escape
from typing import Any


def api_page(schema: Mapping[str, Any]) -> str:
    """Return a page of an OpenAPI schema: routes, descriptions and the fields of requests."""
    title = escape(f"{schema['info']['title']} API")
    return (
        '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<title>{title}</title>\n"
        '<link rel="icon" type="image/svg+xml" href="static/icon.svg">\n'
        '<link rel="stylesheet" href="static/explain/explanation.css">\n'
        '<link rel="stylesheet" href="static/page.css">\n</head>\n<body>\n<main class="api">\n'
        f"<h1>{title}</h1>\n<p>{escape(schema['info']['description'])}</p>\n"
        '<p>The OpenAPI schema, for clients and tools: <a href="openapi.json">openapi.json</a>. '
        '<a href=".">Web page</a>.</p>\n'
        f"{''.join(_routes(schema))}</main>\n</body>\n</html>\n"
    )


def _routes(schema: Mapping[str, Any]) -> Iterator[str]:
    for path, methods in schema["paths"].items():
        for method, route in methods.items():
            yield f"<h2><code>{method.upper()} {escape(path)}</code></h2>\n"
            yield f"<p>{escape(route.get('description', ''))}</p>\n"
            body = route.get("requestBody", {}).get("content", {}).get("application/json", {})
            name = body.get("schema", {}).get("$ref", "").rpartition("/")[2]
            if name:
                yield from _fields(schema["components"]["schemas"][name])


def _fields(model: Mapping[str, Any]) -> Iterator[str]:
    required = model.get("required", ())
    yield "<dl>\n"
    for name, field in model["properties"].items():
        needed = " (required)" if name in required else ""
        yield f"<dt><code>{escape(name)}</code>{needed}</dt>\n"
        yield f"<dd>{escape(field.get('description', ''))}</dd>\n"
    yield "</dl>\n"
