"""Routes of the API and of the web page."""

import asyncio
from collections.abc import Callable, Coroutine, Iterator, Mapping
from functools import partial
from html import escape
from pathlib import Path
from time import monotonic
from typing import Any, TypeVar

from fastapi import FastAPI, Request, Security
from fastapi.responses import FileResponse, HTMLResponse, Response, StreamingResponse
from fastapi.routing import APIRoute
from fastapi.security import HTTPBearer
from fastapi.staticfiles import StaticFiles
from prometheus_client import CONTENT_TYPE_LATEST
from starlette.exceptions import HTTPException
from starlette.routing import Route
from starlette.types import Receive

from readagain.errors import ReadAgainError
from readagain.explain.page import STATIC as EXPLAIN_STATIC
from readagain.serve.batching import BatchingQueue
from readagain.serve.chat import ChatRequest, chat_events, chat_response
from readagain.serve.errors import ApiError, ClientDisconnectedError, stopping_error
from readagain.serve.metrics import Metrics
from readagain.serve.middleware import CHAT, SUMMARIZE
from readagain.serve.models import LoadedModels
from readagain.serve.schemas import (
    ErrorResponse,
    HealthResponse,
    LimitsInfo,
    ModelEntry,
    ModelsResponse,
    ReadyResponse,
    SummarizeRequest,
    SummarizeResponse,
    limited_request,
)
from readagain.serve.settings import ServeSettings
from readagain.version import __version__

STATIC = Path(__file__).parent / "static"
LARGE_BODY_BYTES = 16 << 10
"""Size from which the bodies of requests are parsed in turn, with pauses."""
RECEIVE_S_PER_BYTE = 5e-3 / (1 << 20)
"""Approximate time for receiving a byte of a body."""

T = TypeVar("T")

_ERRORS: dict[int | str, dict[str, Any]] = {"default": {"model": ErrorResponse}}


def paced_route(timeout_s: float) -> type[APIRoute]:
    """Return a route class that parses one large body at a time, with pauses.

    Parsing 1 MiB of small items blocks the event loop for up to 0.1 s. After a large body, the next
    one waits for twice as long as the first was received and parsed. So receiving and parsing use
    at most a third of the time, even if the bodies are invalid and refused at once. A thread would
    not help, since the parser holds the GIL. A request waits at most until its deadline,
    `timeout_s` after its start.
    """
    lock = asyncio.Lock()
    next_time = monotonic()  # when the next body may be parsed

    class PacedRequest(Request):
        async def json(self) -> Any:
            num_bytes = len(await self.body())
            if num_bytes < LARGE_BODY_BYTES:
                return await super().json()
            return await run_until_disconnect(self._parse_in_turn(num_bytes), self, timeout_s)

        async def _parse_in_turn(self, num_bytes: int) -> Any:
            nonlocal next_time
            async with lock:
                await asyncio.sleep(next_time - monotonic())
                start = monotonic()
                try:
                    return await super().json()
                finally:
                    end = monotonic()
                    next_time = end + 2 * (end - start + num_bytes * RECEIVE_S_PER_BYTE)

    class PacedRoute(APIRoute):
        def get_route_handler(self) -> Callable[[Request], Coroutine[Any, Any, Response]]:
            """Return the handler with paced parsing."""
            handler = super().get_route_handler()

            async def handle(request: Request) -> Response:
                try:
                    return await handler(PacedRequest(request.scope, request.receive))
                except HTTPException as error:  # in place of any error of `json`
                    if isinstance(error.__cause__, ReadAgainError):
                        raise error.__cause__ from None
                    raise

            return handle

    return PacedRoute


