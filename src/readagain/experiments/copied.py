"""Words that a vocabulary lacks: how many references hold, and how many of them were written."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict, dataclass

from readagain.evaluation.evaluate import Evaluation
from readagain.evaluation.unknown import is_unknown
from readagain.evaluation.words import source_forms, summary_words
from readagain.text.document import Token
from readagain.text.vocab import Vocab


@dataclass(frozen=True, kw_only=True)
class UnknownWords:
    """Counts over all references of a data set.

    Args:
        words: words of references outside the vocabulary.
        in_source: those of them that stand in the text, so that copying could reach them.
        written: those of them that the summary holds.
        summary_words: words of summaries outside the vocabulary.
        wrong: those of them that no reference of the text holds.
    """

    words: int
    in_source: int
    written: int
    summary_words: int
    wrong: int

    def as_dict(self) -> dict[str, int]:
        """Return plain values."""
        return asdict(self)


def count_unknown(found: Evaluation, vocab: Vocab) -> UnknownWords:
    """Count the words that `vocab` lacks in the references and the summaries of an evaluation."""
    totals = Counter[str]()
    data = found.data
    for row, summary in zip(data.rows, found.summaries, strict=True):
        source = set(source_forms(row.text, is_tokenized=data.is_tokenized))
        written = Counter(_lacking(summary.text, summary.words, vocab))
        known: set[str] = set()
        for reference in row.references:
            words = summary_words(reference, is_tokenized=data.are_references_tokenized)
            lacking = Counter(_lacking(reference, words, vocab))
            known.update(lacking)
            totals["words"] += lacking.total()
            totals["in_source"] += sum(n for word, n in lacking.items() if word in source)
            totals["written"] += (lacking & written).total()
        totals["summary_words"] += written.total()
        totals["wrong"] += sum(n for word, n in written.items() if word not in known)
    return UnknownWords(
        words=totals["words"],
        in_source=totals["in_source"],
        written=totals["written"],
        summary_words=totals["summary_words"],
        wrong=totals["wrong"],
    )


def _lacking(text: str, words: Sequence[Token], vocab: Vocab) -> list[str]:
    """Keep the words outside the vocabulary; signs are no words, and UNK is none that is known."""
    return [
        word.form
        for word in words
        if word.form not in vocab
        and any(map(str.isalnum, word.form))
        and not is_unknown(text[word.start : word.end])
    ]
