"""Result of a summarizer: a summary, its tokens and an explanation."""

from dataclasses import dataclass, fields, is_dataclass
from html import escape
from typing import Any, Literal

import numpy as np

from readagain.engine.warnings import SummaryWarning
from readagain.errors import ArgumentError
from readagain.formats.records import InvalidRecord
from readagain.formats.texts import TextRecord
from readagain.search.model import Floats
from readagain.text.detokenization import SummaryToken
from readagain.text.document import Token

ImportanceKind = Literal["weight", "movement"]


@dataclass(frozen=True, kw_only=True, eq=False)
class Explanation:
    """Attention and importance behind a summary.

    Args:
        source_words: the S source tokens that were read.
        importance: (S,) importance of each source token; None for models with one pass.
        importance_kind: "weight" for the mean importance weight of the second pass, -1 to 1;
            "movement" for the relative distance between its successive states, 0 to 1
            (`state_movement`).
        attention: (T + 1, S) attention weights of each summary token and of EOS.
    """

    source_words: tuple[Token, ...]
    importance: Floats | None
    importance_kind: ImportanceKind | None
    attention: Floats


@dataclass(frozen=True, kw_only=True)
class Summary(str):
    """A summary of a text: a string with attributes.

    Being a string, it can be joined, written to JSON, or stored in a column of pandas or Arrow.

    Args:
        text: printed summary; empty for a text without a letter or a digit.
        score: value by which the summaries of one text are ranked, larger is better: the mean
            log-probability of a word (with a length penalty of 1) plus the word reward of the
            model for each word, or with MBR reranking the expected word overlap with the other
            hypotheses, 0 to 1. The check penalty of the model is subtracted for each check that the
            summary fails. Scores of different texts are not comparable; `confidence` is.
        words: tokens of the summary.
        read_sentences: number of sentences that the model read, from the start of the text.
        truncated: whether the text continues after the part that was read.
        read_share: share of the text's characters that were read, from 0 to 1.
        confidence: estimated probability that the summary has no fault; None if the model has no
            `confidence.json`, for a text that is too short, and for tokenized text.
        warnings: possible problems of the summary.
        end_log_prob: natural logarithm of the probability of ending after the last word.
        alternatives: the next best summaries, for `n_best`, best first.
        explanation: attention and importance, for `explain`.
    """

    text: str
    score: float
    words: tuple[SummaryToken, ...]
    read_sentences: int
    truncated: bool
    read_share: float = 1.0
    confidence: float | None = None
    warnings: tuple[SummaryWarning, ...] = ()
    end_log_prob: float = 0.0
    alternatives: "tuple[Summary, ...]" = ()
    explanation: Explanation | None = None

    def __new__(cls, text: str, **_: object) -> "Summary":
        """Create the string; `__init__` sets the attributes."""
        return super().__new__(cls, text)

    # Summaries with the same attributes are equal. A summary is also equal to its text.
    __hash__ = str.__hash__

    def __ne__(self, other: object) -> bool:
        return not self == other

    def to_dict(self) -> dict[str, Any]:
        """Return the fields as a dictionary that `json.dumps` accepts."""
        content: dict[str, Any] = _plain(self)
        return content

    def _repr_html_(self) -> str:
        """Return the headline, confidence, warnings and alternatives for notebooks."""
        notes = [each.message for each in self.warnings]
        if self.confidence is not None:
            notes.insert(0, f"confidence {self.confidence:.2f}")
        html = f"<p><strong>{escape(self.text)}</strong>"
        if notes:
            html += f"<br><small>{escape('; '.join(notes))}</small>"
        html += "</p>"
        if self.alternatives:
            items = "".join(f"<li>{escape(each.text)}</li>" for each in self.alternatives)
            html += f'<ol start="2">{items}</ol>'
        return html


def _plain(value: Any) -> Any:
    """Return dictionaries in place of objects, and lists in place of arrays and tuples."""
    if isinstance(value, np.ndarray):
        return value.tolist()
    if isinstance(value, Token):
        return value._asdict()
    if isinstance(value, tuple):
        return [_plain(each) for each in value]
    if is_dataclass(value):
        return {each.name: _plain(getattr(value, each.name)) for each in fields(value)}
    return value


def add_summary(
    record: TextRecord,
    summary: Summary,
    *,
    field: str,
    has_score: bool = False,
    has_confidence: bool = False,
) -> dict[str, Any] | InvalidRecord:
    """Return the fields of a record with its summary; an existing field is not overwritten.

    Raises:
        ArgumentError: if another added field has the name of the summary's field.
    """
    added: dict[str, Any] = {}
    if has_score:
        added["score"] = summary.score
    if has_confidence:
        added["confidence"] = summary.confidence
        added["warnings"] = [each.code for each in summary.warnings]
    if summary.alternatives:
        added["alternatives"] = [
            {"summary": each.text, "score": each.score} for each in summary.alternatives
        ]
    if field in added:
        raise ArgumentError(
            "{field}: the output has a field '{0}' already; choose another name", field
        )
    added = {field: summary.text, **added}
    for name in added:
        if name in record.fields:
            advice = "set another field for the summary" if name == field else "rename it"
            reason = f"has a field '{name}' already; {advice}"
            return InvalidRecord(record.where, reason, record.fields)
    return {**record.fields, **added}
