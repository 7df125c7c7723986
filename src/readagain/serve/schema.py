"""Requests and replies as JSON. Within /v1 fields are added, never renamed or removed."""

from typing import Annotated, Literal

from pydantic import AfterValidator, BaseModel, ConfigDict, Field

from readagain.engine.summarizer import SummarizeOptions
from readagain.engine.summary import ImportanceKind, Summary
from readagain.explain.story import Origin, tell
from readagain.serve.settings import MAX_BEAM, MAX_BEGIN, MAX_BYTES, MAX_DIVERSITY, MAX_WORDS
from readagain.text.casing import Case

HALF_A_PAIR = "holds half a surrogate pair, which is no character"


def _is_unicode(text: str) -> str:
    """Refuse half a surrogate pair: JSON can spell it, but no reply in UTF-8 can hold it."""
    try:
        text.encode()
    except UnicodeEncodeError as error:
        raise ValueError(HALF_A_PAIR) from error
    return text


Text = Annotated[str, AfterValidator(_is_unicode)]
Beginning = Annotated[str, Field(max_length=MAX_BEGIN), AfterValidator(_is_unicode)]


class _Strict(BaseModel):
    """JSON in which nothing is guessed: "3" is no number, and a misspelt field is no field."""

    model_config = ConfigDict(strict=True, extra="forbid", frozen=True)


class SummarizeRequest(_Strict):
    """Texts, and what their headlines should be like."""

    texts: Annotated[list[Text], Field(min_length=1, description="What to summarize.")]
    model: Annotated[str | None, Field(description="A loaded model; the default if null.")] = None
    max_words: Annotated[
        int | None, Field(ge=1, le=MAX_WORDS, description="The most words, punctuation included.")
    ] = None
    min_words: Annotated[int | None, Field(ge=0, le=MAX_WORDS, description="The fewest words.")] = (
        None
    )
    min_bytes: Annotated[
        int | None,
        Field(ge=0, le=MAX_BYTES, description="The fewest bytes of its words, without spaces."),
    ] = None
    max_bytes: Annotated[
        int | None,
        Field(ge=1, le=MAX_BYTES, description="The most bytes of UTF-8; it ends at a word."),
    ] = None
    beam: Annotated[
        int | None, Field(ge=1, le=MAX_BEAM, description="Beginnings followed side by side.")
    ] = None
    n_best: Annotated[
        int, Field(ge=1, le=MAX_BEAM, description="Headlines of each text, at most beam.")
    ] = 1
    diversity: Annotated[
        float | None,
        Field(ge=0, le=MAX_DIVERSITY, description="How much several headlines should differ."),
    ] = None
    explain: Annotated[bool, Field(description="Also say what the model looked at.")] = False
    case: Annotated[
        Case, Field(description="Capitals as in a sentence, in a headline, or in the text.")
    ] = "sentence"
    tokenized: Annotated[
        bool, Field(description="Texts are in Gigaword form, and headlines stay in it.")
    ] = False
    begin: Annotated[
        Beginning | None, Field(description="Words that every headline begins with.")
    ] = None

    def options(self) -> SummarizeOptions:
        """Return what `Summarizer.summarize` is asked for."""
        return SummarizeOptions(
            max_words=self.max_words,
            min_words=self.min_words,
            min_bytes=self.min_bytes,
            max_bytes=self.max_bytes,
            beam=self.beam,
            n_best=self.n_best,
            diversity=self.diversity,
            explain=self.explain,
            case=self.case,
            tokenized=self.tokenized,
            begin=self.begin,
        )


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
