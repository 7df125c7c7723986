"""What a summarizer answers: a headline, and where its words come from."""

from dataclasses import dataclass
from typing import Any, Literal

from readagain.search.model import Floats
from readagain.text.document import Word


@dataclass(frozen=True, kw_only=True)
class SummaryPart:
    """One word of a summary as the model chose it.

    Args:
        form: the word as models see it: lower case, # for digits.
        origin: whether it was copied from the text or generated from the vocabulary.
        start, end: for a copied word its place in the text, in characters; else None.
        log_prob: natural logarithm of its probability.
    """

    form: str
    origin: Literal["copied", "generated"]
    start: int | None
    end: int | None
    log_prob: float


@dataclass(frozen=True, kw_only=True, eq=False)
class Explanation:
    """What the model looked at.

    Args:
        source_words: the S words that were read, with their places in the text.
        importance: (S,) what the second reading made of each word, -1 to 1; None for models whose
            second reading has no such weights.
        attention: (T + 1, S) how much each word of the summary, and its end, looked at each word.
    """

    source_words: tuple[Word, ...]
    importance: Floats | None
    attention: Floats


@dataclass(frozen=True, kw_only=True)
class Summary:
    """A headline.

    Args:
        text: what to print; empty for a text without a letter or a digit.
        score: what the beam ranked it by; a log-probability unless the model's search normalises.
        words: its words with their origin.
        read_sentences: sentences of the text that the model read, from its beginning.
        truncated: whether the text goes on after what was read.
        alternatives: the next best summaries, where several were asked for.
        explanation: where one was asked for.
    """

    text: str
    score: float
    words: tuple[SummaryPart, ...]
    read_sentences: int
    truncated: bool
    alternatives: "tuple[Summary, ...]" = ()
    explanation: Explanation | None = None

    def __str__(self) -> str:
        return self.text

    def to_dict(self) -> dict[str, Any]:
        """Return plain values for JSON; alternatives and explanation only where there are any."""
        plain: dict[str, Any] = {
            "summary": self.text,
            "score": self.score,
            "words": [vars(word) for word in self.words],
            "read_sentences": self.read_sentences,
            "truncated": self.truncated,
        }
        if self.alternatives:
            plain["alternatives"] = [
                {"summary": other.text, "score": other.score} for other in self.alternatives
            ]
        if self.explanation is not None:
            plain["explanation"] = _explanation_to_dict(self.explanation)
        return plain


def _explanation_to_dict(explanation: Explanation) -> dict[str, Any]:
    importance = explanation.importance
    return {
        "source_words": [word._asdict() for word in explanation.source_words],
        "importance": None if importance is None else [round(float(w), 6) for w in importance],
        "attention": [[round(float(w), 6) for w in row] for row in explanation.attention],
    }
