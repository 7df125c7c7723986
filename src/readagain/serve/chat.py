"""Chat completions in the format of OpenAI, for tools that request titles from a language model.

The text is the last message of the user. Open WebUI sends instructions around the conversation,
which are removed, and expects JSON.
"""

import json
import re
import time
import uuid
from collections.abc import Iterator
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field

from readagain.serve.errors import ApiError
from readagain.serve.schemas import SummaryResult

_HISTORY = re.compile(r"<chat_history>(.*?)</chat_history>", re.DOTALL)
_SPEAKER = re.compile(r"^(?:USER|ASSISTANT|SYSTEM): ", re.MULTILINE)
_WANTS_JSON = re.compile(r'\{\s*"title"\s*:')


class _LenientModel(BaseModel):
    """Base class of requests; clients send many fields that have no meaning for headlines."""

    model_config = ConfigDict(extra="ignore", frozen=True)


class ContentPart(_LenientModel):
    """Part of a message; parts that are not text are ignored."""

    type: str
    text: str = ""


class ChatMessage(_LenientModel):
    """Message of a conversation."""

    role: str
    content: str | list[ContentPart] | None = None

    @property
    def text(self) -> str:
        """Return the text of the message."""
        if isinstance(self.content, list):
            return "\n".join(part.text for part in self.content if part.type == "text")
        return self.content or ""


class StreamOptions(_LenientModel):
    """Options of a streamed completion."""

    include_usage: bool = False


class ChatRequest(_LenientModel):
    """Conversation whose last user message gets a headline; other fields are ignored."""

    messages: Annotated[
        list[ChatMessage],
        Field(min_length=1, description="Messages; the last one of the user is the text."),
    ]
    model: Annotated[
        str | None, Field(description="Name of a loaded model; null for the default.")
    ] = None
    stream: Annotated[bool, Field(description="Send the headline as server-sent events.")] = False
    stream_options: StreamOptions | None = None

    @property
    def prompt(self) -> str:
        """Return the last message of the user.

        Raises:
            ApiError: if there is none, or one that is not Unicode text.
        """
        for message in reversed(self.messages):
            if message.role == "user" and message.text.strip():
                if any("\ud800" <= character <= "\udfff" for character in message.text):
                    raise ApiError(
                        "invalid", "messages: a lone surrogate in the text; expected Unicode text"
                    )
                return message.text
        raise ApiError("invalid", "messages: no text of the role 'user'; add one")

    @property
    def text(self) -> str:
        """Return the text to summarize."""
        found = _HISTORY.findall(self.prompt)
        return _SPEAKER.sub("", found[-1]).strip() if found else self.prompt

    def answer(self, headline: str) -> str:
        """Return the content of the answer: the headline, or JSON if the prompt expects it."""
        if _WANTS_JSON.search(self.prompt):
            return json.dumps({"title": headline}, ensure_ascii=False)
        return headline


class AnswerMessage(BaseModel):
    """Message with the headline."""

    role: Literal["assistant"] = "assistant"
    content: str


class Choice(BaseModel):
    """The only choice of a completion."""

    index: int = 0
    message: AnswerMessage
    finish_reason: Literal["stop"] = "stop"


class Usage(BaseModel):
    """Numbers of words, in the fields for tokens."""

    prompt_tokens: int
    completion_tokens: int
    total_tokens: int


class ChatResponse(BaseModel):
    """Completion with the headline."""

    id: str
    object: Literal["chat.completion"] = "chat.completion"
    created: int
    model: str
    choices: list[Choice]
    usage: Usage


def chat_response(request: ChatRequest, model: str, result: SummaryResult) -> ChatResponse:
    """Return the completion of a request."""
    content = request.answer(result.summary)
    num_read, num_written = len(request.text.split()), len(content.split())
    return ChatResponse(
        id=f"chatcmpl-{uuid.uuid4().hex}",
        created=int(time.time()),
        model=model,
        choices=[Choice(message=AnswerMessage(content=content))],
        usage=Usage(
            prompt_tokens=num_read,
            completion_tokens=num_written,
            total_tokens=num_read + num_written,
        ),
    )


def chat_events(response: ChatResponse, *, has_usage: bool) -> Iterator[str]:
    """Yield the server-sent events of a completion: its content, its end and a final mark."""
    content = response.choices[0].message.content
    delta = {"role": "assistant", "content": content}
    yield _event(response, [{"index": 0, "delta": delta, "finish_reason": None}])
    yield _event(response, [{"index": 0, "delta": {}, "finish_reason": "stop"}])
    if has_usage:
        yield _event(response, [], usage=response.usage.model_dump())
    yield "data: [DONE]\n\n"


def _event(response: ChatResponse, choices: list[dict[str, Any]], **fields: Any) -> str:
    chunk = {
        "id": response.id,
        "object": "chat.completion.chunk",
        "created": response.created,
        "model": response.model,
        "choices": choices,
        **fields,
    }
    return f"data: {json.dumps(chunk)}\n\n"
