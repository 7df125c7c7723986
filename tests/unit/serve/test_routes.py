"""Routes: results, limits, errors, health and metrics."""

import asyncio
import json
import time
from dataclasses import asdict

import pytest
from starlette.requests import Request

from readagain.explain.view import explanation_view
from readagain.serve import errors
from readagain.serve.errors import ClientDisconnectedError, describe_problems
from readagain.serve.models import LoadedModels
from readagain.serve.routes import LARGE_BODY_BYTES, run_until_disconnect
from readagain.serve.settings import RequestLimits, ServeSettings

TEXT = "Police in Ghent said on Monday that 12 people crossed the old bridge."
TEXTS = [TEXT, "", "A storm hit the harbour. It was the 3rd.", "The museum closes."]


def message(response):
    """Return the message of an error response and check its form."""
    body = response.json()
    assert set(body) == {"error"}
    assert set(body["error"]) == {"code", "message", "request_id"}
    assert body["error"]["request_id"] == response.headers["x-request-id"]
    return body["error"]["message"]


def test_summarize_returns_results_in_order(summarize, summarizer):
    response = summarize({"texts": TEXTS})
    assert response.status_code == 200
    assert response.json()["model"] == "toy"
    results = response.json()["results"]
    assert [each["summary"] for each in results] == [str(s) for s in summarizer.summarize(TEXTS)]
    assert results[1] == {
        "summary": "",
        "score": 0.0,
        "read_sentences": 0,
        "truncated": False,
        "read_share": 1.0,
        "confidence": None,
        "warnings": [{"code": "too_short", "message": "the text has no words"}],
        "alternatives": [],
        "explanation": None,
    }


@pytest.mark.parametrize(
    "options",
    [
        {"max_words": 3},
        {"min_words": 13, "max_words": 13},
        {"max_bytes": 20},
        {"beam": 1},
        {"case": "headline"},
        {"tokenized": True},
    ],
    ids=str,
)
def test_options_equal_those_of_summarizer(summarize, summarizer, options):
    (result,) = summarize({"texts": [TEXT], **options}).json()["results"]
    assert result["summary"] == summarizer.summarize(TEXT, **options).text
    assert result["summary"] != summarizer.summarize(TEXT).text


def test_unread_part_is_reported(summarize):
    (result,) = summarize({"texts": [f"{TEXT} It rained. It snowed."]}).json()["results"]
    assert 0 < result["read_share"] < 1
    assert result["warnings"][0]["code"] == "truncated"


def test_long_text_is_cut(summarize, summarizer):
    settings = ServeSettings(limits=RequestLimits(max_chars=len(TEXT) + 1))
    long = f"{TEXT} {'It rained. ' * 3000}"
    first, second = summarize({"texts": [long, TEXT]}, settings=settings).json()["results"]
    assert first["summary"] == second["summary"] == summarizer.summarize(TEXT).text
    assert first["truncated"] is True
    assert first["read_share"] == pytest.approx((len(TEXT) + 1) / len(long))
    assert first["warnings"][0] == {"code": "truncated", "message": "only 1% of the text was read"}
    assert (second["truncated"], second["read_share"]) == (False, 1.0)


def test_minimum_confidence_needs_a_model_with_confidence(summarize):
    response = summarize({"texts": [TEXT], "min_confidence": 0.5})
    assert response.status_code == 422
    assert "min_confidence is 0.5; this model has no confidence" in response.text


def test_n_best_returns_alternatives(summarize, summarizer):
    (result,) = summarize({"texts": [TEXT], "n_best": 3}).json()["results"]
    expected = summarizer.summarize(TEXT, n_best=3).alternatives
    alternatives = [(each["summary"], each["score"]) for each in result["alternatives"]]
    assert alternatives == [(each.text, each.score) for each in expected]


def test_begin_forces_prefix_of_headline(summarize):
    (result,) = summarize({"texts": [TEXT], "begin": "Blorb say", "explain": True}).json()[
        "results"
    ]
    assert result["summary"].startswith("Blorb say ")
    origins = [word["origin"] for word in result["explanation"]["words"]]
    assert origins[:2] == ["given", "given"]


