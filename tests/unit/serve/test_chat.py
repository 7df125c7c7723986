"""Chat completions in the format of OpenAI."""

import json

import pytest

from readagain.serve import errors
from readagain.serve.chat import ChatRequest
from readagain.serve.errors import describe_problems

TEXT = "Police in Ghent said on Monday that 12 people crossed the old bridge."
PROMPT = """### Task:
Generate a concise title summarizing the chat history.
### Output:
JSON format: { "title": "your concise title here" }
### Chat History:
<chat_history>
USER: %s
ASSISTANT: It was the third time this year.
</chat_history>"""


@pytest.fixture
def chat(request_once):
    """Send one chat request and return the response."""

    def send(content, role="user", **fields):
        messages = [{"role": "system", "content": "Be brief."}, {"role": role, "content": content}]
        return request_once("POST", "/v1/chat/completions", json={"messages": messages, **fields})

    return send


def events(response):
    """Return the data of server-sent events."""
    lines = response.text.split("\n\n")
    assert lines.pop() == ""
    assert all(line.startswith("data: ") for line in lines)
    return [line.removeprefix("data: ") for line in lines]


def test_chat_answers_with_the_headline(chat, summarizer):
    response = chat(TEXT, model="toy", temperature=0.2, max_tokens=50)
    assert response.status_code == 200
    body = response.json()
    assert (body["object"], body["model"]) == ("chat.completion", "toy")
    (choice,) = body["choices"]
    headline = summarizer.summarize(TEXT).text
    assert choice["message"] == {"role": "assistant", "content": headline}
    assert choice["finish_reason"] == "stop"
    words = len(headline.split())
    assert body["usage"] == {
        "prompt_tokens": 13, "completion_tokens": words, "total_tokens": 13 + words
    }  # fmt: skip


def test_chat_reads_text_parts_and_the_last_user_message(request_once, summarizer):
    parts = [{"type": "text", "text": TEXT}, {"type": "image_url", "image_url": {"url": "x"}}]
    messages = [
        {"role": "user", "content": "Hello there, old friend of mine."},
        {"role": "user", "content": parts},
        {"role": "assistant", "content": None},
    ]
    body = request_once("POST", "/v1/chat/completions", json={"messages": messages}).json()
    assert body["choices"][0]["message"]["content"] == summarizer.summarize(TEXT).text


def test_chat_stream_ends_with_done(chat, summarizer):
    response = chat(TEXT, stream=True)
    assert response.headers["content-type"].startswith("text/event-stream")
    first, last, done = events(response)
    first, last = json.loads(first), json.loads(last)
    headline = summarizer.summarize(TEXT).text
    assert first["object"] == "chat.completion.chunk"
    assert first["choices"][0]["delta"] == {"role": "assistant", "content": headline}
    assert first["choices"][0]["finish_reason"] is None
    assert last["choices"] == [{"index": 0, "delta": {}, "finish_reason": "stop"}]
    assert first["id"] == last["id"]
    assert done == "[DONE]"


def test_chat_stream_has_usage_on_request(chat):
    chunks = events(chat(TEXT, stream=True, stream_options={"include_usage": True}))
    usage = json.loads(chunks[-2])
    assert usage["choices"] == []
    assert usage["usage"]["prompt_tokens"] == 13


def test_title_prompt_of_open_webui_gets_json(chat, summarizer):
    body = chat(PROMPT % TEXT).json()
    content = json.loads(body["choices"][0]["message"]["content"])
    text = f"{TEXT}\nIt was the third time this year."
    assert content == {"title": summarizer.summarize(text).text}


@pytest.mark.parametrize(
    ("fields", "expected"),
    [
        ({"messages": []}, "messages is empty; expected at least one item"),
        ({}, "messages is missing"),
        (
            {"messages": [{"role": "system", "content": "x"}]},
            "messages: no text of the role 'user'",
        ),
        ({"messages": [{"role": "user", "content": "x"}], "model": "gpt"}, "model is 'gpt'"),
        (
            {"messages": [{"role": "user", "content": "x\ud800"}]},
            "messages: a lone surrogate in the",
        ),
    ],
    ids=["empty", "missing", "system", "model", "surrogate"],
)
def test_invalid_chat_gets_422(request_once, fields, expected):
    content, headers = json.dumps(fields), {"Content-Type": "application/json"}
    response = request_once("POST", "/v1/chat/completions", content=content, headers=headers)
    assert response.status_code == 422
    assert expected in response.json()["error"]["message"]


USER = '{"role": "user", "content": '


@pytest.mark.parametrize(
    ("body", "expected", "num_problems"),
    [
        ("[" + "1," * 500_000 + "1]", "messages[0] is a whole number; expected an object", 1),
        ("[" + "{}," * 300_000 + "{}]", "messages[0].role is missing", 1),
        (
            "[" + '{"role":"system"},' * 50_000 + USER + '"x"}]',
            "messages has 50,001 items; the limit is 1,000",
            1,
        ),
        # Two problems, since a content is a string or a list.
        (f"[{USER}[{'1,' * 500_000}1]}}]", "[0] is a whole number; expected an object", 2),
        (f"[{USER}[{'{},' * 300_000}{{}}]}}]", "[0].type is missing", 2),
    ],
    ids=["numbers", "objects", "valid messages", "number parts", "object parts"],
)
def test_validation_of_a_large_chat_stops_early(
    request_once, body, expected, num_problems, monkeypatch
):
    described = []

    def describe(problems):
        described.append(len(problems))
        return describe_problems(problems)

    monkeypatch.setattr(errors, "describe_problems", describe)
    content, headers = f'{{"messages": {body}}}', {"Content-Type": "application/json"}
    response = request_once("POST", "/v1/chat/completions", content=content, headers=headers)
    assert response.status_code == 422
    assert expected in response.json()["error"]["message"]
    assert described == [num_problems]


@pytest.mark.parametrize(
    ("prompt", "text"),
    [
        ("<chat_history> USER: a </chat_history>", "USER: a"),
        ("<chat_history>USER: a\nSYSTEM: b</chat_history>", "a\nb"),
        ("one <chat_history>a</chat_history> two <chat_history>b</chat_history>", "b"),
        ("<chat_history>a", "<chat_history>a"),
        ("a</chat_history>", "a</chat_history>"),
        ("</chat_history><chat_history>", "</chat_history><chat_history>"),
    ],
)
def test_last_complete_history_is_the_text(prompt, text):
    assert ChatRequest(messages=[{"role": "user", "content": prompt}]).text == text


@pytest.mark.parametrize("tag", ["<chat_history>", "</chat_history>", '{"title"', "USER: "])
def test_prompt_of_many_tags_is_read_in_linear_time(tag):
    """Searching for the end tag after each start tag would take minutes."""
    request = ChatRequest(messages=[{"role": "user", "content": tag * 20_000}])
    assert request.text
    assert request.answer("x") == "x"


def test_models_are_listed_in_both_formats(request_once):
    body = request_once("GET", "/v1/models").json()
    assert body["object"] == "list"
    assert body["data"] == [{"id": "toy", "object": "model", "created": 0, "owned_by": "readagain"}]
    assert body["models"][0]["name"] == "toy"
