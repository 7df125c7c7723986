"""The API described: as an OpenAPI schema, and as a page that is made from it."""

from typing import Any

from fastapi import FastAPI
from fastapi.openapi.utils import get_openapi
from fastapi.responses import FileResponse, HTMLResponse, Response
from starlette.requests import Request
from starlette.routing import Route

from readagain.serve.gate import OPEN_PATHS
from readagain.serve.reference import STYLE, write_reference
from readagain.serve.settings import ServeSettings
from readagain.version import __version__

DESCRIPTION = (
    "Headlines for texts. Within /v1 fields are added, never renamed or removed. Every reply "
    "carries X-Request-Id: yours, or a new one. Every error has the shape of ErrorReply."
)


def describe_api(app: FastAPI, settings: ServeSettings) -> None:
    """Give an application its schema at /openapi.json, and its page at /docs."""

    def schema() -> dict[str, Any]:
        if app.openapi_schema is None:
            described = get_openapi(
                title="readagain",
                version=__version__,
                description=DESCRIPTION,
                routes=app.routes,
            )
            _say_limits(described, settings)
            app.openapi_schema = described
        return app.openapi_schema

    app.openapi = schema  # type: ignore[method-assign]

    async def docs(request: Request) -> Response:
        return HTMLResponse(write_reference(schema(), url=str(request.base_url)))

    async def style(request: Request) -> Response:
        return FileResponse(STYLE)

    app.router.routes.extend([Route("/docs", docs), Route("/docs/style.css", style)])


def _say_limits(described: dict[str, Any], settings: ServeSettings) -> None:
    """Write down what only the settings of this server say: its limits, and the key."""
    request = described["components"]["schemas"]["SummarizeRequest"]
    texts = request["properties"]["texts"]
    texts["maxItems"] = settings.limits.max_texts
    texts["items"]["maxLength"] = settings.limits.max_chars
    if settings.api_keys:
        described["components"]["securitySchemes"] = {"key": {"type": "http", "scheme": "bearer"}}
        for path in described["paths"].keys() - set(OPEN_PATHS):
            for operation in described["paths"][path].values():
                operation["security"] = [{"key": []}]
