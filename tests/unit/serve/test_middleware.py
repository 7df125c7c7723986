"""Request ids, headers, log, errors, access and request bodies."""

import asyncio
import json
import logging
import re

import pytest

from readagain.serve.app import build_app
from readagain.serve.errors import ApiError, ClientDisconnectedError
from readagain.serve.logs import JsonFormatter
from readagain.serve.metrics import Metrics
from readagain.serve.middleware import (
    SECURITY_HEADERS,
    AdmissionMiddleware,
    BodyMiddleware,
    ErrorMiddleware,
)
from readagain.serve.models import LoadedModels
from readagain.serve.settings import RequestLimits, ServeSettings

SECRET = "Nobody may read this in a log."
KEYS = ("first-key-0123456", "second-key-012345")
WITH_KEYS = ServeSettings(api_keys=KEYS)
SMALL = ServeSettings(limits=RequestLimits(max_body_bytes=1_000))


class BrokenSummarizer:
    """Summarizer that raises an unexpected error."""

    def __init__(self, summarizer):
        self.run = summarizer.run

    def summarize(self, texts, **options):
        raise ZeroDivisionError(texts[0])


@pytest.fixture
def log(caplog):
    """Return a function that parses the log lines so far."""
    caplog.set_level(logging.INFO, logger="readagain.serve")

    def lines():
        return [json.loads(JsonFormatter().format(record)) for record in caplog.records
                if record.name == "readagain.serve" and record.message != "stopped"]  # fmt: skip

    return lines


def test_request_id_is_returned(request_once):
    response = request_once("GET", "/healthz", headers={"X-Request-Id": "abc-1.2_3"})
    assert response.headers["x-request-id"] == "abc-1.2_3"


@pytest.mark.parametrize("header", ["", "a b", "x" * 65, 'a"b', "é".encode()], ids=repr)
def test_invalid_request_id_is_replaced(request_once, header):
    response = request_once("GET", "/healthz", headers={b"X-Request-Id": header})
    assert re.fullmatch(r"[0-9a-f]{32}", response.headers["x-request-id"])


@pytest.mark.parametrize("path", ["/", "/healthz", "/nowhere", "/static/index.html"])
def test_every_response_has_security_headers(request_once, path):
    headers = request_once("GET", path).headers
    assert {name: headers[name] for name in SECURITY_HEADERS} == dict(SECURITY_HEADERS)
    assert "unsafe" not in headers["content-security-policy"]


def test_cache_headers_allow_only_files(request_once):
    assert request_once("GET", "/").headers["cache-control"] == "no-cache"
    assert request_once("GET", "/v1/models").headers["cache-control"] == "no-store"


def test_log_has_one_line_per_request_without_texts(summarize, log):
    response = summarize({"texts": [SECRET, "A storm."]})
    (line,) = log()
    assert line["event"] == "request"
    assert line["request_id"] == response.headers["x-request-id"]
    assert (line["method"], line["path"], line["status"]) == ("POST", "/v1/summarize", 200)
    assert (line["model"], line["texts"], line["characters"]) == ("toy", 2, 38)
    assert line["ms"] > 0
    assert "Nobody" not in json.dumps(line)


@pytest.mark.parametrize(
    "body", [{"texts": [SECRET], "beam": 0}, {"text": SECRET}, {"texts": SECRET}], ids=str
)
def test_refused_request_reveals_no_text(summarize, log, body):
    response = summarize(body)
    assert response.status_code == 422
    assert "Nobody" not in response.text
    assert "Nobody" not in json.dumps(log())


def test_internal_error_is_logged_not_shown(run_client, summarizer, log):
    models = LoadedModels({"broken": BrokenSummarizer(summarizer)})
    body = {"texts": [SECRET]}
    response = run_client(lambda client: client.post("/v1/summarize", json=body), models=models)
    assert (response.status_code, response.json()["error"]["code"]) == (500, "internal")
    assert "Traceback" not in response.text
    assert "ZeroDivision" not in response.text
    error, request = log()
    assert error["level"] == "error"
    assert error["error"] == "ZeroDivisionError"
    assert error["request_id"] == request["request_id"] == response.headers["x-request-id"]
    assert any("test_middleware.py" in frame for frame in error["where"])
    assert "Nobody" not in json.dumps(log())