def test_explanation_equals_explain_command(summarize, summarizer):
    response = summarize({"texts": [TEXT, ""], "explain": True})
    first, empty = response.json()["results"]
    view = explanation_view(TEXT, summarizer.summarize(TEXT, explain=True), model="toy")
    expected = json.loads(json.dumps(asdict(view)))
    assert first["explanation"] == {
        name: expected[name] for name in ("importance_kind", "source", "words")
    }
    assert empty["explanation"] is None


def test_concurrent_requests_share_batches(run_client, blocked):
    async def scenario(client):
        def send(text, **options):
            return client.post("/v1/summarize", json={"texts": [text], **options})

        first = asyncio.create_task(send("first"))
        await asyncio.to_thread(blocked.started.wait, 30)
        others = [asyncio.create_task(send(f"text {number}")) for number in range(8)]
        others.append(asyncio.create_task(send("text 8", beam=2)))
        while len(client.queue) < len(others):
            await asyncio.sleep(0)
        blocked.released.set()
        return await asyncio.gather(first, *others)

    responses = run_client(scenario, models=LoadedModels({"blocked": blocked}))
    texts = [response.json()["results"][0]["summary"] for response in responses]
    assert texts == ["first", *(f"text {number}" for number in range(9))]
    assert [len(texts) for texts, _ in blocked.calls] == [1, 8, 1]


def test_models_lists_models_and_limits(run_client, summarizer):
    settings = ServeSettings(limits=RequestLimits(max_texts=5, max_chars=70))
    models = LoadedModels({"first": summarizer, "second": summarizer})
    body = run_client(
        lambda client: client.get("/v1/models"), settings=settings, models=models
    ).json()
    assert [(each["name"], each["is_default"]) for each in body["models"]] == [
        ("first", True),
        ("second", False),
    ]
    assert body["models"][0]["beam"] == summarizer.run.decode.beam_size
    assert body["models"][0]["language"] == "en"
    assert body["models"][0]["language_name"] == "English"
    assert body["models"][0]["max_bytes"] is None
    assert body["limits"] == {
        "max_texts": 5,
        "max_chars": 70,
        "max_body_bytes": 1 << 20,
        "max_beam": 32,
        "max_words": 64,
    }


