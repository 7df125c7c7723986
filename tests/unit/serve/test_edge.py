"""What every request and reply has: an id, headers, a line of log without texts, no traceback."""

import asyncio
import json
import logging
import re

import pytest

from readagain.serve.app import build_app
from readagain.serve.edge import SECURITY_HEADERS, ErrorMiddleware
from readagain.serve.logs import JsonLines
from readagain.serve.metrics import Metrics
from readagain.serve.models import LoadedModels
from readagain.serve.settings import ServeSettings

SECRET = "Nobody may read this in a log."


class Breaking:
    """A summarizer with a mistake in it."""

    def __init__(self, summarizer):
        self.run = summarizer.run

    def summarize(self, texts, **options):
        raise ZeroDivisionError(texts[0])


@pytest.fixture
def log(caplog):
    """Return the lines of the log so far, read back from how they are written."""
    caplog.set_level(logging.INFO, logger="readagain.serve")

    def lines():
        return [json.loads(JsonLines().format(record)) for record in caplog.records
                if record.name == "readagain.serve"]  # fmt: skip

    return lines


def test_an_id_that_is_given_comes_back(ask):
    reply = ask("GET", "/healthz", headers={"X-Request-Id": "abc-1.2_3"})
    assert reply.headers["x-request-id"] == "abc-1.2_3"


@pytest.mark.parametrize("given", ["", "a b", "x" * 65, 'a"b', "é".encode()], ids=repr)
def test_an_id_that_is_none_is_replaced(ask, given):
    reply = ask("GET", "/healthz", headers={b"X-Request-Id": given})
    assert re.fullmatch(r"[0-9a-f]{32}", reply.headers["x-request-id"])


@pytest.mark.parametrize("path", ["/", "/healthz", "/nowhere", "/docs", "/static/index.html"])
def test_every_reply_has_the_security_headers(ask, path):
    headers = ask("GET", path).headers
    assert {name: headers[name] for name in SECURITY_HEADERS} == dict(SECURITY_HEADERS)
    assert "unsafe" not in headers["content-security-policy"]


def test_files_may_be_kept_if_unchanged_and_answers_not_at_all(ask):
    assert ask("GET", "/").headers["cache-control"] == "no-cache"
    assert ask("GET", "/v1/models").headers["cache-control"] == "no-store"


def test_a_request_leaves_one_line_of_log_without_its_texts(summarize, log):
    reply = summarize({"texts": [SECRET, "A storm."]})
    (line,) = log()
    assert line["event"] == "request"
    assert line["request_id"] == reply.headers["x-request-id"]
    assert (line["method"], line["path"], line["status"]) == ("POST", "/v1/summarize", 200)
    assert (line["model"], line["texts"], line["characters"]) == ("toy", 2, 38)
    assert line["ms"] > 0
    assert "Nobody" not in json.dumps(line)


@pytest.mark.parametrize(
    "body", [{"texts": [SECRET], "beam": 0}, {"text": SECRET}, {"texts": SECRET}], ids=str
)
def test_a_refused_request_leaves_no_text_in_the_log_nor_in_the_reply(summarize, log, body):
    reply = summarize(body)
    assert reply.status_code == 422
    assert "Nobody" not in reply.text
    assert "Nobody" not in json.dumps(log())


def test_our_own_mistake_is_told_to_the_log_and_not_to_the_client(talk, summarizer, log):
    models = LoadedModels({"broken": Breaking(summarizer)})
    body = {"texts": [SECRET]}
    reply = talk(lambda client: client.post("/v1/summarize", json=body), models=models)
    assert (reply.status_code, reply.json()["error"]["code"]) == (500, "internal")
    assert "Traceback" not in reply.text
    assert "ZeroDivision" not in reply.text
    broken, request = log()
    assert broken["level"] == "error"
    assert broken["error"] == "ZeroDivisionError"
    assert broken["request_id"] == request["request_id"] == reply.headers["x-request-id"]
    assert any("test_edge.py" in frame for frame in broken["where"])
    assert "Nobody" not in json.dumps(log())


def test_a_client_who_left_is_sent_nothing_and_noted_in_the_log(held, log):
    app = build_app(ServeSettings(), LoadedModels({"held": held}))
    body = json.dumps({"texts": [SECRET]}).encode()
    scope = {
        "type": "http",
        "method": "POST",
        "path": "/v1/summarize",
        "query_string": b"",
        "headers": [(b"content-type", b"application/json")],
    }
    sent = []

    async def send(message):
        sent.append(message)

    async def story():
        messages = [{"type": "http.request", "body": body}]

        async def receive():
            if messages:
                return messages.pop()
            await asyncio.to_thread(held.began.wait, 30)
            return {"type": "http.disconnect"}

        async with app.router.lifespan_context(app):
            await app(scope, receive, send)
            held.released.set()

    asyncio.run(story())
    (line,) = log()
    assert (line["status"], line["texts"]) == (499, 1)
    assert sent == []


def test_a_path_cannot_forge_a_line_of_log(ask, log):
    ask("GET", "/%0a%7b%22event%22:%22forged%22%7d")
    (line,) = log()
    assert line["path"] == '/\n{"event":"forged"}'


def test_other_sites_may_not_ask_unless_they_are_named(ask):
    origin = {"Origin": "https://example.org"}
    assert "access-control-allow-origin" not in ask("GET", "/v1/models", headers=origin).headers
    settings = ServeSettings(cors_origins=("https://example.org",))
    named = ask("GET", "/v1/models", headers=origin, settings=settings)
    assert named.headers["access-control-allow-origin"] == "https://example.org"
    other = {"Origin": "https://example.com"}
    unnamed = ask("GET", "/v1/models", headers=other, settings=settings)
    assert "access-control-allow-origin" not in unnamed.headers


def test_a_named_site_may_read_errors_too_and_asks_first_without_a_key(ask):
    settings = ServeSettings(cors_origins=("https://example.org",), api_keys=("k" * 16,))
    origin = {"Origin": "https://example.org"}
    first = {
        **origin,
        "Access-Control-Request-Method": "POST",
        "Access-Control-Request-Headers": "authorization,content-type",
    }
    assert ask("OPTIONS", "/v1/summarize", headers=first, settings=settings).status_code == 200
    refused = ask("POST", "/v1/summarize", headers=origin, settings=settings)
    assert refused.status_code == 401
    assert refused.headers["access-control-allow-origin"] == "https://example.org"


def test_a_mistake_in_the_middle_of_a_reply_is_not_answered_twice(log):
    async def breaks(scope, receive, send):
        await send({"type": "http.response.start", "status": 200, "headers": []})
        raise ZeroDivisionError

    sent = []

    async def send(message):
        sent.append(message["type"])

    scope = {"type": "http", "method": "GET", "path": "/", "headers": []}
    asyncio.run(ErrorMiddleware(breaks, Metrics())(scope, None, send))
    assert sent == ["http.response.start"]
    assert [line["event"] for line in log()] == ["unexpected error", "request"]
