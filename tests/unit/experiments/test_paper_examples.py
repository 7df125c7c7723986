"""The paper's printed inputs: summaries, neighbours of p_i, and their section in the report."""

from dataclasses import replace

from readagain.experiments.catalog import PAPER_EXAMPLES
from readagain.experiments.paper_examples import (
    WITH_COPYING,
    WITHOUT_COPYING,
    examples_markdown,
)
from readagain.experiments.report import PAGE_FILE, write_report
from readagain.experiments.results import read_results, write_result
from readagain.experiments.store import ResultStore

NEIGHBOURS = {"refit": {"is_oov": True, "words": [("repair", 0.71), ("rebuild", 0.5)]}}


def examples_of(summary):
    """Return results for all inputs, with neighbours for the last input of the paper."""
    return [
        {
            "word": example.word,
            "summary": f"{summary} {number}",
            "neighbours": NEIGHBOURS if example.word == "refit" else {},
        }
        for number, example in enumerate(PAPER_EXAMPLES)
    ]


def test_five_inputs_contain_the_copied_word():
    printed = [example for example in PAPER_EXAMPLES if example.reference]
    assert len(printed) == 5
    for example in printed:
        assert example.word in example.text.split()
        assert example.word in example.with_copying.split()
        assert example.word not in example.without_copying.split()


def test_one_input_has_two_sentences():
    assert [len(example.text.splitlines()) for example in PAPER_EXAMPLES] == [1] * 5 + [2]


def test_markdown_shows_paper_and_own_summaries(result):
    store = ResultStore(
        [
            replace(result(WITHOUT_COPYING), examples=examples_of("generated")),
            replace(result(WITH_COPYING), examples=examples_of("copied")),
            replace(
                result("two_sentences_option2_copy_15k"),
                examples=examples_of("from both sentences"),
            ),
        ]
    )
    text = examples_markdown(store)
    assert "the paper without copying: angola to &lt;unk&gt; soviet-era soviet-era fleet" in text
    assert "the paper with copying: angola to refit military fleet in russia" in text
    assert "p_i of *refit* (outside the vocabulary): repair 0.71, rebuild 0.50" in text
    assert text.count(": generated ") == text.count(": copied ") == len(PAPER_EXAMPLES)
    assert text.count(": from both sentences ") == 1


def test_markdown_is_empty_without_examples(result):
    assert examples_markdown(ResultStore([result(WITH_COPYING)])) == ""


def test_report_has_the_section_after_table_5(result, tmp_path):
    write_result(tmp_path, replace(result(WITH_COPYING), examples=examples_of("copied")), {})
    assert read_results(tmp_path)[0].examples[0]["summary"] == "copied 0"
    write_report(tmp_path)
    page = (tmp_path / PAGE_FILE).read_text(encoding="utf-8")
    assert page.index("## Table 5") < page.index("### The paper's inputs")
    assert "\n\n\n" not in page
