from pathlib import Path

import pytest

from readagain.evaluation.dataset import DataSet, EvalExample
from readagain.evaluation.evaluate import evaluate
from readagain.evaluation.summaries import SystemSummary, summary_words
from readagain.experiments.copying import (
    EXAMPLES_FILE,
    WITH,
    WITHOUT,
    count_oov,
    find_examples,
    write_examples,
)
from readagain.experiments.corpora import EvaluationSet
from readagain.experiments.results import write_result
from readagain.text.vocab import SPECIAL_TOKENS, Vocab

VOCAB = Vocab([*SPECIAL_TOKENS, "sells", "theatre", "the", "town", "of", "its"])
TEXT = "the town of zyxwick sells its theatre ."


class Says:
    """A system that returns given summaries."""

    name = "says"

    def __init__(self, *summaries):
        self.summaries = summaries

    def describe(self):
        return {}

    def summarize(self, texts, *, is_tokenized):
        for summary in self.summaries:
            words = summary_words(summary, is_tokenized=is_tokenized)
            yield SystemSummary(summary, words, (False,) * len(words))


def data_of(*references):
    rows = tuple(EvalExample(text=TEXT, references=tuple(each)) for each in references)
    return DataSet(
        rows=rows,
        files=(Path("x"),),
        format="jsonl",
        is_tokenized=True,
        are_references_tokenized=True,
    )


def counted(summary, *references):
    data = data_of(references)
    return count_oov(evaluate(Says(summary), data, "gigaword"), VOCAB)


def test_count_oov_word_in_summary_and_reference():
    found = counted("zyxwick sells theatre", "zyxwick sells theatre")
    assert (found["words"], found["in_source"], found["written"], found["wrong"]) == (1, 1, 1, 0)


def test_count_oov_word_in_no_reference_is_wrong():
    found = counted("ansett sells theatre", "zyxwick sells theatre")
    assert (found["words"], found["written"], found["summary_words"], found["wrong"]) == (
        1,
        0,
        1,
        1,
    )


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


def test_examples_need_a_word_only_the_copying_model_has():
    data = data_of(["zyxwick sells theatre"], ["zyxwick sells theatre"], ["town sells theatre"])
    test = EvaluationSet("news", data, "gigaword")
    copying = ["zyxwick sells", "zyxwick sells", "zyxwick sells"]
    plain = ["town sells", "zyxwick sells", "town sells"]
    [example] = find_examples(test, copying, plain, VOCAB)
    assert (example.word, example.without_copying) == ("zyxwick", "town sells")


def test_examples_need_summaries_of_both_models(result, tmp_path):
    references = [["zyxwick sells theatre"], ["town sells theatre"]]
    test = EvaluationSet("news", data_of(*references), "gigaword")
    write_result(tmp_path, result(WITH), {"news": ["zyxwick sells", "town sells"]})
    for plain, is_written in ([], False), (["town"], False), (["town", "town"], True):
        write_result(tmp_path, result(WITHOUT), {"news": plain})
        write_examples(tmp_path, test, VOCAB, ["modern"])
        assert (tmp_path / EXAMPLES_FILE).exists() == is_written
    assert "1 of 2 texts are examples" in (tmp_path / EXAMPLES_FILE).read_text()


def test_examples_are_written_for_every_recipe(result, tmp_path):
    test = EvaluationSet("news", data_of(["zyxwick sells theatre"]), "gigaword")
    for recipe, plain in ("modern", "town sells"), ("paper", "zyxwick sells"):
        write_result(tmp_path, result(WITH, recipe=recipe), {"news": ["zyxwick sells"]})
        write_result(tmp_path, result(WITHOUT, recipe=recipe), {"news": [plain]})
    write_examples(tmp_path, test, VOCAB, ["modern", "paper"])
    _, modern, paper = (tmp_path / EXAMPLES_FILE).read_text().split("## Recipe ")
    assert "1 of 1 texts are examples; the first:\n\n- word: **zyxwick**" in modern
    assert "0 of 1 texts are examples" in paper