def test_disconnected_client_is_logged_as_499(blocked, log):
    app = build_app(ServeSettings(), LoadedModels({"blocked": blocked}))
    body = json.dumps({"texts": [SECRET]}).encode()
    scope = {
        "type": "http",
        "method": "POST",
        "path": "/v1/summarize",
        "query_string": b"",
        "headers": [(b"host", b"localhost"), (b"content-type", b"application/json")],
    }
    sent = []

    async def send(message):
        sent.append(message)

    async def scenario():
        messages = [{"type": "http.request", "body": body}]

        async def receive():
            if messages:
                return messages.pop()
            await asyncio.to_thread(blocked.started.wait, 30)
            return {"type": "http.disconnect"}

        async with app.router.lifespan_context(app):
            await app(scope, receive, send)
            blocked.released.set()

    asyncio.run(scenario())
    (line,) = log()
    assert (line["status"], line["texts"]) == (499, 1)
    assert sent == []


def test_path_cannot_forge_a_log_line(request_once, log):
    request_once("GET", "/%0a%7b%22event%22:%22forged%22%7d")
    (line,) = log()
    assert line["path"] == '/\n{"event":"forged"}'


def test_cors_allows_only_given_origins(request_once):
    origin = {"Origin": "https://example.org"}
    assert (
        "access-control-allow-origin"
        not in request_once("GET", "/v1/models", headers=origin).headers
    )
    settings = ServeSettings(cors_origins=("https://example.org",))
    allowed = request_once("GET", "/v1/models", headers=origin, settings=settings)
    assert allowed.headers["access-control-allow-origin"] == "https://example.org"
    other = {"Origin": "https://example.com"}
    rejected = request_once("GET", "/v1/models", headers=other, settings=settings)
    assert "access-control-allow-origin" not in rejected.headers


def test_cors_covers_errors_and_preflight(request_once):
    settings = ServeSettings(cors_origins=("https://example.org",), api_keys=("k" * 16,))
    origin = {"Origin": "https://example.org"}
    preflight = {
        **origin,
        "Access-Control-Request-Method": "POST",
        "Access-Control-Request-Headers": "authorization,content-type",
    }
    assert (
        request_once("OPTIONS", "/v1/summarize", headers=preflight, settings=settings).status_code
        == 200
    )
    refused = request_once("POST", "/v1/summarize", headers=origin, settings=settings)
    assert refused.status_code == 401
    assert refused.headers["access-control-allow-origin"] == "https://example.org"


def test_error_during_response_sends_no_second_one(log):
    async def failing_app(scope, receive, send):
        await send({"type": "http.response.start", "status": 200, "headers": []})
        raise ZeroDivisionError

    sent = []

    async def send(message):
        sent.append(message["type"])

    scope = {"type": "http", "method": "GET", "path": "/", "headers": []}
    asyncio.run(ErrorMiddleware(failing_app, Metrics())(scope, None, send))
    assert sent == ["http.response.start"]
    assert [line["event"] for line in log()] == ["unexpected error", "request"]


def test_query_is_not_parsed(request_once, monkeypatch):
    parsed = []
    monkeypatch.setattr(
        "starlette.datastructures.parse_qsl", lambda *args, **_: parsed.extend(args)
    )
    assert request_once("GET", "/healthz?" + "a&" * 8_000).status_code == 200
    assert not any(parsed)


@pytest.mark.parametrize("header", [f"Bearer {KEYS[0]}", f"bearer {KEYS[1]}"])
def test_valid_key_is_accepted(request_once, header):
    headers = {"Authorization": header}
    assert request_once("GET", "/v1/models", headers=headers, settings=WITH_KEYS).status_code == 200


@pytest.mark.parametrize(
    "header",
    [None, "", "Bearer", f"Basic {KEYS[0]}", KEYS[0], "Bearer first-key-012345", "Bearer \xe9"],
    ids=repr,
)
@pytest.mark.parametrize("path", ["/v1/models", "/v1/summarize", "/metrics", "/nowhere"])
def test_invalid_key_is_refused(request_once, path, header):
    headers = {} if header is None else {"Authorization": header.encode("latin-1")}
    response = request_once("GET", path, headers=headers, settings=WITH_KEYS)
    assert (response.status_code, response.json()["error"]["code"]) == (401, "unauthorized")
    assert "API key: missing or invalid" in response.json()["error"]["message"]
    assert response.headers["www-authenticate"] == "Bearer"
    assert not any(key in response.text for key in KEYS)


