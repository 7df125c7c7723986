"""FastAPI application and its middleware."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from fastapi import FastAPI
from fastapi.middleware.cors import CORSMiddleware
from fastapi.middleware.trustedhost import TrustedHostMiddleware

from readagain.engine.summarizer import MAX_TEXTS
from readagain.serve.batching import BatchingQueue
from readagain.serve.errors import HANDLERS
from readagain.serve.logs import logger
from readagain.serve.metrics import Metrics
from readagain.serve.middleware import (
    REQUEST_ID,
    AdmissionMiddleware,
    BodyMiddleware,
    ErrorMiddleware,
)
from readagain.serve.models import LoadedModels
from readagain.serve.routes import add_routes
from readagain.serve.settings import ServeSettings
from readagain.version import __version__

DESCRIPTION = (
    "Headlines for texts. Within /v1 fields are added, never renamed or removed. Every response "
    "has the header X-Request-Id: that of the request, or a new one. Every error has the form "
    "of ErrorResponse."
)


def build_app(settings: ServeSettings, models: LoadedModels) -> FastAPI:
    """Build the application for loaded models."""
    limits = settings.limits
    metrics = Metrics()
    queue = BatchingQueue(
        models.summarize,
        max_texts=limits.max_queue,
        max_batch=MAX_TEXTS,
        max_wait_s=limits.max_wait_ms / 1e3,
        estimate_costs=models.estimate_costs,
        observe_batch=metrics.observe_batch,
        observe_queue=metrics.queue_length.set,
    )

    @asynccontextmanager
    async def lifespan(app: FastAPI) -> AsyncIterator[None]:
        queue.start()
        yield
        await queue.close()
        logger.info("stopped")

    app = FastAPI(
        title="readagain",
        version=__version__,
        description=DESCRIPTION,
        lifespan=lifespan,
        docs_url=None,
        redoc_url=None,
        redirect_slashes=False,  # a redirect would contain the Host header of the request
        exception_handlers=HANDLERS,
    )
    app.state.queue = queue
    add_routes(app, settings, models, queue, metrics)

    # Requests pass the middleware in reverse order: the one added last handles a request first.
    app.add_middleware(BodyMiddleware, limits=limits)
    app.add_middleware(
        AdmissionMiddleware, keys=settings.api_keys, check_capacity=queue.check_capacity
    )
    app.add_middleware(
        TrustedHostMiddleware, allowed_hosts=settings.trusted_hosts, www_redirect=False
    )
    app.add_middleware(ErrorMiddleware, metrics=metrics)
    if settings.cors_origins:  # added last, so that pages of other sites can also read errors
        app.add_middleware(
            CORSMiddleware,
            allow_origins=settings.cors_origins,
            allow_methods=["GET", "POST"],
            allow_headers=["Authorization", "Content-Type", REQUEST_ID],
            expose_headers=["Retry-After", REQUEST_ID],
        )
    return app