def test_model_field_selects_model(run_client, summarizer, blocked):
    blocked.released.set()
    models = LoadedModels({"first": summarizer, "second": blocked})
    body = {"texts": ["A storm."], "model": "second"}
    response = run_client(lambda client: client.post("/v1/summarize", json=body), models=models)
    assert response.json()["model"] == "second"
    assert response.json()["results"][0]["summary"] == "A storm."


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ({"texts": ["x"] * 4}, "texts has 4 items; the limit is 3"),
        ({"texts": []}, "texts is empty; expected at least one item"),
        ({"texts": "x"}, "texts is a string; expected a list"),
        ({"texts": [None]}, "texts[0] is null; expected a string"),
        ({"texts": ["\ud800"]}, "texts[0] contains a lone surrogate"),
        ({}, "texts is missing"),
        ([], "body is a list; expected an object; see /docs for its fields"),
        ({"texts": ["x"], "max_word": 3}, "unknown field 'max_word'; did you mean 'max_words'?"),
        ({"texts": ["x"], "\ud800": 3}, "unknown field '?'; see /docs for all fields"),
        ({"texts": ["x"], "q": 3}, "unknown field 'q'; see /docs for all fields"),
        ({"texts": ["x"], "": 3}, "unknown field ''; see /docs for all fields"),
        ({"texts": ["x"], "max_words": 0}, "max_words is 0; expected 1 or more"),
        ({"texts": ["x"], "max_words": 65}, "max_words is 65; expected 64 or less"),
        ({"texts": ["x"], "min_words": -1}, "min_words is -1; expected 0 or more"),
        ({"texts": ["x"], "max_bytes": 10_001}, "max_bytes is 10001; expected 10000 or less"),
        ({"texts": ["x"], "beam": 33}, "beam is 33; expected 32 or less"),
        ({"texts": ["x"], "beam": 10**90}, f"beam is {'1' + '0' * 79}…; expected 32 or less"),
        ({"texts": ["x"], "beam": 2.5}, "beam is a decimal number; expected a whole number"),
        ({"texts": ["x"], "explain": "no"}, "explain is a string; expected true or false"),
        ({"texts": ["x"], "model": 3}, "model is a whole number; expected a string"),
        ({"texts": ["x"], "model": "old"}, "model is 'old'; expected one of toy"),
        ({"texts": ["x"], "n_best": 9}, "n_best is 9; expected 1 to 4, the beam size"),
        (
            {"texts": ["x"], "begin": "b" * 1001},
            "begin has 1,001 characters; the limit is 1,000",
        ),
        (
            {"texts": ["x"], "begin": "a b c", "max_words": 2},
            "begin has 3 words; expected at most max_words, which is 2",
        ),
        (
            {"texts": ["x"], "min_words": 5, "max_words": 2},
            "min_words is 5; expected at most max_words, which is 2",
        ),
        (
            {"texts": ["x"], "case": "upper"},
            "case is 'upper'; expected 'sentence', 'headline' or 'plain'",
        ),
        (
            {"texts": [1], "beam": 0},
            "texts[0] is a whole number; expected a string; beam is 0; expected 1 or more",
        ),
        ({"texts": list(range(9))}, "texts[0] is a whole number; expected a string"),
    ],
    ids=lambda value: str(value)[:40].encode("ascii", "replace").decode(),
)
def test_invalid_request_gets_422_with_reason(request_once, body, expected):
    settings = ServeSettings(limits=RequestLimits(max_texts=3, max_chars=70))
    content = json.dumps(body)
    headers = {"Content-Type": "application/json"}
    response = request_once(
        "POST", "/v1/summarize", content=content, headers=headers, settings=settings
    )
    assert response.status_code == 422
    assert response.json()["error"]["code"] == "invalid"
    assert expected in message(response)


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        (b"{", "body: not valid JSON; Expecting property name"),
        (b'{"texts": ["\xff"]}', "body: not valid JSON; expected UTF-8 without deep nesting"),
        (
            b'{"texts": ' + b"[" * 100_000,
            "body: not valid JSON; expected UTF-8 without deep nesting",
        ),
        (
            b'{"beam": ' + b"9" * 5_000 + b"}",
            "body: not valid JSON; expected UTF-8 without deep nesting",
        ),
    ],
    ids=["cut short", "not UTF-8", "nested too deeply", "a number too long"],
)
def test_invalid_json_gets_400(request_once, content, expected):
    headers = {"Content-Type": "application/json"}
    response = request_once("POST", "/v1/summarize", content=content, headers=headers)
    assert (response.status_code, response.json()["error"]["code"]) == (400, "bad_json")
    assert expected in message(response)


@pytest.mark.parametrize("headers", [{}, {"Content-Type": "text/plain"}], ids=["none", "text"])
def test_content_type_must_be_json(request_once, headers):
    response = request_once("POST", "/v1/summarize", content=b'{"texts": ["x"]}', headers=headers)
    assert (response.status_code, response.json()["error"]["code"]) == (415, "not_json")
    assert "send Content-Type: application/json" in message(response)


def test_missing_body_gets_422(request_once):
    response = request_once("POST", "/v1/summarize")
    assert response.status_code == 422
    assert message(response) == "body is missing"


@pytest.mark.parametrize("path", ["/v2/summarize", "/static/no.js", "/static/../app.py", "/v1/"])
def test_unknown_path_gets_404(request_once, path):
    response = request_once("GET", path)
    assert (response.status_code, response.json()["error"]["code"]) == (404, "not_found")
    assert "not found; see /docs for all paths" in message(response)


