"""The API: what is asked for comes back, one result for each text, within limits that are named."""

import asyncio
import json

import pytest

from readagain.explain.story import tell
from readagain.serve.models import LoadedModels
from readagain.serve.settings import RequestLimits, ServeSettings

TEXT = "Police in Ghent said on Monday that 12 people crossed the old bridge."
TEXTS = [TEXT, "", "A storm hit the harbour. It was the 3rd.", "The museum closes."]


def message(reply):
    """Return what an error says; its shape is that of all errors."""
    body = reply.json()
    assert set(body) == {"error"}
    assert set(body["error"]) == {"code", "message", "request_id"}
    assert body["error"]["request_id"] == reply.headers["x-request-id"]
    return body["error"]["message"]


def test_each_text_gets_its_summary_in_order(summarize, summarizer):
    reply = summarize({"texts": TEXTS})
    assert reply.status_code == 200
    assert reply.json()["model"] == "toy"
    results = reply.json()["results"]
    assert [each["summary"] for each in results] == [str(s) for s in summarizer.summarize(TEXTS)]
    assert results[1] == {
        "summary": "",
        "score": 0.0,
        "read_sentences": 0,
        "truncated": False,
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
def test_options_are_those_of_the_summarizer(summarize, summarizer, options):
    (result,) = summarize({"texts": [TEXT], **options}).json()["results"]
    assert result["summary"] == summarizer.summarize(TEXT, **options).text
    assert result["summary"] != summarizer.summarize(TEXT).text


def test_several_summaries_of_a_text(summarize, summarizer):
    (result,) = summarize({"texts": [TEXT], "n_best": 3}).json()["results"]
    expected = summarizer.summarize(TEXT, n_best=3).alternatives
    found = [(each["summary"], each["score"]) for each in result["alternatives"]]
    assert found == [(each.text, each.score) for each in expected]


def test_headlines_begin_as_they_are_asked_to(summarize):
    (result,) = summarize({"texts": [TEXT], "begin": "Blorb say", "explain": True}).json()[
        "results"
    ]
    assert result["summary"].startswith("Blorb say ")
    origins = [word["origin"] for word in result["explanation"]["words"]]
    assert origins[:2] == ["given", "given"]


def test_an_explanation_is_what_readagain_explain_tells(summarize, summarizer):
    reply = summarize({"texts": [TEXT, ""], "explain": True})
    first, empty = reply.json()["results"]
    told = tell(TEXT, summarizer.summarize(TEXT, explain=True), model="toy").to_dict()
    told = json.loads(json.dumps(told))
    assert first["explanation"] == {
        name: told[name] for name in ("importance_kind", "source", "words")
    }
    assert empty["explanation"] is None


def test_requests_that_arrive_together_are_answered_together_and_not_mixed_up(talk, held):
    async def story(client):
        def send(text, **options):
            return client.post("/v1/summarize", json={"texts": [text], **options})

        first = asyncio.create_task(send("first"))
        await asyncio.to_thread(held.began.wait, 30)
        others = [asyncio.create_task(send(f"text {number}")) for number in range(8)]
        others.append(asyncio.create_task(send("text 8", beam=2)))
        while len(client.queue) < len(others):
            await asyncio.sleep(0)
        held.released.set()
        return await asyncio.gather(first, *others)

    replies = talk(story, models=LoadedModels({"held": held}))
    texts = [reply.json()["results"][0]["summary"] for reply in replies]
    assert texts == ["first", *(f"text {number}" for number in range(9))]
    assert [len(texts) for texts, _ in held.calls] == [1, 8, 1]


def test_models_are_listed_with_the_limits_of_a_request(talk, summarizer):
    settings = ServeSettings(limits=RequestLimits(max_texts=5, max_chars=70))
    models = LoadedModels({"first": summarizer, "second": summarizer})
    body = talk(lambda client: client.get("/v1/models"), settings=settings, models=models).json()
    assert [(each["name"], each["is_default"]) for each in body["models"]] == [
        ("first", True),
        ("second", False),
    ]
    assert body["models"][0]["beam"] == summarizer.run.decode.beam_size
    assert body["models"][0]["max_bytes"] is None
    assert body["limits"] == {
        "max_texts": 5,
        "max_chars": 70,
        "max_body_bytes": 1 << 20,
        "max_beam": 32,
        "max_words": 64,
    }


def test_a_model_is_asked_for_by_name(talk, summarizer, held):
    held.released.set()
    models = LoadedModels({"first": summarizer, "second": held})
    body = {"texts": ["A storm."], "model": "second"}
    reply = talk(lambda client: client.post("/v1/summarize", json=body), models=models)
    assert reply.json()["model"] == "second"
    assert reply.json()["results"][0]["summary"] == "A storm."


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ({"texts": ["x"] * 4}, "4 texts; at most 3 are taken in one request"),
        ({"texts": ["x", "y" * 71]}, r"texts[1] has 71 characters; at most 70 are taken"),
        ({"texts": []}, "texts is empty; expected at least one"),
        ({"texts": "x"}, "texts is a string; expected a list"),
        ({"texts": [None]}, "texts[0] is null; expected a string"),
        ({"texts": ["\ud800"]}, "texts[0] holds half a surrogate pair, which is no character"),
        ({}, "no texts"),
        ([], 'the body is a list; expected an object such as {"texts": ["..."]}'),
        ({"texts": ["x"], "max_word": 3}, "no field 'max_word'; did you mean 'max_words'?"),
        ({"texts": ["x"], "\ud800": 3}, "the body holds half a surrogate pair"),
        ({"texts": ["x"], "q": 3}, "no field 'q'; see /docs for those there are"),
        ({"texts": ["x"], "": 3}, "no field ''; see /docs for those there are"),
        ({"texts": ["x"], "max_words": 0}, "max_words is 0; expected 1 or more"),
        ({"texts": ["x"], "max_words": 65}, "max_words is 65; expected 64 or less"),
        ({"texts": ["x"], "min_words": -1}, "min_words is -1; expected 0 or more"),
        ({"texts": ["x"], "max_bytes": 10_001}, "max_bytes is 10001; expected 10000 or less"),
        ({"texts": ["x"], "beam": 33}, "beam is 33; expected 32 or less"),
        ({"texts": ["x"], "beam": 10**60}, f"beam is {'1' + '0' * 39}...; expected 32 or less"),
        ({"texts": ["x"], "beam": 2.5}, "beam is a fraction; expected a whole number"),
        ({"texts": ["x"], "explain": "no"}, "explain is a string; expected true or false"),
        ({"texts": ["x"], "model": 3}, "model is a whole number; expected a string"),
        ({"texts": ["x"], "model": "old"}, "no model 'old'; loaded here: toy"),
        ({"texts": ["x"], "n_best": 9}, "n_best is 9; expected 1 to 4, the beam size"),
        (
            {"texts": ["x"], "begin": "b" * 1001},
            "begin has 1001 characters; at most 1000 are taken",
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
        ({"texts": list(range(9))}, "texts[4] is a whole number; expected a string; and 4 more"),
    ],
    ids=lambda value: str(value)[:40].encode("ascii", "replace").decode(),
)
def test_what_cannot_be_done_is_refused_in_words(ask, body, expected):
    settings = ServeSettings(limits=RequestLimits(max_texts=3, max_chars=70))
    content = json.dumps(body)
    headers = {"Content-Type": "application/json"}
    reply = ask("POST", "/v1/summarize", content=content, headers=headers, settings=settings)
    assert reply.status_code == 422
    assert reply.json()["error"]["code"] == "invalid"
    assert expected in message(reply)


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        (b"{", "the body is not JSON: Expecting property name"),
        (b'{"texts": ["\xff"]}', "the body is not JSON that can be read"),
        (b'{"texts": ' + b"[" * 100_000, "the body is not JSON that can be read"),
        (b'{"beam": ' + b"9" * 5_000 + b"}", "the body is not JSON that can be read"),
    ],
    ids=["cut short", "not UTF-8", "nested too deeply", "a number too long"],
)
def test_a_body_that_is_not_json_is_refused_in_words(ask, content, expected):
    headers = {"Content-Type": "application/json"}
    reply = ask("POST", "/v1/summarize", content=content, headers=headers)
    assert (reply.status_code, reply.json()["error"]["code"]) == (400, "bad_json")
    assert expected in message(reply)


