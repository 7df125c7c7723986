"""Summaries with their tokens and explanations, as returned by a `Summarizer`."""

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
"""How importance is measured, see `Explanation`."""


@dataclass(frozen=True, kw_only=True, eq=False)
class Explanation:
    """Attention and importance behind a summary.

    Args:
        source_words: the S source tokens that were read.
        importance: (S,) importance of each source token; None for models with one pass.
        importance_kind: "weight" if importance is the mean importance weight of the second pass,
            -1 to 1; "movement" if it is the relative distance between successive states of the
            second pass, 0 to 1 (`state_movement`).
        attention: (T + 1, S) attention weights of each summary token and of EOS.
    """

    source_words: tuple[Token, ...]
    importance: Floats | None
    importance_kind: ImportanceKind | None
    attention: Floats


@dataclass(frozen=True, kw_only=True)
class Summary(str):
    """A summary of a text: a string with attributes.

    Since it is a string, it can be joined, written to JSON, or stored in a column of pandas or
    Arrow.

    Args:
        text: printed summary; empty for a text without a letter or a digit.
        score: value by which the summaries of one text are ranked; larger is better. It is the mean
            log-probability of a word (with a length penalty of 1) plus the model's word reward for
            each word. With MBR reranking it is the expected word overlap with the other hypotheses,
            0 to 1. The model's check penalty is subtracted for each check that the summary fails.
            Scores of different texts are not comparable; confidences are.
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

    def __repr__(self) -> str:
        codes = [warning.code for warning in self.warnings]
        return f"Summary({self.text!r}, confidence={self.confidence}, warnings={codes})"

    def to_dict(self) -> dict[str, Any]:
        """Return the fields as a dictionary that `json.dumps` accepts."""
        content: dict[str, Any] = _to_json_value(self)
        return content

    def _repr_html_(self) -> str:
        """Return the headline, confidence, warnings and alternatives as HTML, for notebooks."""
        notes = [warning.message for warning in self.warnings]
        if self.confidence is not None:
            notes.insert(0, f"confidence {self.confidence:.2f}")
        html = f"<p><strong>{escape(self.text)}</strong>"
        if notes:
            html += f"<br><small>{escape('; '.join(notes))}</small>"
        html += "</p>"
        if self.alternatives:
            items = "".join(f"<li>{escape(other.text)}</li>" for other in self.alternatives)
            html += f'<ol start="2">{items}</ol>'
        return html


def _to_json_value(value: Any) -> Any:
    """Convert a value for `json.dumps`: objects to dictionaries, arrays and tuples to lists."""
    if isinstance(value, np.ndarray):
        return value.tolist()
    if isinstance(value, Token):
        return value._asdict()
    if isinstance(value, tuple):
        return [_to_json_value(item) for item in value]
    if is_dataclass(value):
        return {field.name: _to_json_value(getattr(value, field.name)) for field in fields(value)}
    return value


def add_summary(
    record: TextRecord,
    summary: Summary,
    *,
    field: str,
    has_score: bool = False,
    has_confidence: bool = False,
) -> dict[str, Any] | InvalidRecord:
    """Return the fields of a record and of its summary together.

    Args:
        record: record of an input file.
        summary: summary of its text.
        field: name of the field for the text of the summary.
        has_score: whether to add the score.
        has_confidence: whether to add the confidence and the codes of the warnings.

    Returns:
        All fields, or an `InvalidRecord` if the record already has one of the added fields.

    Raises:
        ArgumentError: if `field` is the name of another added field.
    """
    added: dict[str, Any] = {}
    if has_score:
        added["score"] = summary.score
    if has_confidence:
        added["confidence"] = summary.confidence
        added["warnings"] = [warning.code for warning in summary.warnings]
    if summary.alternatives:
        added["alternatives"] = [
            {"summary": other.text, "score": other.score} for other in summary.alternatives
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