@pytest.mark.parametrize(
    ("method", "path"), [("GET", "/v1/summarize"), ("DELETE", "/v1/models"), ("POST", "/")]
)
def test_unsupported_method_gets_405(request_once, method, path):
    response = request_once(method, path)
    assert (response.status_code, response.json()["error"]["code"]) == (405, "method_not_allowed")
    assert f"{path}: does not support {method}" in message(response)
    assert response.headers["allow"]


def test_health_and_readiness_answer_get_and_head(request_once):
    assert request_once("GET", "/healthz").json()["status"] == "ok"
    assert request_once("GET", "/readyz").json() == {"status": "ready"}
    assert (
        request_once("HEAD", "/healthz").status_code
        == request_once("HEAD", "/readyz").status_code
        == 200
    )


def test_page_and_static_files_are_served(request_once):
    page = request_once("GET", "/")
    assert page.headers["content-type"] == "text/html; charset=utf-8"
    assert "readagain" in page.text
    assert request_once("HEAD", "/").status_code == 200
    assert request_once("GET", "/static/index.html").text == page.text


def test_metrics_count_requests_texts_and_batches(run_client):
    async def scenario(client):
        await client.post("/v1/summarize", json={"texts": [TEXT, TEXT]})
        await client.post("/v1/summarize", json={})
        await client.get("/nowhere")
        return await client.get("/metrics")

    lines = run_client(scenario).text.splitlines()
    for line in (
        'readagain_requests_total{route="/v1/summarize",status="200"} 1.0',
        'readagain_requests_total{route="/v1/summarize",status="422"} 1.0',
        'readagain_requests_total{route="other",status="404"} 1.0',
        'readagain_texts_total{model="toy"} 2.0',
        "readagain_batch_texts_sum 2.0",
        "readagain_batch_texts_count 1.0",
        "readagain_queue_texts 0.0",
    ):
        assert line in lines
    assert any(line.startswith("readagain_resident_bytes ") for line in lines)


def test_unknown_field_is_escaped(request_once):
    response = request_once("POST", "/v1/summarize", json={"texts": ["A storm came."], "a\nb": 1})
    assert response.status_code == 422
    assert r"unknown field 'a\nb'; see /docs" in response.json()["error"]["message"]


@pytest.mark.parametrize(
    ("body", "code"),
    [
        ('{"texts": [' + "1," * 500_000 + "1]}", "texts[0] is a whole number; expected a string"),
        ('{"texts": [' + '"a",' * 250_000 + '"a"]}', "texts has 250,001 items; the limit is 64"),
        (
            "{" + ",".join(f'"{number}":1' for number in range(90_000)) + "}",
            "unknown field '0'; see /docs for all fields",
        ),
    ],
    ids=["wrong items", "many items", "many fields"],
)
def test_validation_of_a_large_body_stops_early(request_once, body, code, monkeypatch):
    """Only the first error is reported, so that many invalid items do not block the event loop."""
    described = []

    def describe(problems):
        described.append(len(problems))
        return describe_problems(problems)

    monkeypatch.setattr(errors, "describe_problems", describe)
    headers = {"Content-Type": "application/json"}
    response = request_once("POST", "/v1/summarize", content=body, headers=headers)
    assert message(response) == code
    assert described == [1]


def test_request_beyond_timeout_gets_504_and_is_dropped(run_client, blocked):
    async def scenario(client):
        first = asyncio.create_task(client.post("/v1/summarize", json={"texts": ["first"]}))
        await asyncio.to_thread(blocked.started.wait, 30)
        late = await client.post("/v1/summarize", json={"texts": ["late"]})
        assert len(client.queue) == 0
        blocked.released.set()
        await first
        return late

    settings = ServeSettings(limits=RequestLimits(timeout_s=1.0))
    models = LoadedModels({"blocked": blocked})
    response = run_client(scenario, settings=settings, models=models)
    assert (response.status_code, response.json()["error"]["code"]) == (504, "deadline")
    assert "no result within 1 s; send fewer texts" in response.json()["error"]["message"]
    assert [texts for texts, _ in blocked.calls] == [["first"]]