@pytest.mark.parametrize(
    "path", ["/", "/static/index.html", "/docs", "/openapi.json", "/healthz", "/readyz"]
)
def test_open_paths_need_no_key(request_once, path):
    assert request_once("GET", path, settings=WITH_KEYS).status_code == 200


@pytest.mark.parametrize(
    ("host", "status"),
    [
        ("localhost:8000", 200),
        ("127.0.0.1", 200),
        ("[::1]:8000", 200),
        ("proxy.example", 200),
        ("rebound.example", 400),
        ("rebound.example:8000", 400),
    ],
)
def test_local_server_without_key_checks_host(request_once, host, status):
    settings = ServeSettings(allowed_hosts=("proxy.example",))
    response = request_once("GET", "/v1/models", headers={"Host": host}, settings=settings)
    assert response.status_code == status


@pytest.mark.parametrize("settings", [WITH_KEYS, ServeSettings(host="0.0.0.0")], ids=str)
def test_server_with_key_or_public_accepts_any_host(request_once, settings):
    headers = {"Host": "any.example"}
    assert request_once("GET", "/healthz", headers=headers, settings=settings).status_code == 200


@pytest.mark.parametrize("path", ["/healthz/", "/static", "/v1/models/"])
def test_no_redirect_repeats_the_host(request_once, path):
    assert request_once("GET", path).status_code == 404


def test_content_length_with_transfer_encoding_is_refused(request_once):
    headers = {"Content-Length": "2", "Transfer-Encoding": "chunked"}
    response = request_once("POST", "/v1/summarize", content=b"{}", headers=headers)
    assert (response.status_code, response.json()["error"]["code"]) == (400, "bad_request")
    assert response.headers["connection"] == "close"


def test_full_queue_refuses_with_retry_after_then_recovers(run_client, blocked):
    async def scenario(client):
        def send(number):
            return client.post("/v1/summarize", json={"texts": ["x"] * number})

        first = asyncio.create_task(send(1))
        await asyncio.to_thread(blocked.started.wait, 30)
        waiting = asyncio.create_task(send(2))
        while len(client.queue) < 2:
            await asyncio.sleep(0)
        refused = await send(1)
        blocked.released.set()
        assert (await first).status_code == (await waiting).status_code == 200
        return refused, await send(2)

    settings = ServeSettings(limits=RequestLimits(max_queue=2, max_texts=2))
    models = LoadedModels({"blocked": blocked})
    refused, later = run_client(scenario, settings=settings, models=models)
    assert (refused.status_code, refused.json()["error"]["code"]) == (503, "queue_full")
    assert "queue: 2 texts waiting, the limit is 2" in refused.json()["error"]["message"]
    assert refused.headers["retry-after"] == "1"
    assert later.status_code == 200


def test_requests_in_progress_are_limited_but_not_health(run_client, blocked):
    async def scenario(client):
        def send():
            return client.post("/v1/summarize", json={"texts": ["x"]})

        first = asyncio.create_task(send())
        await asyncio.to_thread(blocked.started.wait, 30)
        refused = await send()
        health = await client.get("/healthz")
        blocked.released.set()
        await first
        return refused, health, await send()

    settings = ServeSettings(limits=RequestLimits(max_requests=1))
    models = LoadedModels({"blocked": blocked})
    refused, health, later = run_client(scenario, settings=settings, models=models)
    assert refused.status_code == 503
    assert "1 request in progress, which is the limit" in refused.json()["error"]["message"]
    assert health.status_code == later.status_code == 200


def test_admission_refuses_before_reading_the_body():
    def check_capacity():
        raise ApiError("queue_full", "no room")

    async def unreachable(*_):
        raise AssertionError

    admission = AdmissionMiddleware(unreachable, keys=(), check_capacity=check_capacity)
    scope = {"type": "http", "path": "/v1/summarize", "headers": []}
    with pytest.raises(ApiError, match="no room"):
        asyncio.run(admission(scope, unreachable, unreachable))


