"""The HTTP application: routes, and the order in which a request passes through its layers."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from fastapi import FastAPI, Request
from fastapi.responses import FileResponse, Response
from fastapi.staticfiles import StaticFiles
from prometheus_client import CONTENT_TYPE_LATEST
from starlette.routing import Route

from readagain.engine.summarizer import MAX_TEXTS
from readagain.serve.body import BoundedBody
from readagain.serve.edge import Edge
from readagain.serve.metrics import Metrics
from readagain.serve.models import LoadedModels, Wish
from readagain.serve.queue import SummaryQueue
from readagain.serve.refusals import InvalidError, StoppingError
from readagain.serve.replies import HANDLERS
from readagain.serve.schema import (
    ErrorReply,
    HealthReply,
    LimitFacts,
    ModelsReply,
    ReadyReply,
    SummarizeReply,
    SummarizeRequest,
    SummaryResult,
)
from readagain.serve.settings import MAX_BEAM, MAX_WORDS, Limits, ServeSettings
from readagain.version import __version__

STATIC = Path(__file__).parent / "static"
_ERRORS: dict[int | str, dict[str, Any]] = {"default": {"model": ErrorReply}}


def build_app(settings: ServeSettings, models: LoadedModels) -> FastAPI:
    """Build the application that answers with some loaded models."""
    limits = settings.limits
    metrics = Metrics()
    queue: SummaryQueue[Wish, SummaryResult] = SummaryQueue(
        models.summarize,
        max_texts=limits.max_queue,
        max_batch=MAX_TEXTS,
        max_wait_s=limits.max_wait_ms / 1e3,
        observe_batch=metrics.observe_batch,
    )

    @asynccontextmanager
    async def lifespan(app: FastAPI) -> AsyncIterator[None]:
        queue.start()
        yield
        await queue.close()

    app = FastAPI(
        title="readagain", version=__version__, lifespan=lifespan, docs_url=None, redoc_url=None,
        exception_handlers=HANDLERS, responses=_ERRORS,
    )  # fmt: skip
    app.add_middleware(BoundedBody, max_bytes=limits.max_body_bytes, timeout_s=limits.timeout_s)
    app.add_middleware(Edge, metrics=metrics)

    @app.post("/v1/summarize")
    async def summarize(asked: SummarizeRequest, request: Request) -> SummarizeReply:
        """Write a headline for each text."""
        check_limits(asked, limits)
        wish = models.wish(asked)
        results = await queue.summarize(wish, asked.texts)
        return SummarizeReply(model=wish.model, results=results)

    @app.get("/v1/models")
    async def list_models() -> ModelsReply:
        """List the loaded models, and what a request may ask for."""
        return ModelsReply(
            models=models.facts(),
            limits=LimitFacts(
                max_texts=limits.max_texts,
                max_chars=limits.max_chars,
                max_body_bytes=limits.max_body_bytes,
                max_beam=MAX_BEAM,
                max_words=MAX_WORDS,
            ),
            version=__version__,
        )

    @app.get("/healthz")
    async def health() -> HealthReply:
        """Say that the process answers."""
        return HealthReply(version=__version__)

    @app.get("/readyz")
    async def readiness() -> ReadyReply:
        """Say whether requests are taken."""
        if not queue.is_open:
            raise StoppingError("the server is stopping, or has not started")
        return ReadyReply()

    @app.get("/metrics", response_class=Response)
    async def show_metrics() -> Response:
        """Show what is measured, for Prometheus."""
        return Response(metrics.write(waiting=len(queue)), media_type=CONTENT_TYPE_LATEST)

    async def page(request: Request) -> Response:
        return FileResponse(STATIC / "index.html", headers={"Cache-Control": "no-cache"})

    app.router.routes.append(Route("/", page))
    app.mount("/static", StaticFiles(directory=STATIC))
    return app


def check_limits(asked: SummarizeRequest, limits: Limits) -> None:
    """Check what only this server's settings say.

    Raises:
        InvalidError: naming the limit.
    """
    if len(asked.texts) > limits.max_texts:
        raise InvalidError(
            f"{len(asked.texts)} texts; at most {limits.max_texts} are taken in one request"
        )
    for place, text in enumerate(asked.texts):
        if len(text) > limits.max_chars:
            raise InvalidError(
                f"texts[{place}] has {len(text):,} characters; at most {limits.max_chars:,} are "
                "taken, and models read the beginning alone"
            )
