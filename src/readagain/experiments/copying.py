"""Out-of-vocabulary words in summaries: counts and examples (Table 5 of the paper)."""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from readagain.evaluation.evaluate import Evaluation
from readagain.evaluation.report import write_text
from readagain.evaluation.summaries import is_unk, source_norms, summary_words
from readagain.experiments.corpora import EvaluationSet
from readagain.experiments.results import read_summaries, summaries_file
from readagain.text.document import Token
from readagain.text.vocab import Vocab

EXAMPLES_FILE = "examples.md"
WITH, WITHOUT = "read_again_lstm_copy_15k", "read_again_lstm_15k"
"""The experiments with and without copying that are compared."""
_NUM_EXAMPLES = 5
_RULE = (
    "The first texts of the dev set whose reference has a word that is not in the common "
    "vocabulary but in the text, where the model with copying generated that word and the model "
    "without copying did not."
)


@dataclass(frozen=True)
class CopyExample:
    """Text where copying added an out-of-vocabulary word of the reference to the summary."""

    text: str
    reference: str
    without_copying: str
    with_copying: str
    word: str


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


def find_examples(
    test: EvaluationSet, with_copying: Sequence[str], without_copying: Sequence[str], vocab: Vocab
) -> Iterator[CopyExample]:
    """Yield every example, in the order of the data set."""
    data = test.data

    def norms(summary: str) -> set[str]:
        return {word.norm for word in summary_words(summary, is_tokenized=data.is_tokenized)}

    for row, copied, plain in zip(data.rows, with_copying, without_copying, strict=True):
        source = set(source_norms(row.text, is_tokenized=data.is_tokenized))
        reference = row.references[0]
        added = norms(copied) - norms(plain)
        for word in summary_words(reference, is_tokenized=data.are_references_tokenized):
            norm = word.norm
            if norm in added and norm in source and norm not in vocab and norm.isalpha():
                yield CopyExample(row.text, reference, plain, copied, norm)
                break


def write_examples(out: Path, test: EvaluationSet, vocab: Vocab, recipes: Iterable[str]) -> None:
    """Write the first examples of each recipe, if both experiments were run on all texts."""
    sections: list[str] = []
    num_texts = len(test.data.rows)
    for recipe in recipes:
        with_copying, without = (
            read_summaries(summaries_file(out, name, recipe, 1)).get(test.name, [])
            for name in (WITH, WITHOUT)
        )
        if len(with_copying) == len(without) == num_texts:
            examples = list(find_examples(test, with_copying, without, vocab))
            sections += ["", f"## Recipe {recipe}", ""]
            sections += [f"{len(examples):,} of {num_texts:,} texts are examples; the first:", ""]
            for example in examples[:_NUM_EXAMPLES]:
                sections += [
                    f"- word: **{example.word}**",
                    f"  - input: {' '.join(example.text.split())}",
                    f"  - reference: {example.reference}",
                    f"  - without copying: {example.without_copying}",
                    f"  - with copying: {example.with_copying}",
                ]
    if sections:
        lines = [f"# Table 5: examples from {test.name}", "", _RULE, *sections]
        write_text(out / EXAMPLES_FILE, "\n".join(lines) + "\n")