def receiving(*messages, wait=False):
    """Return a `receive` that returns messages and counts them; then it fails, or waits."""
    remaining = list(messages)

    async def receive():
        if not remaining and wait:
            await asyncio.Event().wait()
        receive.count += 1
        return remaining.pop(0)

    receive.count = 0
    return receive


def chunk(body, *, more=True):
    return {"type": "http.request", "body": body, "more_body": more}


def body_scope(*headers):
    return {"type": "http", "method": "POST", "headers": list(headers), "state": {}}


def read_body(receive, *, headers=(), timeout_s=30.0):
    """Read a body of at most 10 bytes; return what the application receives."""
    received = []

    async def app(scope, receive, send):
        received.append((await receive())["body"])

    body = BodyMiddleware(
        app, limits=RequestLimits(max_body_bytes=10, max_requests=1, timeout_s=timeout_s)
    )
    asyncio.run(body(body_scope(*headers), receive, None))
    return received


def test_body_chunks_are_joined():
    assert read_body(receiving(chunk(b"12345"), chunk(b"67890", more=False))) == [b"1234567890"]


def test_chunked_body_is_refused_at_the_limit():
    receive = receiving(chunk(b"12345"), chunk(b"678901"), chunk(b"never read", more=False))
    with pytest.raises(ApiError, match="body: more than 10 bytes; send fewer"):
        read_body(receive)
    assert receive.count == 2


def test_announced_length_is_refused_before_reading():
    receive = receiving()
    with pytest.raises(ApiError, match="more than 10 bytes"):
        read_body(receive, headers=[(b"content-length", b"11")])
    assert receive.count == 0


def test_slow_body_is_aborted():
    with pytest.raises(ApiError, match=r"not received within 0\.01 s"):
        read_body(receiving(chunk(b"1"), wait=True), timeout_s=0.01)


def test_slow_bodies_displace_each_other():
    """Above `max_requests` bodies the oldest is aborted, so that a fast request is processed."""

    async def app(scope, receive, send):
        scope["state"]["body"] = (await receive())["body"]

    async def scenario():
        body = BodyMiddleware(
            app, limits=RequestLimits(max_body_bytes=10, max_requests=2, timeout_s=30.0)
        )
        slow = [
            asyncio.create_task(body(body_scope(), receiving(chunk(b"1"), wait=True), None))
            for _ in range(2)
        ]
        await asyncio.sleep(0)
        fast = body_scope()
        await body(fast, receiving(chunk(b"fast", more=False)), None)
        assert fast["state"]["body"] == b"fast"
        with pytest.raises(ApiError, match="aborted because the server is busy"):
            await slow[0]
        assert not slow[1].done()
        slow[1].cancel()
        await asyncio.wait(slow)

    asyncio.run(scenario())


def test_slow_bodies_are_limited_in_bytes_together():
    """Above `max_total_bytes` the oldest body is aborted, and its memory is free at once."""

    async def app(scope, receive, send):
        scope["state"]["body"] = (await receive())["body"]

    async def scenario():
        body = BodyMiddleware(app, limits=RequestLimits(max_body_bytes=10), max_total_bytes=20)
        slow = [
            asyncio.create_task(body(body_scope(), receiving(chunk(b"1" * 8), wait=True), None))
            for _ in range(2)
        ]
        await asyncio.sleep(0)
        for _ in range(3):
            fast = body_scope()
            await body(fast, receiving(chunk(b"fast!", more=False)), None)
            assert fast["state"]["body"] == b"fast!"
        with pytest.raises(ApiError, match="aborted because the server is busy"):
            await slow[0]
        assert not slow[1].done()
        slow[1].cancel()
        await asyncio.wait(slow)

    asyncio.run(scenario())


def test_bodies_in_progress_are_limited_in_bytes_together():
    async def scenario():
        released = asyncio.Event()

        async def app(scope, receive, send):
            await released.wait()

        body = BodyMiddleware(app, limits=RequestLimits(max_body_bytes=10), max_total_bytes=20)

        def send():
            return body(body_scope(), receiving(chunk(b"1" * 8, more=False)), None)

        waiting = [asyncio.create_task(send()) for _ in range(2)]
        await asyncio.sleep(0)
        with pytest.raises(ApiError, match="server: requests of 24 bytes in progress; try again"):
            await asyncio.wait_for(send(), 5)  # it would wait for the others otherwise
        released.set()
        await asyncio.gather(*waiting)
        await send()

    asyncio.run(scenario())


