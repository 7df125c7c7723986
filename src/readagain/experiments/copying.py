"""Counts of out-of-vocabulary words in summaries (Table 5 of the paper)."""

from collections import Counter
from collections.abc import Sequence

from readagain.evaluation.evaluate import Evaluation
from readagain.evaluation.summaries import is_unk, source_norms, summary_words
from readagain.text.document import Token
from readagain.text.vocab import Vocab


def count_oov(result: Evaluation, vocab: Vocab) -> dict[str, int]:
    """Count the out-of-vocabulary words in the references and summaries of an evaluation.

    Returns:
        Five counts. `words`: out-of-vocabulary words in the references; `in_source`: those of
        `words` that are also in the source text; `written`: those of `words` that are also in the
        summary. `summary_words`: out-of-vocabulary words in the summaries; `wrong`: those of
        `summary_words` that are in no reference.
    """
    totals = Counter[str](words=0, in_source=0, written=0, summary_words=0, wrong=0)
    data = result.data
    for row, summary in zip(data.rows, result.summaries, strict=True):
        source = set(source_norms(row.text, is_tokenized=data.is_tokenized))
        summary_oov = Counter(_oov_words(summary.text, summary.words, vocab))
        all_reference_oov: set[str] = set()
        for reference in row.references:
            words = summary_words(reference, is_tokenized=data.are_references_tokenized)
            reference_oov = Counter(_oov_words(reference, words, vocab))
            all_reference_oov.update(reference_oov)
            totals["words"] += reference_oov.total()
            totals["in_source"] += sum(
                count for word, count in reference_oov.items() if word in source
            )
            totals["written"] += (reference_oov & summary_oov).total()
        totals["summary_words"] += summary_oov.total()
        totals["wrong"] += sum(
            count for word, count in summary_oov.items() if word not in all_reference_oov
        )
    return dict(totals)


def _oov_words(text: str, words: Sequence[Token], vocab: Vocab) -> list[str]:
    """Return the words of a text that are outside the vocabulary, except punctuation and UNK."""
    return [
        word.norm
        for word in words
        if word.norm not in vocab
        and any(map(str.isalnum, word.norm))
        and not is_unk(text[word.start : word.end])
    ]
