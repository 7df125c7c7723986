"""Table 5's examples: texts where copying rescued a word, found by rule."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from readagain.evaluation.words import source_forms, summary_words
from readagain.evaluation.writing import write_whole
from readagain.experiments.corpora import DevSet
from readagain.experiments.results import read_summaries, summaries_file
from readagain.text.vocab import Vocab

EXAMPLES_FILE = "examples.md"
WITH, WITHOUT = "read_again_lstm_copy_15k", "read_again_lstm_15k"
NUM_EXAMPLES = 5
_RULE = (
    "The first texts of the dev set whose reference holds a word that the common vocabulary lacks "
    "and the text has, where the model with copying wrote that word and the model without did not."
)


@dataclass(frozen=True)
class CopyExample:
    """A text where copying brought a word of the reference into the summary."""

    text: str
    reference: str
    without_copying: str
    with_copying: str
    word: str


def find_examples(
    test: DevSet, with_copying: Sequence[str], without_copying: Sequence[str], vocab: Vocab
) -> Iterator[CopyExample]:
    """Yield every example of the rule, in the order of the set."""
    data = test.data
    for row, copied, plain in zip(data.rows, with_copying, without_copying, strict=True):
        source = set(source_forms(row.text, is_tokenized=data.is_tokenized))
        reference = row.references[0]
        wanted = [
            word.form
            for word in summary_words(reference, is_tokenized=data.are_references_tokenized)
            if word.form not in vocab and word.form in source and word.form.isalpha()
        ]
        rescued = [
            form
            for form in wanted
            if form in _forms(copied, data.is_tokenized)
            and form not in _forms(plain, data.is_tokenized)
        ]
        if rescued:
            yield CopyExample(row.text, reference, plain, copied, rescued[0])


def write_examples(out: Path, test: DevSet, vocab: Vocab, recipes: Iterable[str]) -> None:
    """Write the first examples of each recipe to `examples.md`, where both rows have been run."""
    sections: list[str] = []
    for recipe in recipes:
        with_copying, without = (
            read_summaries(summaries_file(out, row, recipe, 1)).get(test.name, [])
            for row in (WITH, WITHOUT)
        )
        if len(with_copying) == len(without) == len(test.data.rows):
            found = list(find_examples(test, with_copying, without, vocab))
            sections += ["", f"## Recipe {recipe}", "", *_section(found, len(test.data.rows))]
    if sections:
        lines = [f"# Table 5: examples from {test.name}", "", _RULE, *sections]
        write_whole(out / EXAMPLES_FILE, "\n".join(lines) + "\n")


def _section(found: Sequence[CopyExample], num_texts: int) -> list[str]:
    lines = [f"{len(found):,} of {num_texts:,} texts are such; the first:", ""]
    for example in found[:NUM_EXAMPLES]:
        lines += [
            f"- word: **{example.word}**",
            f"  - input: {' '.join(example.text.split())}",
            f"  - golden: {example.reference}",
            f"  - no copy: {example.without_copying}",
            f"  - copy: {example.with_copying}",
        ]
    return lines


def _forms(text: str, is_tokenized: bool) -> set[str]:
    return {word.form for word in summary_words(text, is_tokenized=is_tokenized)}
