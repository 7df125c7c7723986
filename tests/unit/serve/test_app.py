"""Start and stop of the application."""

import pytest

from readagain.engine.summarizer import MAX_TEXTS
from readagain.serve import app
from readagain.serve.errors import ApiError
from readagain.serve.settings import RequestLimits, ServeSettings


def test_queue_gets_limits_of_settings(models, monkeypatch):
    queue_options = {}

    class Queue(app.BatchingQueue):
        def __init__(self, summarize_batch, **options):
            queue_options.update(options)
            super().__init__(summarize_batch, **options)

    monkeypatch.setattr(app, "BatchingQueue", Queue)
    app.build_app(ServeSettings(limits=RequestLimits(max_queue=99, max_wait_ms=5)), models)
    assert queue_options["max_texts"] == 99
    assert queue_options["max_batch"] == MAX_TEXTS
    assert queue_options["max_wait_s"] == 0.005


def test_stopped_app_closes_its_queue(run_client):
    async def scenario(client):
        return client.queue

    with pytest.raises(ApiError, match="server: stopping"):
        run_client(scenario).check_capacity()


def test_stopping_server_is_not_ready_and_refuses(run_client):
    async def scenario(client):
        await client.queue.close()
        return [
            await client.get("/healthz"),
            await client.get("/readyz"),
            await client.post("/v1/summarize", json={"texts": ["A storm."]}),
        ]

    alive, ready, refused = run_client(scenario)
    assert alive.status_code == 200
    for response in (ready, refused):
        assert (response.status_code, response.json()["error"]["code"]) == (503, "stopping")
        assert response.headers["retry-after"] == "1"
