"""View of an explanation for display: the origin, attention and importance of each word."""

from dataclasses import dataclass

import numpy as np

from readagain.engine.summary import Explanation, ImportanceKind, Summary
from readagain.engine.warnings import SummaryWarning
from readagain.errors import DataError
from readagain.text.detokenization import Origin

ORIGIN_NAMES: dict[Origin, str] = {
    "copied": "copied",
    "generated": "generated",
    "digits": "digits restored",
    "given": "given",
}
"""Display name of each origin of a summary token."""
IMPORTANCE_NAMES: dict[ImportanceKind, str] = {
    "weight": "mean weight α of the second pass",
    "movement": "how much the second pass changes at the word",
}
"""Display name of each kind of importance."""

_MIN_ATTENTION = 1e-9  # avoids a division by 0 if the headline attends to nothing


@dataclass(frozen=True, kw_only=True)
class SourceToken:
    """Source token that the model read.

    Args:
        surface: spelling in the text.
        start, end: span in the text.
        importance: importance; None for models with one pass.
        shade: total attention of the summary to the token, divided by the largest total of a
            token.
    """

    surface: str
    start: int
    end: int
    importance: float | None
    shade: float


@dataclass(frozen=True, kw_only=True)
class ExplainedToken:
    """Token of the summary with its attention.

    Args:
        surface: printed spelling; empty if the token is not printed.
        start, end: span in the summary.
        form: normalized token.
        origin: whether the token was copied, generated or given, or got digits of the text.
        source: index in `ExplanationView.source` of the source token that was copied or whose
            digits were used; None if there is none.
        probability: probability that the model assigns to the token.
        attention: attention weight of each source token; the weights sum to 1.
    """

    surface: str
    start: int
    end: int
    form: str
    origin: Origin
    source: int | None
    probability: float
    attention: tuple[float, ...]

    def most_attended(self, count: int) -> list[int]:
        """Return the indices of the most attended source tokens, the most attended first."""
        order = np.argsort(-np.array(self.attention), kind="stable")[:count]
        return [int(index) for index in order]


@dataclass(frozen=True, kw_only=True)
class ExplanationView:
    """Explanation of one summary, ready for display.

    Args:
        text: whole source text.
        summary: printed summary.
        model: name of the model.
        truncated: whether the model did not read the end of the text.
        read_share: fraction of the text's characters that the model read, from 0 to 1.
        confidence: estimated probability that the summary has no fault; None if unknown.
        warnings: possible problems of the summary.
        importance_kind: kind of `SourceToken.importance`; None for models with one pass.
        source: source tokens that the model read.
        words: tokens of the summary.
    """

    text: str
    summary: str
    model: str
    truncated: bool
    read_share: float
    confidence: float | None
    warnings: tuple[SummaryWarning, ...]
    importance_kind: ImportanceKind | None
    source: tuple[SourceToken, ...]
    words: tuple[ExplainedToken, ...]

    def most_attended(self, count: int) -> list[SourceToken]:
        """Return the most attended source tokens, the most attended first, without punctuation."""
        words = [token for token in self.source if any(map(str.isalnum, token.surface))]
        return sorted(words, key=lambda word: -word.shade)[:count]


def explanation_view(
    text: str, summary: Summary, *, model: str, where: str = "the text"
) -> ExplanationView:
    """Return the view of a summary.

    Args:
        text: source text.
        summary: result of `Summarizer.summarize(text, explain=True)`.
        model: name of the model.
        where: name of the text in error messages.

    Raises:
        DataError: if the summary is empty, and so has no explanation.
    """
    explanation = summary.explanation
    if explanation is None:
        raise DataError(f"{where}: no words to explain; expected a text with a letter or a digit")
    return ExplanationView(
        text=text,
        summary=summary.text,
        model=model,
        truncated=summary.truncated,
        read_share=summary.read_share,
        confidence=summary.confidence,
        warnings=summary.warnings,
        importance_kind=explanation.importance_kind,
        source=_source_tokens(text, explanation),
        words=_summary_tokens(summary, explanation),
    )


def _source_tokens(text: str, explanation: Explanation) -> tuple[SourceToken, ...]:
    importance = explanation.importance
    attention = explanation.attention[:-1].sum(axis=0)  # (S,) without the last row, that of EOS
    shades = attention / max(attention.max(), _MIN_ATTENTION)
    return tuple(
        SourceToken(
            surface=text[word.start : word.end],
            start=word.start,
            end=word.end,
            importance=None if importance is None else round(float(importance[index]), 6),
            shade=round(float(shades[index]), 4),
        )
        for index, word in enumerate(explanation.source_words)
    )


def _summary_tokens(summary: Summary, explanation: Explanation) -> tuple[ExplainedToken, ...]:
    index_of = {word.start: index for index, word in enumerate(explanation.source_words)}
    return tuple(
        ExplainedToken(
            surface=token.surface,
            start=token.start,
            end=token.end,
            form=token.norm,
            origin=token.origin,
            source=None if token.source is None else index_of.get(token.source.start),
            probability=round(float(np.exp(token.log_prob)), 6),
            attention=tuple(round(float(weight), 6) for weight in attention),
        )
        # The attention has one more row, that of EOS.
        for token, attention in zip(summary.words, explanation.attention[:-1], strict=True)
    )
