"""Chat completions in the format of OpenAI, for tools that request titles from a language model.

The text to summarize is the last message of the user. If it is a prompt of Open WebUI, only the
conversation in it is summarized, and the answer is JSON, as the prompt requests.
"""

import json
import re
import time
import uuid
from collections.abc import Iterator
from typing import Annotated, Any

from pydantic import BaseModel, Field

from readagain.serve.errors import ApiError
from readagain.text.normalization import LONE_SURROGATE

HISTORY_TAGS = ("<chat_history>", "</chat_history>")
"""Tags around the conversation in a prompt of Open WebUI."""
MAX_ITEMS = 1000
"""Maximum number of messages, and of parts of a message."""

_SPEAKER = re.compile(r"^(?:USER|ASSISTANT|SYSTEM): ", re.MULTILINE)
_WANTS_JSON = re.compile(r'\{\s*"title"\s*:')


class ContentPart(BaseModel):
    """Part of a message; parts that are not text are ignored."""

    type: str
    text: str = ""


_Parts = Annotated[list[ContentPart], Field(max_length=MAX_ITEMS, fail_fast=True)]


class ChatMessage(BaseModel):
    """Message of a conversation."""

    role: str
    content: str | _Parts | None = None

    @property
    def text(self) -> str:
        """Return the text of the message."""
        if isinstance(self.content, list):
            return "\n".join(part.text for part in self.content if part.type == "text")
        return self.content or ""


class StreamOptions(BaseModel):
    """Options of a streamed completion."""

    include_usage: bool = False


class ChatRequest(BaseModel):
    """Conversation whose last user message gets a headline; unknown fields are ignored."""

    messages: Annotated[
        list[ChatMessage],
        Field(
            min_length=1,
            max_length=MAX_ITEMS,
            fail_fast=True,  # many invalid messages would block the event loop
            description="Messages; the last one of the user is the text.",
        ),
    ]
    model: Annotated[
        str | None, Field(description="Name of a loaded model; null for the default.")
    ] = None
    stream: Annotated[bool, Field(description="Send the headline as server-sent events.")] = False
    stream_options: StreamOptions | None = None

    @property
    def prompt(self) -> str:
        """Return the last message of the user; raise an `ApiError` if there is no valid one."""
        for message in reversed(self.messages):
            if message.role == "user" and message.text.strip():
                if LONE_SURROGATE.search(message.text):
                    raise ApiError(
                        "invalid", "messages: a lone surrogate in the text; expected Unicode text"
                    )
                return message.text
        raise ApiError("invalid", "messages: no text of the role 'user'; add one")

    @property
    def text(self) -> str:
        """Return the text to summarize."""
        prompt, (start_tag, end_tag) = self.prompt, HISTORY_TAGS
        # Not a regular expression, which would scan the rest of the prompt for each start tag.
        before_end, end, _ = prompt.rpartition(end_tag)
        _, start, history = before_end.rpartition(start_tag)
        return _SPEAKER.sub("", history).strip() if start and end else prompt

    def answer(self, headline: str) -> str:
        """Return the content of the answer: the headline, or JSON if the prompt requests it."""
        if _WANTS_JSON.search(self.prompt):
            return json.dumps({"title": headline}, ensure_ascii=False)
        return headline


def chat_response(request: ChatRequest, model: str, headline: str) -> dict[str, Any]:
    """Return the completion of a request; words are counted in place of tokens."""
    content = request.answer(headline)
    num_prompt_words, num_answer_words = len(request.text.split()), len(content.split())
    message = {"role": "assistant", "content": content}
    return {
        "id": f"chatcmpl-{uuid.uuid4().hex}",
        "object": "chat.completion",
        "created": int(time.time()),
        "model": model,
        "choices": [{"index": 0, "message": message, "finish_reason": "stop"}],
        "usage": {
            "prompt_tokens": num_prompt_words,
            "completion_tokens": num_answer_words,
            "total_tokens": num_prompt_words + num_answer_words,
        },
    }


def chat_events(request: ChatRequest, response: dict[str, Any]) -> Iterator[str]:
    """Yield a completion as server-sent events: its content, its end and the mark `[DONE]`."""
    delta = response["choices"][0]["message"]
    chunks: list[dict[str, Any]] = [
        {"choices": [{"index": 0, "delta": delta, "finish_reason": None}]},
        {"choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}]},
    ]
    if request.stream_options is not None and request.stream_options.include_usage:
        chunks.append({"choices": [], "usage": response["usage"]})
    common = {name: response[name] for name in ("id", "created", "model")}
    for chunk in chunks:
        yield f"data: {json.dumps({'object': 'chat.completion.chunk'} | common | chunk)}\n\n"
    yield "data: [DONE]\n\n"
