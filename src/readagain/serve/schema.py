"""Requests and replies as JSON. Within /v1 fields are added, never renamed or removed."""

from typing import Annotated, Any, Literal, cast

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, create_model

from readagain.config.options import OPTIONS, SummarizeOptions
from readagain.config.settings import Setting
from readagain.engine.summary import ImportanceKind, Summary
from readagain.explain.story import Origin, tell
from readagain.serve.settings import OPTION_LIMITS

HALF_A_PAIR = "holds half a surrogate pair, which is no character"


def _is_unicode(text: str) -> str:
    """Refuse half a surrogate pair: JSON can spell it, but no reply in UTF-8 can hold it."""
    try:
        text.encode()
    except UnicodeEncodeError as error:
        raise ValueError(HALF_A_PAIR) from error
    return text


Text = Annotated[str, AfterValidator(_is_unicode)]


class _Strict(BaseModel):
    """JSON in which nothing is guessed: "3" is no number, and a misspelt field is no field."""

    model_config = ConfigDict(strict=True, extra="forbid", frozen=True)


class _Texts(_Strict):
    texts: Annotated[list[Text], Field(min_length=1, description="What to summarize.")]
    model: Annotated[str | None, Field(description="A loaded model; the default if null.")] = None


def _field(option: Setting) -> tuple[Any, Any]:
    """Return the type and the pydantic field of an option."""
    value_type: Any = option.value_type
    bounds: dict[str, Any] = {}
    limit = OPTION_LIMITS.get(option.name)
    if option.choices:
        value_type = Literal[option.choices]
    elif value_type is str:
        length = Field(max_length=None if limit is None else int(limit))
        value_type = Annotated[str, length, AfterValidator(_is_unicode)]
    elif value_type in (int, float):
        bounds = {"ge": option.minimum, "le": limit}
    if option.default is None:
        value_type = value_type | None
    return value_type, Field(option.default, description=option.help, **bounds)


_FIELDS: dict[str, Any] = {name: _field(option) for name, option in OPTIONS.items()}
_WithOptions: Any = create_model("_WithOptions", __base__=_Texts, **_FIELDS)


class SummarizeRequest(_WithOptions):  # type: ignore[misc]  # a base made at run time
    """Texts, and what their headlines should be like."""

    def options(self) -> SummarizeOptions:
        """Return the keywords for `Summarizer.summarize`."""
        return cast(SummarizeOptions, {name: getattr(self, name) for name in OPTIONS})


class _Reply(BaseModel):
    """JSON that we write ourselves."""

    model_config = ConfigDict(frozen=True, from_attributes=True)


class Alternative(_Reply):
    """A next best headline."""

    summary: str
    score: float


class SourceTokenResponse(_Reply):
    """A word of the text that the model read; places are counted in characters."""

    surface: str
    start: int
    end: int
    importance: Annotated[
        float | None, Field(description="What the second reading made of it; null if read once.")
    ]
    shade: Annotated[float, Field(description="Importance stretched over 0 to 1.")]


class SummaryTokenResponse(_Reply):
    """A word of the headline."""

    surface: Annotated[str, Field(description="As printed; empty for a number without digits.")]
    start: int
    end: int
    form: Annotated[str, Field(description="As the model knows it: lower case, # for digits.")]
    origin: Origin
    source: Annotated[
        int | None, Field(description="Which source word it, or its digits, were taken from.")
    ]
    probability: float
    attention: Annotated[list[float], Field(description="A share for each source word.")]


class ExplanationResponse(_Reply):
    """What the model looked at for a headline."""

    importance_kind: ImportanceKind | None
    source: list[SourceTokenResponse]
    words: list[SummaryTokenResponse]


class SummaryResult(_Reply):
    """The headline of one text."""

    summary: Annotated[str, Field(description="Empty for a text without a letter or a digit.")]
    score: float
    read_sentences: Annotated[int, Field(description="Sentences that the model read.")]
    truncated: Annotated[bool, Field(description="Whether the text goes on after those.")]
    alternatives: Annotated[list[Alternative], Field(description="The next best headlines.")]
    explanation: ExplanationResponse | None

    @classmethod
    def of(cls, text: str, summary: Summary) -> "SummaryResult":
        """Write what a summarizer answered for a text."""
        explanation = None
        if summary.explanation is not None:
            explanation = ExplanationResponse.model_validate(tell(text, summary, model=""))
        return cls(
            summary=summary.text,
            score=summary.score,
            read_sentences=summary.read_sentences,
            truncated=summary.truncated,
            alternatives=[
                Alternative(summary=other.text, score=other.score) for other in summary.alternatives
            ],
            explanation=explanation,
        )


class SummarizeResponse(_Reply):
    """One result for each text, in order."""

    model: Annotated[str, Field(description="The model that wrote them.")]
    results: list[SummaryResult]


class ModelFacts(_Reply):
    """A loaded model, and what it does unless asked otherwise."""

    name: str
    title: str
    is_default: bool
    beam: int
    min_words: int
    max_words: int
    max_bytes: int | None


class LimitFacts(_Reply):
    """What one request may ask for at most."""

    max_texts: int
    max_chars: Annotated[int, Field(description="Characters of one text.")]
    max_body_bytes: int
    max_beam: int
    max_words: int


class ModelsReply(_Reply):
    """What is loaded here."""

    models: list[ModelFacts]
    limits: LimitFacts
    version: Annotated[str, Field(description="Of readagain.")]


class HealthReply(_Reply):
    """The process answers."""

    status: Literal["ok"] = "ok"
    version: str


class ReadyReply(_Reply):
    """Requests are taken."""

    status: Literal["ready"] = "ready"


class Problem(_Reply):
    """What went wrong, for programs and for people."""

    code: str
    message: str
    request_id: str


class ErrorReply(_Reply):
    """Every reply that is no success."""

    error: Problem
