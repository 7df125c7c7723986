"""Targets that send inputs to the server as bodies of requests, without a port."""

import asyncio

import httpx

from fuzzing.messages import check_message
from fuzzing.seed_inputs import MODELS
from readagain.engine.summarizer import Summarizer
from readagain.serve.app import build_app
from readagain.serve.models import LoadedModels
from readagain.serve.settings import ServeSettings

EXPECTED_STATUS_CODES = (200, 400, 413, 422)


class RequestSender:
    """A running server application; calling the object sends one request to `path`.

    The value of `result_field` is a list in each response to a valid request.
    """

    def __init__(self, path: str, result_field: str) -> None:
        self._path = path
        self._result_field = result_field
        models = LoadedModels({"toy": Summarizer.load(MODELS / "toy", threads=1)})
        app = build_app(ServeSettings(), models)
        self._loop = asyncio.new_event_loop()
        self._lifespan = app.router.lifespan_context(app)
        self._loop.run_until_complete(self._lifespan.__aenter__())
        self._client = httpx.AsyncClient(
            transport=httpx.ASGITransport(app=app), base_url="http://localhost", timeout=30
        )

    def __call__(self, body: bytes) -> None:
        """Send a body; check that the response has summaries or a one-line error."""
        headers = {"Content-Type": "application/json"}
        request = self._client.post(self._path, content=body, headers=headers)
        response = self._loop.run_until_complete(request)
        assert response.status_code in EXPECTED_STATUS_CODES, (response.status_code, response.text)
        if response.headers["content-type"].startswith("text/event-stream"):
            assert response.text.endswith("data: [DONE]\n\n")
        elif response.status_code == 200:
            assert len(response.json()[self._result_field]) >= 1
        else:
            check_message(response.json()["error"]["message"])
