"""HTML page that lists the routes and request fields of the API, without external resources."""

from collections.abc import Iterator, Mapping
from html import escape
from typing import Any


def render_api_page(schema: Mapping[str, Any]) -> str:
    """Render an OpenAPI schema as an HTML page with all routes and the fields of their requests."""
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
        f"{''.join(_render_routes(schema))}</main>\n</body>\n</html>\n"
    )


def _render_routes(schema: Mapping[str, Any]) -> Iterator[str]:
    for path, methods in schema["paths"].items():
        for method, route in methods.items():
            yield f"<h2><code>{method.upper()} {escape(path)}</code></h2>\n"
            yield f"<p>{escape(route.get('description', ''))}</p>\n"
            body = route.get("requestBody", {}).get("content", {}).get("application/json", {})
            request_name = body.get("schema", {}).get("$ref", "").rpartition("/")[2]
            if request_name:
                yield from _render_fields(schema["components"]["schemas"][request_name])


def _render_fields(request_schema: Mapping[str, Any]) -> Iterator[str]:
    required = request_schema.get("required", ())
    yield "<dl>\n"
    for name, field in request_schema["properties"].items():
        suffix = " (required)" if name in required else ""
        yield f"<dt><code>{escape(name)}</code>{suffix}</dt>\n"
        yield f"<dd>{escape(field.get('description', ''))}</dd>\n"
    yield "</dl>\n"