def test_aborted_body_frees_its_memory(monkeypatch):
    """The traceback of the error keeps the frames, and so must not keep the body."""

    async def scenario():
        body = BodyMiddleware(None, limits=RequestLimits(max_body_bytes=10, max_requests=1))
        slow = asyncio.create_task(body(body_scope(), receiving(chunk(b"1"), wait=True), None))
        await asyncio.sleep(0)
        ((timeout, buffer),) = body._receiving.items()
        assert buffer == b"1"
        body._abort(timeout)
        assert buffer == b""
        with pytest.raises(ApiError, match="aborted"):
            await slow

    asyncio.run(scenario())


def test_body_may_be_aborted_when_its_last_part_has_arrived():
    async def app(scope, receive, send):
        pass

    async def scenario():
        body = BodyMiddleware(app, limits=RequestLimits(max_body_bytes=10, max_requests=1))
        last_part = asyncio.Future()
        slow = asyncio.create_task(body(body_scope(), lambda: last_part, None))
        await asyncio.sleep(0)
        last_part.set_result(chunk(b"1", more=False))
        # The other body is read at once, before the slow request continues.
        await body(body_scope(), receiving(chunk(b"2", more=False)), None)
        with pytest.raises(ApiError, match="aborted because the server is busy"):
            await slow

    asyncio.run(scenario())


def test_body_may_be_aborted_when_its_timeout_has_expired():
    async def app(scope, receive, send):
        scope["state"]["body"] = (await receive())["body"]

    async def scenario():
        body = BodyMiddleware(app, limits=RequestLimits(max_body_bytes=10, max_requests=1))
        slow = asyncio.create_task(body(body_scope(), receiving(chunk(b"1"), wait=True), None))
        await asyncio.sleep(0)
        ((timeout, _),) = body._receiving.items()
        timeout.reschedule(0.0)
        await asyncio.sleep(0)
        assert timeout.expired()  # but the slow request has not continued yet
        fast = body_scope()
        await body(fast, receiving(chunk(b"2", more=False)), None)
        assert fast["state"]["body"] == b"2"
        with pytest.raises(ApiError, match="not received within 10 s"):
            await slow

    asyncio.run(scenario())


def test_disconnect_during_body_ends_request():
    with pytest.raises(ClientDisconnectedError, match="the client disconnected"):
        read_body(receiving(chunk(b"1"), {"type": "http.disconnect"}))


@pytest.mark.parametrize("is_chunked", [False, True])
def test_large_body_gets_413_with_the_limit(request_once, is_chunked):
    async def chunks():
        for _ in range(3):
            yield b" " * 500

    content = chunks() if is_chunked else b" " * 1_500
    response = request_once("POST", "/v1/summarize", content=content, settings=SMALL)
    assert (response.status_code, response.json()["error"]["code"]) == (413, "body_too_large")
    assert "body: more than 1,000 bytes" in response.json()["error"]["message"]


def refuse(receive, *headers, code="body_too_large"):
    """Send a request that is refused without reading its body; return the sent statuses."""

    async def refusing(scope, receive, send):
        raise ApiError(code, "refused")

    sent = []

    async def send(message):
        sent.append((receive.count, message.get("status")))

    scope = {**body_scope(*headers), "path": "/"}
    asyncio.run(ErrorMiddleware(refusing, Metrics())(scope, receive, send))
    return [each for each in sent if each[1]]


def test_refused_body_is_discarded_before_the_response():
    """urllib sends the whole body before it reads, so an early close would hide the response."""
    receive = receiving(chunk(b"1"), chunk(b"2"), chunk(b"3", more=False))
    assert refuse(receive) == [(3, 413)]


def test_discarding_a_body_is_bounded(monkeypatch):
    monkeypatch.setattr("readagain.serve.middleware.DISCARD_BYTES", 10)
    assert refuse(receiving(*[chunk(b"12345")] * 9)) == [(3, 413)]
    monkeypatch.setattr("readagain.serve.middleware.DISCARD_S", 0.01)
    assert refuse(receiving(chunk(b"1"), wait=True)) == [(1, 413)]


def test_body_is_not_requested_from_client_that_expects_100():
    assert refuse(receiving(), (b"expect", b"100-continue")) == [(0, 413)]
