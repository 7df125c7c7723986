"""The HTTP application: what it is made of, and the layers that a request passes."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from fastapi import FastAPI
from fastapi.middleware.cors import CORSMiddleware

from readagain.engine.summarizer import MAX_TEXTS
from readagain.serve.body import BoundedBody
from readagain.serve.edge import REQUEST_ID, ErrorMiddleware
from readagain.serve.gate import AdmissionMiddleware
from readagain.serve.metrics import Metrics
from readagain.serve.models import BatchKey, LoadedModels
from readagain.serve.openapi import describe_api
from readagain.serve.problems import HANDLERS
from readagain.serve.queue import BatchingQueue
from readagain.serve.routes import Service, add_routes
from readagain.serve.schema import SummaryResult
from readagain.serve.settings import ServeSettings


def build_app(settings: ServeSettings, models: LoadedModels) -> FastAPI:
    """Build the application that answers with some loaded models.

    A request passes `ErrorMiddleware`, `AdmissionMiddleware` and `BoundedBody` to its route. Where
    pages of other sites may ask, CORS stands before them, so that they may read errors, too.
    """
    limits = settings.limits
    metrics = Metrics()
    queue: BatchingQueue[BatchKey, SummaryResult] = BatchingQueue(
        models.summarize,
        max_texts=limits.max_queue,
        max_batch=MAX_TEXTS,
        max_wait_s=limits.max_wait_ms / 1e3,
        observe_batch=metrics.observe_batch,
        observe_waiting=metrics.observe_waiting,
    )

    @asynccontextmanager
    async def lifespan(app: FastAPI) -> AsyncIterator[None]:
        queue.start()
        yield
        await queue.close()

    app = FastAPI(lifespan=lifespan, docs_url=None, redoc_url=None, exception_handlers=HANDLERS)
    app.state.service = Service(settings, models, queue, metrics)
    add_routes(app, app.state.service)
    describe_api(app, settings)

    # The one that is added last is met first.
    app.add_middleware(BoundedBody, max_bytes=limits.max_body_bytes, timeout_s=limits.timeout_s)
    app.add_middleware(
        AdmissionMiddleware,
        keys=settings.api_keys,
        max_requests=limits.max_requests,
        check_room=queue.check_room,
    )
    app.add_middleware(ErrorMiddleware, metrics=metrics)
    if settings.cors_origins:
        app.add_middleware(
            CORSMiddleware,
            allow_origins=settings.cors_origins,
            allow_methods=["GET", "POST"],
            allow_headers=["Authorization", "Content-Type", REQUEST_ID],
            expose_headers=["Retry-After", REQUEST_ID],
        )
    return app
