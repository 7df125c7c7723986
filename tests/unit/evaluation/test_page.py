"""HTML page of an evaluation."""

import re
from html.parser import HTMLParser

import pytest

from readagain.evaluation.page import (
    MAX_SOURCE_WORDS,
    NUM_EXAMPLES,
    choose_examples,
    length_histogram,
    mark_source,
    mark_summary,
    render_page,
)
from readagain.evaluation.summaries import SystemSummary, summary_words

VOID = {"meta"}


class Tags(HTMLParser):
    """Checks that every tag is closed, and gathers attributes."""

    def __init__(self):
        super().__init__()
        self.open = []
        self.attributes = []

    def handle_starttag(self, tag, attributes):
        self.attributes += attributes
        if tag not in VOID:
            self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag


def written(text, *copied, is_tokenized=False):
    words = summary_words(text, is_tokenized=is_tokenized)
    return SystemSummary(text, words, tuple(word.norm in copied for word in words))


@pytest.fixture
def page(evaluated, gigaword):
    return render_page(evaluated("lead", gigaword, "gigaword"))


def test_page_is_valid_and_self_contained(page):
    tags = Tags()
    tags.feed(page)
    assert tags.open == []
    assert not {"src", "href", "onload", "onclick"} & {name for name, _ in tags.attributes}
    assert "http" not in page
    assert "url(" not in page
    assert "<script" not in page


def test_page_shows_scores_intervals_and_metadata(evaluated, gigaword):
    found = evaluated("lead", gigaword, "gigaword")
    page = render_page(found)
    quoted = found.rouge.headline("rouge-1")
    for figure in (quoted.value, quoted.low, quoted.high):
        assert f"{100 * figure:.2f}" in page
    assert found.data.fingerprint in page
    assert f"<title>lead on {gigaword.name}/{found.data.files[0].name}</title>" in page
    assert "-n 2 -m" in page
    assert "prefers-color-scheme: dark" in page


def test_page_escapes_texts(evaluated, tmp_path):
    path = tmp_path / "a<b.jsonl"
    attack = "<script>alert(1)</script> & <b>bridge</b>"
    path.write_text(f'{{"text": "{attack}", "headline": "{attack}"}}\n')
    page = render_page(evaluated("lead", path, "gigaword"))
    assert "<script" not in page
    assert "<b>bridge" not in page
    assert "a&lt;b.jsonl" in page
    Tags().feed(page)


def test_mark_summary_joins_adjacent_words():
    marked = mark_summary(written("Old bridge opens again", "old", "bridge"), {"opens"})
    assert marked == (
        '<mark class="copied">Old bridge</mark> opens <mark class="novel">again</mark>'
    )


def test_mark_summary_of_empty_summary():
    assert mark_summary(written(""), set()) == "<em>empty</em>"


def test_mark_source_marks_a_copied_word_once():
    marked = mark_source("The old, old bridge.", written("Old", "old"), is_tokenized=False)
    assert marked == 'The <mark class="copied">old</mark>, old bridge.'


def test_mark_source_marks_as_many_words_as_copied():
    summary = written("Old bridge", "old", "bridge")
    marked = mark_source("The bridge is old, old, old.", summary, is_tokenized=False)
    assert marked.count("<mark") == 2


def test_mark_source_prefers_runs():
    summary = written("Sands of Time", "sands", "of", "time")
    marked = mark_source("Time for the Sands of Time.", summary, is_tokenized=False)
    assert marked == 'Time for the <mark class="copied">Sands of Time</mark>.'


def test_mark_source_finds_reordered_words():
    summary = written("bridge old", "bridge", "old")
    marked = mark_source("the old bridge", summary, is_tokenized=True)
    assert marked == 'the <mark class="copied">old bridge</mark>'


def test_mark_source_matches_masked_digits():
    summary = written("in 1904", "####", is_tokenized=True)
    marked = mark_source("opened in 1904 .", summary, is_tokenized=True)
    assert marked == 'opened in <mark class="copied">1904</mark> .'


def test_mark_source_shortens_long_texts():
    text = " ".join(f"w{n}" for n in range(MAX_SOURCE_WORDS + 1))
    shown = mark_source(text, written(""), is_tokenized=True)
    assert shown.endswith(f"w{MAX_SOURCE_WORDS - 1} …")


def test_choose_examples_best_and_worst(evaluated, parallel):
    data = parallel(["a b c d", "a b x y", "p q r s"], ["m n", "a b c d", "p q r s"])
    found = evaluated("lead", data, "gigaword")
    assert choose_examples(found) == ([2], [0])


def test_choose_examples_lists_are_disjoint(evaluated, parallel):
    same = ["a b"] * (2 * NUM_EXAMPLES + 3)
    best, worst = choose_examples(evaluated("lead", parallel(same, same), "gigaword"))
    assert len(best) == len(worst) == NUM_EXAMPLES
    assert not set(best) & set(worst)


def test_page_with_a_single_row(evaluated, tmp_path):
    path = tmp_path / "a.jsonl"
    path.write_text('{"text": "One bridge.", "headline": "bridge"}\n')
    page = render_page(evaluated("lead", path, "gigaword"))
    assert page.count("<article>") == 1
    assert "Worst" not in page


def test_page_keeps_row_numbers_with_dropped_rows(evaluated, parallel):
    data = parallel(["a b", "c d", "e f"], ["UNK", "c", "e"])
    page = render_page(evaluated("lead", data, "gigaword", unk="drop"))
    assert sorted(re.findall(r"row (\d+):", page)) == ["2", "3"]


def test_length_histogram_shows_shares():
    table = length_histogram([1, 1, 2, 2], [2])
    assert table.count("<meter") == 4
    assert 'class="summary" max="1.0000" value="0.5000"></meter><span>50.0%' in table
    assert 'class="reference" max="1.0000" value="1.0000"></meter><span>100.0%' in table


def test_length_histogram_counts_long_summaries_together():
    assert "<td>40 or more</td>" in length_histogram([50, 300], [1])
