"""A summary told word by word: where each comes from, and what it looked at."""

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from readagain.engine.summary import Explanation, ImportanceKind, Summary
from readagain.errors import DataError
from readagain.search.model import Floats

Origin = Literal["copied", "generated", "digits", "given"]

ORIGINS: dict[Origin, str] = {
    "copied": "copied",
    "generated": "generated",
    "digits": "digits restored",
    "given": "given",
}
"""How the origin of a word is called: out of the text, out of the vocabulary, out of the
vocabulary with the digits of a number of the text, or given as the summary's beginning."""
IMPORTANCE: dict[ImportanceKind, str] = {
    "weight": "mean weight α of the second reading",
    "movement": "how far the second reading moves at the word",
}
"""What importance is, in words, for legends."""


@dataclass(frozen=True, kw_only=True)
class SourceToken:
    """A word of the text that the model read.

    Args:
        surface: as it stands in the text.
        start, end: its place in the text, in characters.
        importance: what the second reading made of it; None for models that read once.
        shade: from 0 for the least important word of the text to 1 for the most important.
    """

    surface: str
    start: int
    end: int
    importance: float | None
    shade: float


@dataclass(frozen=True, kw_only=True)
class ExplainedToken:
    """A word of the summary.

    Args:
        surface: as it is printed; empty for a number that the text has no digits for.
        start, end: its place in the summary, in characters.
        form: as the model knows it: lower case, # for digits.
        origin: where it comes from.
        source: index in `ExplanationView.source` of the word or digits it was taken from, or None.
        probability: what the model gave it when it chose it.
        attention: how much it looked at each word of the source; sums to 1.
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
        """List the places of the source it looked at most, the most attended first."""
        order = np.argsort(-np.array(self.attention), kind="stable")[:count]
        return [int(place) for place in order]


@dataclass(frozen=True, kw_only=True)
class ExplanationView:
    """Everything there is to show about one summary.

    Args:
        text: what was summarized, whole.
        summary: the headline as printed.
        model: the name of the model.
        truncated: whether the text goes on after what was read.
        importance_kind: what `SourceToken.importance` is; None for models that read once.
        source: the words that were read.
        words: the words of the summary.
    """

    text: str
    summary: str
    model: str
    truncated: bool
    importance_kind: ImportanceKind | None
    source: tuple[SourceToken, ...]
    words: tuple[ExplainedToken, ...]

    def most_important(self, count: int) -> list[SourceToken]:
        """List the words that the second reading made most of, in order; signs are left out."""
        spoken = [word for word in self.source if any(c.isalnum() for c in word.surface)]
        return sorted(spoken, key=lambda word: -word.shade)[:count]

    def to_dict(self) -> dict[str, Any]:
        """Return plain values for JSON, as `docs/explain.md` describes them."""
        return {
            "text": self.text,
            "summary": self.summary,
            "model": self.model,
            "truncated": self.truncated,
            "importance_kind": self.importance_kind,
            "source": [vars(word) for word in self.source],
            "words": [vars(word) for word in self.words],
        }


def tell(text: str, summary: Summary, *, model: str, where: str = "the text") -> ExplanationView:
    """Gather what there is to show about the summary of a text.

    Args:
        text: what was summarized.
        summary: what `Summarizer.summarize(text, explain=True)` answered.
        model: the name of the model.
        where: what to call the text in messages.

    Raises:
        DataError: for a text that has no summary.
    """
    explanation = summary.explanation
    if explanation is None:
        raise DataError(
            f"{where}: no word in it, so there is no headline to explain; "
            "expected a text with a letter or a digit"
        )
    source = _source_words(text, explanation)
    return ExplanationView(
        text=text,
        summary=summary.text,
        model=model,
        truncated=summary.truncated,
        importance_kind=explanation.importance_kind,
        source=source,
        words=_told_words(summary, explanation),
    )


def _source_words(text: str, explanation: Explanation) -> tuple[SourceToken, ...]:
    importance = explanation.importance
    shades = np.zeros(len(explanation.source_words)) if importance is None else _shades(importance)
    return tuple(
        SourceToken(
            surface=text[word.start : word.end],
            start=word.start,
            end=word.end,
            importance=None if importance is None else round(float(importance[place]), 6),
            shade=round(float(shades[place]), 4),
        )
        for place, word in enumerate(explanation.source_words)
    )


def _shades(importance: Floats) -> Floats:
    """Stretch importance over the whole range of shades: (S,), 0 to 1."""
    lowest, highest = importance.min(), importance.max()
    if highest <= lowest:
        return np.zeros_like(importance)
    shades: Floats = (importance - lowest) / (highest - lowest)
    return shades


def _told_words(summary: Summary, explanation: Explanation) -> tuple[ExplainedToken, ...]:
    places = {word.start: place for place, word in enumerate(explanation.source_words)}
    told = []
    for part, printed, attention in zip(
        summary.words, explanation.printed, explanation.attention, strict=False
    ):
        origin: Origin = part.origin
        start = part.start
        if printed.digits_from is not None:
            origin, start = "digits", printed.digits_from.start
        told.append(
            ExplainedToken(
                surface=printed.surface,
                start=printed.start,
                end=printed.end,
                form=part.form,
                origin=origin,
                source=None if start is None else places.get(start),
                probability=round(float(np.exp(part.log_prob)), 6),
                attention=tuple(round(float(weight), 6) for weight in attention),
            )
        )
    return tuple(told)
