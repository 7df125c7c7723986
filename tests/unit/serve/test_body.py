"""Bodies are bounded while they are read, however they come; nobody waits for ever."""

import asyncio

import pytest

from readagain.serve.body import BoundedBody
from readagain.serve.models import LoadedModels
from readagain.serve.refusals import BodyTooLargeError, SlowBodyError
from readagain.serve.settings import RequestLimits, ServeSettings
from readagain.serve.waiting import ClientGoneError

SMALL = ServeSettings(limits=RequestLimits(max_body_bytes=1_000))


def receiving(*messages, wait=False):
    """Give messages one after the other, and count them; afterwards nothing, or for ever."""
    left = list(messages)

    async def receive():
        if not left and wait:
            await asyncio.Event().wait()
        receive.count += 1
        return left.pop(0)

    receive.count = 0
    return receive


def read(receive, *, headers=(), timeout_s=30.0):
    """Read a body of at most 10 bytes; return what the application gets."""
    seen = []

    async def app(scope, receive, send):
        seen.append((await receive())["body"])

    scope = {"type": "http", "method": "POST", "headers": list(headers)}
    asyncio.run(BoundedBody(app, max_bytes=10, timeout_s=timeout_s)(scope, receive, None))
    return seen


def piece(body, *, more=True):
    return {"type": "http.request", "body": body, "more_body": more}


def test_pieces_are_put_together():
    assert read(receiving(piece(b"12345"), piece(b"67890", more=False))) == [b"1234567890"]


def test_a_body_in_pieces_is_refused_as_soon_as_it_is_too_large():
    receive = receiving(piece(b"12345"), piece(b"678901"), piece(b"never read", more=False))
    with pytest.raises(BodyTooLargeError, match="more than 10 bytes, the most that is taken here"):
        read(receive)
    assert receive.count == 2


def test_a_length_that_is_announced_is_refused_before_a_byte_is_read():
    receive = receiving()
    with pytest.raises(BodyTooLargeError, match="more than 10 bytes"):
        read(receive, headers=[(b"content-length", b"11")])
    assert receive.count == 0


def test_a_body_that_does_not_arrive_is_not_waited_for():
    with pytest.raises(SlowBodyError, match=r"did not arrive within 0\.01 s"):
        read(receiving(piece(b"1"), wait=True), timeout_s=0.01)


def test_a_client_who_leaves_amid_the_body_ends_the_request():
    with pytest.raises(ClientGoneError, match="the client left"):
        read(receiving(piece(b"1"), {"type": "http.disconnect"}))


@pytest.mark.parametrize("chunked", [False, True])
def test_a_body_that_is_too_large_is_refused_with_the_limit(ask, chunked):
    async def pieces():
        for _ in range(3):
            yield b" " * 500

    content = pieces() if chunked else b" " * 1_500
    reply = ask("POST", "/v1/summarize", content=content, settings=SMALL)
    assert (reply.status_code, reply.json()["error"]["code"]) == (413, "body_too_large")
    assert "the body has more than 1,000 bytes" in reply.json()["error"]["message"]


def test_a_request_that_takes_too_long_is_given_up(talk, held):
    async def story(client):
        first = asyncio.create_task(client.post("/v1/summarize", json={"texts": ["first"]}))
        await asyncio.to_thread(held.began.wait, 30)
        late = await client.post("/v1/summarize", json={"texts": ["late"]})
        assert len(client.queue) == 0  # it waited behind the first, and was dropped
        held.released.set()
        await first
        return late

    settings = ServeSettings(limits=RequestLimits(timeout_s=0.3))
    reply = talk(story, settings=settings, models=LoadedModels({"held": held}))
    assert (reply.status_code, reply.json()["error"]["code"]) == (504, "deadline")
    assert "no answer within 0.3 s; send fewer texts at once" in reply.json()["error"]["message"]
    assert [texts for texts, _ in held.calls] == [["first"]]