@pytest.mark.parametrize("headers", [{}, {"Content-Type": "text/plain"}], ids=["none", "text"])
def test_a_body_must_be_called_json(ask, headers):
    reply = ask("POST", "/v1/summarize", content=b'{"texts": ["x"]}', headers=headers)
    assert (reply.status_code, reply.json()["error"]["code"]) == (415, "not_json")
    assert "send Content-Type: application/json" in message(reply)


def test_no_body_is_refused_in_words(ask):
    reply = ask("POST", "/v1/summarize")
    assert reply.status_code == 422
    assert message(reply) == "no body; expected a JSON object"


@pytest.mark.parametrize("path", ["/v2/summarize", "/static/no.js", "/static/../app.py", "/v1/"])
def test_a_path_that_is_not_there_is_answered_in_the_same_shape(ask, path):
    reply = ask("GET", path)
    assert (reply.status_code, reply.json()["error"]["code"]) == (404, "not_found")
    assert "see /docs for what there is" in message(reply)


@pytest.mark.parametrize(
    ("method", "path"), [("GET", "/v1/summarize"), ("DELETE", "/v1/models"), ("POST", "/")]
)
def test_a_method_that_is_not_taken_is_answered_in_the_same_shape(ask, method, path):
    reply = ask(method, path)
    assert (reply.status_code, reply.json()["error"]["code"]) == (405, "method_not_allowed")
    assert f"{path} does not take {method}" in message(reply)
    assert reply.headers["allow"]


def test_health_and_readiness(ask):
    assert ask("GET", "/healthz").json()["status"] == "ok"
    assert ask("GET", "/readyz").json() == {"status": "ready"}
    assert ask("HEAD", "/healthz").status_code == ask("HEAD", "/readyz").status_code == 200


def test_the_page_and_its_files_are_served(ask):
    page = ask("GET", "/")
    assert page.headers["content-type"] == "text/html; charset=utf-8"
    assert "readagain" in page.text
    assert ask("HEAD", "/").status_code == 200
    assert ask("GET", "/static/index.html").text == page.text


def test_metrics_count_requests_texts_and_batches(talk):
    async def story(client):
        await client.post("/v1/summarize", json={"texts": [TEXT, TEXT]})
        await client.post("/v1/summarize", json={})
        await client.get("/nowhere")
        return await client.get("/metrics")

    lines = talk(story).text.splitlines()
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


def test_an_unknown_field_is_told_in_one_line(ask):
    reply = ask("POST", "/v1/summarize", json={"texts": ["A storm came."], "a\nb": 1})
    assert reply.status_code == 422
    assert r"no field 'a\nb'; see /docs" in reply.json()["error"]["message"]