def run_with_disconnect(work, disconnect):
    async def scenario():
        scope = {"type": "http", "state": {"start": time.monotonic()}}
        return await run_until_disconnect(work(), Request(scope, disconnect), 30)

    return asyncio.run(scenario())


def test_disconnect_cancels_the_work():
    cancelled = []

    async def work():
        try:
            await asyncio.Event().wait()
        except asyncio.CancelledError:
            cancelled.append(True)
            raise

    async def disconnect():
        await asyncio.sleep(0)  # after the work has started
        return {"type": "http.disconnect"}

    with pytest.raises(ClientDisconnectedError):
        run_with_disconnect(work, disconnect)
    assert cancelled == [True]


def test_finished_work_counts_despite_disconnect():
    async def work():
        return "result"

    async def disconnect():
        return {"type": "http.disconnect"}

    assert run_with_disconnect(work, disconnect) == "result"


def large_body(size=LARGE_BODY_BYTES):
    return {
        "content": '{"texts": ["A storm."]}' + " " * size,
        "headers": {"Content-Type": "application/json"},
    }


@pytest.mark.parametrize("paths", [["summarize"] * 2, ["summarize", "chat/completions"]], ids=str)
@pytest.mark.parametrize(("size", "pauses"), [(10, []), (LARGE_BODY_BYTES, [-1.0, 6.0])])
def test_large_bodies_leave_time_for_other_requests(run_client, size, pauses, paths, monkeypatch):
    slept = []

    async def sleep(seconds):
        slept.append(seconds)

    # The first body is parsed from 1 to 4, and was received in 0.5, so the second waits until 11.
    times = iter([0.0, 1.0, 1.0, 4.0, 5.0, 11.0, 12.0])
    monkeypatch.setattr("readagain.serve.routes.asyncio.sleep", sleep)
    num_bytes = len(large_body()["content"])
    monkeypatch.setattr("readagain.serve.routes.RECEIVE_S_PER_BYTE", 0.5 / num_bytes)
    monkeypatch.setattr("readagain.serve.routes.monotonic", times.__next__)

    async def scenario(client):
        for path in paths:
            await client.post(f"/v1/{path}", **large_body(size))

    run_client(scenario)
    assert slept == pauses


def test_large_body_waits_at_most_until_its_deadline(run_client, monkeypatch):
    times = iter([0.0, 0.0, 0.0, 1e6, 1e6])
    monkeypatch.setattr("readagain.serve.routes.monotonic", times.__next__)

    async def scenario(client):
        # The first body is invalid, so it is parsed, but there is nothing to summarize.
        body = large_body() | {"content": '{"texts": 1}' + " " * LARGE_BODY_BYTES}
        first = await client.post("/v1/summarize", **body)
        assert first.status_code == 422
        # Fails instead of waiting for the turn of the body.
        return await asyncio.wait_for(client.post("/v1/summarize", **large_body()), 10)

    late = run_client(scenario, settings=ServeSettings(limits=RequestLimits(timeout_s=1)))
    assert (late.status_code, late.json()["error"]["code"]) == (504, "deadline")


def test_large_body_of_disconnected_client_is_not_parsed(run_client, models, monkeypatch):
    times = iter([0.0, 0.0, 0.0, 1e6, 1e6])
    monkeypatch.setattr("readagain.serve.routes.monotonic", times.__next__)
    body = large_body()
    messages = [
        {"type": "http.request", "body": body["content"].encode()},
        {"type": "http.disconnect"},
    ]
    scope = {
        "type": "http",
        "method": "POST",
        "path": "/v1/summarize",
        "query_string": b"",
        "headers": [(b"host", b"localhost"), (b"content-type", b"application/json")],
    }
    sent = []

    async def receive():
        return messages.pop(0)

    async def send(message):
        sent.append(message)

    async def scenario(client):
        await client.post("/v1/summarize", **body)
        await client._transport.app(scope, receive, send)

    run_client(scenario)
    assert (messages, sent) == ([], [])
