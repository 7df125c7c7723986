"""What a summarizer answers: a headline, and where its words come from."""

from dataclasses import dataclass
from typing import Any, Literal

from readagain.formats.records import InvalidRecord
from readagain.formats.texts import TextRecord
from readagain.search.model import Floats
from readagain.text.document import Token

ImportanceKind = Literal["weight", "movement"]
Origin = Literal["copied", "generated", "given"]


@dataclass(frozen=True, kw_only=True)
class SummaryPart:
    """One word of a summary as the model chose it.

    Args:
        form: the word as models see it: lower case, # for digits.
        origin: whether it was copied from the text, generated from the vocabulary, or given by
            the caller, who asked for a summary that begins so.
        start, end: for a copied word its place in the text, in characters; else None.
        log_prob: natural logarithm of its probability; 0 for a given word, which no model chose.
    """

    form: str
    origin: Origin
    start: int | None
    end: int | None
    log_prob: float


@dataclass(frozen=True, kw_only=True)
class PrintedWord:
    """One word of a summary as it is printed.

    Args:
        surface: how it is spelled; empty for a number that the text has no digits for.
        start, end: its place in the summary's text, in characters.
        digits_from: for a generated number, the word of the text that its digits come from.
    """

    surface: str
    start: int
    end: int
    digits_from: Token | None


@dataclass(frozen=True, kw_only=True, eq=False)
class Explanation:
    """What the model looked at.

    Args:
        source_words: the S words that were read, with their places in the text.
        importance: (S,) what the second reading made of each word; None for models that read once.
        importance_kind: "weight" for the mean weight that the second reading gives to a word, -1 to
            1; "movement" for how far its state moves there, 0 to 1 (`engine/movement.py`).
        attention: (T + 1, S) how much each word of the summary, and its end, looked at each word.
        printed: the T words as they stand in the summary's text.
    """

    source_words: tuple[Token, ...]
    importance: Floats | None
    importance_kind: ImportanceKind | None
    attention: Floats
    printed: tuple[PrintedWord, ...]


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


def add_summary(
    record: TextRecord, summary: Summary, *, field: str, has_score: bool = False
) -> dict[str, Any] | InvalidRecord:
    """Return the fields of a record with its summary; a name that it has already is an error."""
    added: dict[str, Any] = {field: summary.text}
    if has_score:
        added["score"] = summary.score
    if summary.alternatives:
        added["alternatives"] = [
            {"summary": each.text, "score": each.score} for each in summary.alternatives
        ]
    for name in added:
        if name in record.fields:
            return InvalidRecord(
                record.where, f"has a field '{name}' already; set another field for the summary"
            )
    return {**record.fields, **added}
