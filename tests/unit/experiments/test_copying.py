"""Counts of out-of-vocabulary words, worked out by hand."""

from pathlib import Path

import pytest

from readagain.evaluation.dataset import DataSet, EvalExample
from readagain.evaluation.evaluate import evaluate
from readagain.evaluation.summaries import SystemSummary, summary_words
from readagain.experiments.copying import count_oov
from readagain.text.vocab import SPECIAL_TOKENS, Vocab

VOCAB = Vocab([*SPECIAL_TOKENS, "sells", "theatre", "the", "town", "of", "its"])
TEXT = "the town of zyxwick sells its theatre ."


class FixedSystem:
    """A system that returns fixed summaries."""

    name = "fixed"

    def __init__(self, *summaries):
        self.summaries = summaries

    def describe(self):
        return {}

    def summarize(self, texts, *, is_tokenized):
        for summary in self.summaries:
            words = summary_words(summary, is_tokenized=is_tokenized)
            yield SystemSummary(summary, words, (False,) * len(words))


def data_of(references):
    """Return a data set with one text."""
    rows = (EvalExample(text=TEXT, references=tuple(references)),)
    return DataSet(
        rows=rows,
        files=(Path("x"),),
        format="jsonl",
        is_tokenized=True,
        are_references_tokenized=True,
    )


def counted(summary, *references):
    data = data_of(references)
    return count_oov(evaluate(FixedSystem(summary), data, "gigaword"), VOCAB)


def test_count_oov_word_in_summary_and_reference():
    found = counted("zyxwick sells theatre", "zyxwick sells theatre")
    assert (found["words"], found["in_source"], found["written"], found["wrong"]) == (1, 1, 1, 0)


def test_count_oov_word_in_no_reference_is_wrong():
    found = counted("ansett sells theatre", "zyxwick sells theatre")
    assert (found["words"], found["written"]) == (1, 0)
    assert (found["summary_words"], found["wrong"]) == (1, 1)


def test_count_oov_word_not_in_the_text():
    found = counted("town sells theatre", "quorbane sells theatre")
    assert (found["words"], found["in_source"], found["written"]) == (1, 0, 0)


def test_count_oov_ignores_known_words_and_punctuation():
    found = counted("the theatre .", "the theatre ; ### .")
    assert (found["words"], found["summary_words"]) == (0, 0)


@pytest.mark.parametrize("unknown", ["UNK", "unk", "<unk>"])
def test_count_oov_ignores_unk(unknown):
    found = counted(f"{unknown} sells", f"zyxwick {unknown} theatre")
    assert (found["words"], found["summary_words"]) == (1, 0)


def test_count_oov_uses_every_reference():
    found = counted("zyxwick sells", "zyxwick sells theatre", "zyxwick town")
    assert (found["words"], found["written"]) == (2, 2)
