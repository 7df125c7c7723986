"""Fixtures: servers in this process, called without a port."""

import asyncio
import threading
from pathlib import Path

import httpx
import pytest

from readagain.engine.summarizer import Summarizer
from readagain.engine.summary import Summary
from readagain.serve.app import build_app
from readagain.serve.models import LoadedModels
from readagain.serve.settings import ServeSettings

TOY = Path(__file__).parents[2] / "assets" / "models" / "toy"


@pytest.fixture(scope="session")
def summarizer():
    return Summarizer.load(TOY, threads=1)


@pytest.fixture(scope="session")
def models(summarizer):
    return LoadedModels({"toy": summarizer})


@pytest.fixture
def run_client(models):
    """Run a coroutine with a client of a server that has the toy model."""

    def run(scenario, *, settings=None, models=models):
        app = build_app(settings or ServeSettings(), models)

        async def run_all():
            transport = httpx.ASGITransport(app=app)
            async with (
                app.router.lifespan_context(app),
                httpx.AsyncClient(
                    transport=transport, base_url="http://localhost", timeout=30
                ) as client,
            ):
                client.queue = app.state.queue
                return await scenario(client)

        return asyncio.run(run_all())

    return run


@pytest.fixture
def request_once(run_client):
    """Send one request to a server with the toy model."""

    def send(method, path, *, settings=None, **request):
        return run_client(lambda client: client.request(method, path, **request), settings=settings)

    return send


@pytest.fixture
def summarize(request_once):
    """Send one summarize request and return the response."""

    def send(body, **options):
        return request_once("POST", "/v1/summarize", json=body, **options)

    return send


class BlockedSummarizer:
    """Summarizer that returns each text as its summary, once it is released."""

    def __init__(self, summarizer):
        self.run = summarizer.run
        self.calls = []
        self.started = threading.Event()
        self.released = threading.Event()

    def summarize(self, texts, **options):
        self.calls.append((list(texts), options))
        self.started.set()
        assert self.released.wait(timeout=30)
        return [
            Summary(text=text, score=0.0, words=(), read_sentences=1, truncated=False)
            for text in texts
        ]


@pytest.fixture
def blocked(summarizer):
    blocked = BlockedSummarizer(summarizer)
    yield blocked
    blocked.released.set()
