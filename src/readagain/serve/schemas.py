"""JSON schemas of requests and responses; within /v1, fields may be added but never removed."""

from typing import Annotated, Any, Literal, cast

from pydantic import BaseModel, ConfigDict, FailFast, Field, create_model, model_validator
from pydantic_core import PydanticCustomError

from readagain.config.fields import SpecField
from readagain.config.options import OPTIONS, SummarizeOptions
from readagain.engine.summary import ImportanceKind, Summary
from readagain.engine.warnings import SummaryWarning, percent, warning
from readagain.explain.view import ExplainedToken, SourceToken, explanation_view
from readagain.serve.settings import MAX_BEAM, MAX_WORDS, OPTION_LIMITS, RequestLimits


class _Texts(BaseModel):
    """Texts of a request; types are strict ("3" is no number), and unknown fields invalid."""

    model_config = ConfigDict(strict=True, extra="forbid", frozen=True)

    texts: Annotated[list[str], Field(min_length=1, description="Texts to summarize.")]
    model: Annotated[
        str | None, Field(description="Name of a loaded model; null for the default.")
    ] = None

    @model_validator(mode="before")
    @classmethod
    def _check_field_names(cls, data: object) -> object:
        """Raise an error for the first unknown field; pydantic would report all of them."""
        for name in data if isinstance(data, dict) else ():
            if name not in cls.model_fields:
                valid_name = name[:100].encode(errors="replace").decode()
                raise PydanticCustomError("unknown_field", "unknown field", {"name": valid_name})
        return data


def _field(option: SpecField) -> tuple[Any, Any]:
    """Return the type and the pydantic field of an option."""
    value_type: Any = option.value_type
    bounds: dict[str, Any] = {}
    limit = OPTION_LIMITS.get(option.name)
    if option.choices:
        value_type = Literal[option.choices]
    elif value_type is str:
        value_type = Annotated[str, Field(max_length=None if limit is None else int(limit))]
    elif value_type in (int, float):
        bounds = {"ge": option.range and option.range.minimum, "le": limit}
    if option.default is None:
        value_type = value_type | None
    return value_type, Field(option.default, description=option.help, **bounds)


_FIELDS: dict[str, Any] = {name: _field(option) for name, option in OPTIONS.items()}
_WithOptions: Any = create_model("_WithOptions", __base__=_Texts, **_FIELDS)


class SummarizeRequest(_WithOptions):  # type: ignore[misc]  # a base made at run time
    """Texts and decoding options."""

    def options(self) -> SummarizeOptions:
        """Return the keywords for `Summarizer.summarize`."""
        return cast(SummarizeOptions, {name: getattr(self, name) for name in OPTIONS})


def limited_request(limits: RequestLimits) -> type[SummarizeRequest]:
    """Return the request schema with the limits of a server.

    Validation stops at the first invalid text and at the maximum number of texts, so that it does
    not take long for many small items.
    """
    # The limit is never reached, since no text is longer than the body. But only with a limit does
    # pydantic check for lone surrogates.
    text = Annotated[str, Field(max_length=limits.max_body_bytes)]
    bounds = Field(
        min_length=1,
        max_length=limits.max_texts,
        description="Texts to summarize; a text is read up to the limit of characters.",
    )
    return create_model(
        SummarizeRequest.__name__,
        __base__=SummarizeRequest,
        __doc__=SummarizeRequest.__doc__,
        texts=(Annotated[list[text], bounds, FailFast()], ...),
    )


class _Response(BaseModel):
    """Base class of responses."""

    model_config = ConfigDict(frozen=True, from_attributes=True)


_SCORE = "Value by which the headlines of one text are ranked; larger is better."


class Alternative(_Response):
    """Another headline of an n-best list."""

    summary: str
    score: Annotated[float, Field(description=_SCORE)]


class ExplanationResponse(_Response):
    """Importance, attention and copied words behind a headline."""

    importance_kind: ImportanceKind | None
    source: list[SourceToken]
    words: list[ExplainedToken]


class SummaryResult(_Response):
    """Headline of one text."""

    summary: Annotated[str, Field(description="Empty for a text without a letter or a digit.")]
    score: Annotated[float, Field(description=_SCORE)]
    read_sentences: Annotated[int, Field(description="Sentences that the model read.")]
    truncated: Annotated[
        bool, Field(description="Whether the text continues after the part that was read.")
    ]
    read_share: Annotated[float, Field(description="Share of the characters that were read.")]
    confidence: Annotated[
        float | None,
        Field(description="Estimated probability that the headline has no fault; null if unknown."),
    ]
    warnings: Annotated[
        list[SummaryWarning], Field(description="Possible problems of the headline.")
    ]
    alternatives: Annotated[
        list[Alternative], Field(description="The next best headlines, best first.")
    ]
    explanation: ExplanationResponse | None

    @classmethod
    def of(cls, text: str, summary: Summary) -> "SummaryResult":
        """Convert a summary of `text`."""
        explanation = None
        if summary.explanation is not None:
            explanation = ExplanationResponse.model_validate(
                explanation_view(text, summary, model="")
            )
        return cls(
            summary=summary.text,
            score=summary.score,
            read_sentences=summary.read_sentences,
            truncated=summary.truncated,
            read_share=summary.read_share,
            confidence=summary.confidence,
            warnings=list(summary.warnings),
            alternatives=[
                Alternative(summary=other.text, score=other.score) for other in summary.alternatives
            ],
            explanation=explanation,
        )

    def with_cut(self, share: float) -> "SummaryResult":
        """Return the result for a cut text, of which only the first `share` was summarized."""
        read_share = self.read_share * share
        cut_warning = warning("truncated", percent(read_share))
        others = [each for each in self.warnings if each.code != cut_warning.code]
        return self.model_copy(
            update={
                "truncated": True,
                "read_share": read_share,
                "warnings": [cut_warning, *others],
            }
        )


class SummarizeResponse(_Response):
    """One result per text, in order."""

    model: Annotated[str, Field(description="Name of the model.")]
    results: list[SummaryResult]


class ModelInfo(_Response):
    """Loaded model and its default decoding options."""

    name: str
    title: str
    language: Annotated[str, Field(description="ISO 639 code; 'und' if unknown.")]
    language_name: str
    is_default: bool
    beam: int
    min_words: int
    max_words: int
    max_bytes: int | None


class LimitsInfo(_Response):
    """Limits of one request."""

    max_texts: int
    max_chars: Annotated[
        int, Field(description="Characters of a text that are read; the rest is cut off.")
    ]
    max_body_bytes: int
    max_beam: int = MAX_BEAM
    max_words: int = MAX_WORDS


class ModelEntry(_Response):
    """Loaded model in the format of OpenAI."""

    id: str
    object: Literal["model"] = "model"
    created: int = 0
    owned_by: Literal["readagain"] = "readagain"


class ModelsResponse(_Response):
    """Loaded models and the limits of the server."""

    object: Literal["list"] = "list"
    data: Annotated[list[ModelEntry], Field(description="The models, for clients of OpenAI.")]
    models: list[ModelInfo]
    limits: LimitsInfo
    version: Annotated[str, Field(description="Version of readagain.")]


class HealthResponse(_Response):
    """Response of a process that is alive."""

    status: Literal["ok"] = "ok"
    version: str


class ReadyResponse(_Response):
    """Response of a server that accepts requests."""

    status: Literal["ready"] = "ready"


class ErrorDetail(_Response):
    """Code for programs and message for people."""

    code: str
    message: str
    request_id: str


class ErrorResponse(_Response):
    """Body of every response that reports an error."""

    error: ErrorDetail
