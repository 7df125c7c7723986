"""HTML report of a fit: content, and escaping of data."""

import re
from html.parser import HTMLParser

import pytest

from readagain.corpus.manifest import CorpusManifest
from readagain.evaluation.dataset import DataSet, EvalExample
from readagain.evaluation.evaluate import evaluate
from readagain.evaluation.summaries import SystemSummary
from readagain.evaluation.systems import Lead
from readagain.fitting import page
from readagain.fitting.page import (
    NUM_SAMPLES,
    line_chart,
    mark_novel_words,
    render_report,
)
from readagain.rouge.options import UNICODE_PROTOCOL
from readagain.rouge.significance import Comparison
from readagain.text.document import Token
from readagain.text.language import find_language

CURVES = {"loss": [(10, 5.0), (20, 3.0)], "dev_loss": [(15, 4.5)], "rouge_1": [(15, 20.0)]}


def make_manifest(dropped):
    return CorpusManifest(
        package_version="0",
        settings={},
        inputs=[{"records": 200, "dropped": dropped}],
        origins=["pairs.csv"],
        splits={},
        num_words=9,
        language="de",
    )


def render(*, num_texts=30, dropped=None, notes=()):
    rows = tuple(
        EvalExample(text=f"Die <b>Brücke</b> {n} ist offen. Mehr.", references=(f"Brücke {n} auf",))
        for n in range(num_texts)
    )
    data = DataSet(
        rows=rows,
        files=(),
        format="csv",
        is_tokenized=False,
        are_references_tokenized=False,
        language="de",
    )
    lead = Lead(language=find_language("de"))
    systems = {"model": lead, "first sentence": lead}
    return render_report(
        name="mine",
        manifest=make_manifest(dropped or {}),
        curves=CURVES,
        steps_per_epoch=10,
        evaluations={name: evaluate(systems[name], data, UNICODE_PROTOCOL) for name in systems},
        notes=notes,
        details={"model": "3 MB <int8>"},
    )


class Page(HTMLParser):
    """Parser that counts the elements of a page and checks that each is closed."""

    VOID = ("meta", "line", "circle", "polyline")

    def __init__(self, text):
        super().__init__()
        self.open, self.counts = [], {}
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        self.counts[tag] = self.counts.get(tag, 0) + 1
        if tag not in self.VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag, attributes):
        self.counts[tag] = self.counts.get(tag, 0) + 1

    def handle_endtag(self, tag):
        assert self.open.pop() == tag


def test_page_is_well_formed_and_escapes_texts():
    text = render(notes=("int8 < float32",))
    assert Page(text).open == []
    assert "<b>Brücke" not in text
    assert "&lt;b&gt;Brücke" in text
    assert "int8 &lt; float32" in text
    assert "3 MB &lt;int8&gt;" in text
    assert "http" not in text


def test_page_names_model_and_language():
    text = render()
    assert "<h1>mine: headlines in German</h1>" in text
    assert 'lang="de"' in text


def test_chart_has_room_for_its_labels():
    [label] = re.findall(r'<text x="(\d+)".*?>(100\.00)</text>', line_chart({"x": [(1, 1e2)]}, 1))
    x, text = label
    assert int(x) >= 7 * len(text)  # a digit of 11 px is at most 7 px wide


def test_page_shows_twenty_samples_of_many():
    assert Page(render(num_texts=30)).counts["article"] == NUM_SAMPLES
    assert Page(render(num_texts=3)).counts["article"] == 3


@pytest.mark.parametrize(
    ("difference", "expected"),
    [
        ((0.082, 0.05, 0.11), "8.2 points of ROUGE-1 above the best baseline, first sentence"),
        ((-0.03, -0.05, -0.01), "3.0 points of ROUGE-1 below the best baseline, first sentence"),
        ((0.01, -0.02, 0.04), "Not distinguishable from the best baseline, first sentence"),
    ],
)
def test_page_compares_with_best_baseline(monkeypatch, difference, expected):
    value, low, high = difference
    comparison = Comparison(
        difference=value, low=low, high=high, p_bootstrap=0.1, p_randomization=0.1
    )
    monkeypatch.setattr(page, "compare_reports", lambda *reports: {"rouge-1": comparison})
    assert expected in render()


def test_page_lists_dropped_pairs_and_why():
    text = render(dropped={"length": 7, "duplicate": 13})
    assert "10.0% of 200 records" in text
    assert text.index("duplicate") < text.index(">length<")
    assert "repetition of a pair with the same text and headline" in text
    assert "None of 200 records" in render()


def test_line_chart_scales_points_and_labels():
    chart = line_chart({"training loss": CURVES["loss"], "dev loss": CURVES["dev_loss"]}, 10)
    assert ">5.00</text>" in chart
    assert ">3.00</text>" in chart
    assert ">2</text>" in chart  # epochs
    # The first point has the highest value; the last point is at the right and at the bottom.
    assert 'points="180.0,8.0 312.0,148.0"' in chart


def test_line_chart_accepts_one_point_and_none():
    assert "circle" in line_chart({"dev loss": [(5, 2.0)]}, 5)
    assert line_chart({"dev loss": []}, 5) == ""


def test_novel_words_are_marked():
    words = (Token("brücke", 0, 6), Token("neu", 7, 10), Token("ab", 11, 13))
    summary = SystemSummary("Brücke neu ab", words, (False, False, True))
    assert mark_novel_words(summary, {"brücke"}) == "Brücke <mark>neu</mark> ab"
    assert mark_novel_words(SystemSummary("", (), ()), set()) == "<em>empty</em>"