def add_routes(
    app: FastAPI,
    settings: ServeSettings,
    loaded_models: LoadedModels,
    queue: BatchingQueue,
    worker_metrics: Metrics,
) -> None:
    """Add all routes."""
    limits = settings.limits
    # Only for the OpenAPI schema: `AdmissionMiddleware` checks keys before a body is read.
    dependencies = [Security(HTTPBearer(auto_error=False))] if settings.api_keys else []
    add_post_route = partial(
        app.router.add_api_route,
        methods=["POST"],
        dependencies=dependencies,
        route_class_override=paced_route(limits.timeout_s),
    )

    async def summarize(body: SummarizeRequest, request: Request) -> SummarizeResponse:
        """Write a headline for each text."""
        key = loaded_models.batch_key(body)
        request.state.log_fields.update(
            model=key.model, texts=len(body.texts), characters=sum(map(len, body.texts))
        )
        results = await run_until_disconnect(
            queue.summarize(key, [text[: limits.max_chars] for text in body.texts]),
            request,
            limits.timeout_s,
        )
        worker_metrics.texts.labels(key.model).inc(len(results))
        return SummarizeResponse(
            model=key.model,
            results=[
                result.with_cut(limits.max_chars / len(text))
                if len(text) > limits.max_chars
                else result
                for text, result in zip(body.texts, results, strict=True)
            ],
        )

    summarize.__annotations__["body"] = limited_request(limits)
    add_post_route(SUMMARIZE, summarize, responses=_ERRORS)

    async def chat(body: ChatRequest, request: Request) -> Any:
        """Write a headline for the last message of the user, in the format of OpenAI."""
        summarize_request = SummarizeRequest(texts=[body.text], model=body.model)
        answer = await summarize(summarize_request, request)
        response = chat_response(body, answer.model, answer.results[0].summary)
        if body.stream:
            return StreamingResponse(chat_events(body, response), media_type="text/event-stream")
        return response

    add_post_route(CHAT, chat, responses={200: {"content": {"text/event-stream": {}}}, **_ERRORS})

    @app.get("/v1/models", responses=_ERRORS, dependencies=dependencies)
    async def models() -> ModelsResponse:
        """List the loaded models, the default first, and the limits of a request."""
        descriptions = loaded_models.describe()
        return ModelsResponse(
            models=descriptions,
            data=[ModelEntry(id=model.name) for model in descriptions],
            limits=LimitsInfo.model_validate(limits),
            version=__version__,
        )

    @app.head("/healthz", include_in_schema=False)
    @app.get("/healthz")
    async def health() -> HealthResponse:
        """Report that the process is alive."""
        return HealthResponse(version=__version__)

    @app.head("/readyz", include_in_schema=False)
    @app.get("/readyz", responses=_ERRORS)
    async def readiness() -> ReadyResponse:
        """Report whether texts are accepted."""
        if not queue.is_open:
            raise stopping_error()
        return ReadyResponse()

    @app.get("/metrics", response_class=Response, responses=_ERRORS, dependencies=dependencies)
    async def metrics() -> Response:
        """Return metrics in the text format of Prometheus."""
        return Response(worker_metrics.render(), media_type=CONTENT_TYPE_LATEST)

    async def page(request: Request) -> Response:
        return FileResponse(STATIC / "index.html")

    async def docs(request: Request) -> Response:
        return HTMLResponse(_render_api_page(app.openapi()))

    app.router.routes.extend([Route("/", page), Route("/docs", docs)])
    app.mount("/static/explain", StaticFiles(directory=EXPLAIN_STATIC))
    app.mount("/static", StaticFiles(directory=STATIC))


async def run_until_disconnect(
    work: Coroutine[Any, Any, T], request: Request, timeout_s: float
) -> T:
    """Return the result of `work`; cancel it if the client disconnects or at the deadline.

    The body of the request must have been read. The deadline is `timeout_s` after its start.

    Raises:
        ClientDisconnectedError: if the client disconnected.
        ApiError: at the deadline.
    """
    task = asyncio.create_task(work)
    disconnect = asyncio.create_task(_wait_for_disconnect(request.receive))
    remaining_s = request.state.start + timeout_s - asyncio.get_running_loop().time()
    try:
        await asyncio.wait(
            {task, disconnect}, timeout=remaining_s, return_when=asyncio.FIRST_COMPLETED
        )
        if task.done():
            return task.result()
        if disconnect.done():
            raise ClientDisconnectedError("the client disconnected")
        raise ApiError(
            "deadline",
            f"server: no result within {timeout_s:g} s; send fewer texts, or try again later",
        )
    finally:
        task.cancel()
        disconnect.cancel()
        await asyncio.wait({task, disconnect})


async def _wait_for_disconnect(receive: Receive) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass


def _render_api_page(schema: Mapping[str, Any]) -> str:
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
