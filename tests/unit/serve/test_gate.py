"""Who is let in."""

import asyncio

import pytest

from readagain.serve.gate import SUMMARIZE, AdmissionMiddleware
from readagain.serve.models import LoadedModels
from readagain.serve.refusals import QueueFullError
from readagain.serve.settings import RequestLimits, ServeSettings

KEYS = ("first-key-0123456", "second-key-012345")
SETTINGS = ServeSettings(api_keys=KEYS)


@pytest.mark.parametrize("given", [f"Bearer {KEYS[0]}", f"bearer {KEYS[1]}"])
def test_a_key_that_fits_lets_in(ask, given):
    reply = ask("GET", "/v1/models", headers={"Authorization": given}, settings=SETTINGS)
    assert reply.status_code == 200


@pytest.mark.parametrize(
    "given",
    [None, "", "Bearer", f"Basic {KEYS[0]}", KEYS[0], "Bearer first-key-012345", "Bearer \xe9"],
    ids=repr,
)
@pytest.mark.parametrize("path", ["/v1/models", "/v1/summarize", "/metrics", "/nowhere"])
def test_others_are_turned_away(ask, path, given):
    headers = {} if given is None else {"Authorization": given.encode("latin-1")}
    reply = ask("GET", path, headers=headers, settings=SETTINGS)
    assert (reply.status_code, reply.json()["error"]["code"]) == (401, "unauthorized")
    assert "send the header Authorization: Bearer KEY" in reply.json()["error"]["message"]
    assert reply.headers["www-authenticate"] == "Bearer"
    assert not any(key in reply.text for key in KEYS)


@pytest.mark.parametrize(
    "path", ["/", "/static/index.html", "/docs", "/openapi.json", "/healthz", "/readyz"]
)
def test_the_page_and_what_watches_the_server_need_no_key(ask, path):
    assert ask("GET", path, settings=SETTINGS).status_code == 200


def test_a_full_queue_turns_away_at_once_with_a_time_to_come_back_and_recovers(talk, held):
    async def story(client):
        def send(number):
            return client.post("/v1/summarize", json={"texts": ["x"] * number})

        first = asyncio.create_task(send(1))
        await asyncio.to_thread(held.began.wait, 30)
        waiting = asyncio.create_task(send(2))
        while len(client.queue) < 2:
            await asyncio.sleep(0)
        refused = await send(1)
        held.released.set()
        assert (await first).status_code == (await waiting).status_code == 200
        return refused, await send(2)

    limits = RequestLimits(max_queue=2, max_texts=2)
    refused, later = talk(
        story, settings=ServeSettings(limits=limits), models=LoadedModels({"held": held})
    )
    assert (refused.status_code, refused.json()["error"]["code"]) == (503, "queue_full")
    assert "2 texts waiting already, and at most 2 may" in refused.json()["error"]["message"]
    assert refused.headers["retry-after"] == "1"
    assert later.status_code == 200


def test_more_requests_than_may_be_inside_are_turned_away_but_not_those_who_watch(talk, held):
    async def story(client):
        def send():
            return client.post("/v1/summarize", json={"texts": ["x"]})

        first = asyncio.create_task(send())
        await asyncio.to_thread(held.began.wait, 30)
        refused = await send()
        watching = await client.get("/healthz")
        held.released.set()
        await first
        return refused, watching, await send()

    settings = ServeSettings(limits=RequestLimits(max_requests=1))
    refused, watching, later = talk(story, settings=settings, models=LoadedModels({"held": held}))
    assert refused.status_code == 503
    assert "1 request being answered, and at most 1 may be" in refused.json()["error"]["message"]
    assert watching.status_code == later.status_code == 200


def test_a_body_that_will_not_be_taken_is_not_even_read():
    def check_room():
        raise QueueFullError("no room")

    async def unreachable(*_):
        raise AssertionError

    gate = AdmissionMiddleware(unreachable, keys=(), max_requests=1, check_room=check_room)
    scope = {"type": "http", "path": "/v1/summarize", "headers": []}
    with pytest.raises(QueueFullError, match="no room"):
        asyncio.run(gate(scope, unreachable, unreachable))


def test_who_leaves_makes_room_for_one_and_no_more():
    async def story():
        leave = asyncio.Event()

        async def app(scope, receive, send):
            if scope["stays"]:
                await leave.wait()

        gate = AdmissionMiddleware(app, keys=(), max_requests=1, check_room=lambda: None)

        def ask(*, stays):
            scope = {"type": "http", "path": SUMMARIZE, "headers": [], "stays": stays}
            return gate(scope, None, None)

        await ask(stays=False)
        staying = asyncio.create_task(ask(stays=True))
        await asyncio.sleep(0)
        with pytest.raises(QueueFullError, match="1 request being answered, and at most 1"):
            await ask(stays=False)
        leave.set()
        await staying
        await ask(stays=False)

    asyncio.run(story())
