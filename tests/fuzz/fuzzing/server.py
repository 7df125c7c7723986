"""Requests to the server, without a port: the body of `POST /v1/summarize`."""

import asyncio

import httpx

from fuzzing.messages import check_message
from fuzzing.seeds import MODELS
from readagain.engine.summarizer import Summarizer
from readagain.serve.app import build_app
from readagain.serve.models import LoadedModels
from readagain.serve.settings import ServeSettings

STATES = (200, 400, 413, 422)


class Server:
    """An application with its event loop, that stays up from request to request."""

    def __init__(self) -> None:
        models = LoadedModels({"toy": Summarizer.load(MODELS / "toy", threads=1)})
        app = build_app(ServeSettings(), models)
        self._loop = asyncio.new_event_loop()
        self._lifespan = app.router.lifespan_context(app)
        self._loop.run_until_complete(self._lifespan.__aenter__())
        self._client = httpx.AsyncClient(
            transport=httpx.ASGITransport(app=app), base_url="http://localhost", timeout=30
        )

    def __call__(self, data: bytes) -> None:
        """Send a body; check that the response has summaries or a one-line error."""
        headers = {"Content-Type": "application/json"}
        sent = self._client.post("/v1/summarize", content=data, headers=headers)
        reply = self._loop.run_until_complete(sent)
        assert reply.status_code in STATES, (reply.status_code, reply.text)
        if reply.status_code == 200:
            assert len(reply.json()["results"]) >= 1
        else:
            check_message(reply.json()["error"]["message"])
