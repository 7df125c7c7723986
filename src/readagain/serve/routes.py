"""The routes of the API, and the files of the page."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from fastapi import FastAPI, Request
from fastapi.responses import FileResponse, Response
from fastapi.staticfiles import StaticFiles
from prometheus_client import CONTENT_TYPE_LATEST
from starlette.routing import Route

from readagain.serve.gate import SUMMARIZE
from readagain.serve.metrics import Metrics
from readagain.serve.models import BatchKey, LoadedModels
from readagain.serve.queue import BatchingQueue
from readagain.serve.refusals import InvalidError, StoppingError
from readagain.serve.schema import (
    ErrorReply,
    HealthReply,
    LimitFacts,
    ModelsReply,
    ReadyReply,
    SummarizeRequest,
    SummarizeResponse,
    SummaryResult,
)
from readagain.serve.settings import MAX_BEAM, MAX_WORDS, RequestLimits, ServeSettings
from readagain.serve.waiting import answer_in_time
from readagain.version import __version__

STATIC = Path(__file__).parent / "static"

_FAILING: dict[int | str, dict[str, Any]] = {"default": {"model": ErrorReply}}


@dataclass(frozen=True)
class Service:
    """What routes answer with."""

    settings: ServeSettings
    models: LoadedModels
    queue: BatchingQueue[BatchKey, SummaryResult]
    metrics: Metrics


def add_routes(app: FastAPI, service: Service) -> None:
    """Add everything that is answered, but for the pages about the API."""
    limits = service.settings.limits

    @app.post(SUMMARIZE, responses=_FAILING)
    async def summarize(asked: SummarizeRequest, request: Request) -> SummarizeResponse:
        """Write a headline for each text."""
        check_limits(asked, limits)
        wish = service.models.wish(asked)
        request.state.facts.update(
            model=wish.model, texts=len(asked.texts), characters=sum(map(len, asked.texts))
        )
        results = await answer_in_time(
            service.queue.summarize(wish, asked.texts),
            request.receive,
            deadline=request.state.begin + limits.timeout_s,
            timeout_s=limits.timeout_s,
        )
        service.metrics.count_texts(wish.model, len(results))
        return SummarizeResponse(model=wish.model, results=results)

    @app.get("/v1/models", responses=_FAILING)
    async def models() -> ModelsReply:
        """List the loaded models, the default first, and what a request may ask for."""
        return ModelsReply(
            models=service.models.facts(),
            limits=LimitFacts(
                max_texts=limits.max_texts,
                max_chars=limits.max_chars,
                max_body_bytes=limits.max_body_bytes,
                max_beam=MAX_BEAM,
                max_words=MAX_WORDS,
            ),
            version=__version__,
        )

    @app.head("/healthz", include_in_schema=False)
    @app.get("/healthz")
    async def health() -> HealthReply:
        """Say that the process answers."""
        return HealthReply(version=__version__)

    @app.head("/readyz", include_in_schema=False)
    @app.get("/readyz", responses=_FAILING)
    async def readiness() -> ReadyReply:
        """Say whether texts are taken and worked on."""
        if not service.queue.is_open:
            raise StoppingError("the server has not started, or is stopping; ask again")
        return ReadyReply()

    @app.get("/metrics", response_class=Response, responses=_FAILING)
    async def metrics() -> Response:
        """Show what is counted and measured, in the text format of Prometheus."""
        return Response(service.metrics.write(), media_type=CONTENT_TYPE_LATEST)

    async def page(request: Request) -> Response:
        return FileResponse(STATIC / "index.html")

    app.router.routes.append(Route("/", page))
    app.mount("/static", StaticFiles(directory=STATIC))


def check_limits(asked: SummarizeRequest, limits: RequestLimits) -> None:
    """Check a request against what this server takes.

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
                "taken; models read the beginning alone"
            )
