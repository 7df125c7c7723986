"""Counts of out-of-vocabulary words in summaries (Table 5 of the paper)."""

from collections import Counter
from collections.abc import Sequence

from readagain.evaluation.evaluate import Evaluation
from readagain.evaluation.summaries import is_unk, source_norms, summary_words
from readagain.text.document import Token
from readagain.text.vocab import Vocab


def count_oov(result: Evaluation, vocab: Vocab) -> dict[str, int]:
    """Count the out-of-vocabulary words of an evaluation.

    Returns:
        `words`: number in the references, of which `in_source` are in the text and `written` are in
        the summary. `summary_words`: number in the summaries, of which `wrong` are in no reference.
    """
    totals = Counter[str](words=0, in_source=0, written=0, summary_words=0, wrong=0)
    data = result.data
    for row, summary in zip(data.rows, result.summaries, strict=True):
        source = set(source_norms(row.text, is_tokenized=data.is_tokenized))
        written = Counter(_oov_words(summary.text, summary.words, vocab))
        in_references: set[str] = set()
        for reference in row.references:
            words = summary_words(reference, is_tokenized=data.are_references_tokenized)
            oov = Counter(_oov_words(reference, words, vocab))
            in_references.update(oov)
            totals["words"] += oov.total()
            totals["in_source"] += sum(count for word, count in oov.items() if word in source)
            totals["written"] += (oov & written).total()
        totals["summary_words"] += written.total()
        totals["wrong"] += sum(
            count for word, count in written.items() if word not in in_references
        )
    return dict(totals)


def _oov_words(text: str, words: Sequence[Token], vocab: Vocab) -> list[str]:
    """Return the words outside the vocabulary, without punctuation and UNK."""
    return [
        word.norm
        for word in words
        if word.norm not in vocab
        and any(map(str.isalnum, word.norm))
        and not is_unk(text[word.start : word.end])
    ]
