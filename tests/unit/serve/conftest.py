"""Servers in this process, talked to without a port."""

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
def talk(models):
    """Start a server with the toy model, let a coroutine talk to it, and stop it."""

    def run(story, *, settings=None, models=models):
        app = build_app(settings or ServeSettings(), models)

        async def whole():
            transport = httpx.ASGITransport(app=app)
            async with (
                app.router.lifespan_context(app),
                httpx.AsyncClient(
                    transport=transport, base_url="http://test", timeout=30
                ) as client,
            ):
                client.queue = app.state.service.queue
                return await story(client)

        return asyncio.run(whole())

    return run


@pytest.fixture
def ask(talk):
    """Send one request to a server with the toy model."""

    def send(method, path, *, settings=None, **request):
        return talk(lambda client: client.request(method, path, **request), settings=settings)

    return send


@pytest.fixture
def summarize(ask):
    """Ask for summaries, and return the reply."""

    def send(body, **options):
        return ask("POST", "/v1/summarize", json=body, **options)

    return send


class Held:
    """A summarizer that answers a text with itself, once it is released."""

    def __init__(self, summarizer):
        self.run = summarizer.run
        self.calls = []
        self.began = threading.Event()
        self.released = threading.Event()

    def summarize(self, texts, **options):
        self.calls.append((list(texts), options))
        self.began.set()
        assert self.released.wait(timeout=30)
        return [
            Summary(text=text, score=0.0, words=(), read_sentences=1, truncated=False)
            for text in texts
        ]


@pytest.fixture
def held(summarizer):
    held = Held(summarizer)
    yield held
    held.released.set()
