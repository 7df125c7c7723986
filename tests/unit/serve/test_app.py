"""How the application is put together, started and stopped."""

import pytest

from readagain.engine.summarizer import MAX_TEXTS
from readagain.serve import app
from readagain.serve.refusals import StoppingError
from readagain.serve.settings import RequestLimits, ServeSettings


def test_the_queue_is_as_large_and_as_patient_as_the_settings_say(models, monkeypatch):
    given = {}

    class Queue(app.SummaryQueue):
        def __init__(self, work, **options):
            given.update(options)
            super().__init__(work, **options)

    monkeypatch.setattr(app, "SummaryQueue", Queue)
    app.build_app(ServeSettings(limits=RequestLimits(max_queue=99, max_wait_ms=5)), models)
    assert given["max_texts"] == 99
    assert given["max_batch"] == MAX_TEXTS
    assert given["max_wait_s"] == 0.005


def test_an_application_that_stops_closes_its_queue(talk):
    async def story(client):
        return client.queue

    with pytest.raises(StoppingError, match="the server is stopping"):
        talk(story).check_room()


def test_a_server_that_stops_says_that_it_is_not_ready_and_takes_nothing_new(talk):
    async def story(client):
        await client.queue.close()
        return [
            await client.get("/healthz"),
            await client.get("/readyz"),
            await client.post("/v1/summarize", json={"texts": ["A storm."]}),
        ]

    alive, ready, refused = talk(story)
    assert alive.status_code == 200
    for reply in (ready, refused):
        assert (reply.status_code, reply.json()["error"]["code"]) == (503, "stopping")
        assert reply.headers["retry-after"] == "1"
