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

LSTM = "Read-Again LSTM 15K"
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


def test_markdown_shows_the_runs_that_may_generate_unk(result, scored):
    own = {"allow_unk": True}
    early = replace(result(WITHOUT_COPYING), examples=examples_of("early"))
    assert f"{LSTM}, recipe modern, seed 1, without UNK: early 0" in examples_markdown(
        ResultStore([early])
    )
    late = replace(
        result(WITHOUT_COPYING, seed=2, sets={"news": replace(scored(0.3), own=own)}),
        examples=examples_of("UNK"),
    )
    text = examples_markdown(ResultStore([early, late]))
    assert f"{LSTM}, recipe modern, seed 2: UNK 0" in text
    assert "early" not in text


def test_markdown_shows_every_seed_that_copies(result):
    runs = [
        replace(
            result(WITH_COPYING, seed=seed),
            run={"model": {"output": "copy"}},
            examples=examples_of(f"copied by {seed}"),
        )
        for seed in (1, 2)
    ]
    text = examples_markdown(ResultStore(runs))
    assert "Read-Again LSTM (C) 15K, recipe modern, seed 1: copied by 1 0" in text
    assert "Read-Again LSTM (C) 15K, recipe modern, seed 2: copied by 2 0" in text


def test_markdown_without_networks_for_two_sentences_says_so(result):
    text = examples_markdown(
        ResultStore([replace(result(WITH_COPYING), examples=examples_of("copied"))])
    )
    assert text.endswith("networks that read both sentences: not run; these read the first only")


def test_markdown_is_empty_without_examples(result):
    assert examples_markdown(ResultStore([result(WITH_COPYING)])) == ""


def test_report_has_the_section_after_table_5(result, tmp_path):
    write_result(tmp_path, replace(result(WITH_COPYING), examples=examples_of("copied")), {})
    assert read_results(tmp_path)[0].examples[0]["summary"] == "copied 0"
    write_report(tmp_path)
    page = (tmp_path / PAGE_FILE).read_text(encoding="utf-8")
    assert page.index("## Table 5") < page.index("### The paper's inputs")
    assert "\n\n\n" not in page
