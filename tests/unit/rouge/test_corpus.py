"""Scores of a corpus: averages, intervals, fingerprints and invalid input."""

import json

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from readagain.errors import DataError
from readagain.rouge.bootstrap import resampled_sums
from readagain.rouge.corpus import hash_items, score_corpus
from readagain.rouge.options import Protocol, RougeOptions

FEW_SAMPLES = Protocol(options=RougeOptions(samples=10))
texts = st.text("ab c-\n", min_size=0, max_size=20)


@given(st.lists(st.text("abcd", min_size=1), min_size=4, max_size=9).map(" ".join))
def test_text_scores_one_against_itself(text):
    report = score_corpus([text], [[text]], FEW_SAMPLES)
    assert [score.f1.value for score in report.scores.values()] == [1, 1, 1]


def test_report_repr_has_the_main_scores():
    report = score_corpus(["a b"], [["a b c d"]], "duc2004")
    scores = "rouge-1: 0.5, rouge-2: 0.33333, rouge-l: 0.5"
    assert repr(report) == f"<Report of 1 item, recall {scores}>"


@given(texts, texts)
def test_swapping_texts_swaps_recall_and_precision(one, other):
    forward = score_corpus([one], [[other]], FEW_SAMPLES)
    backward = score_corpus([other], [[one]], FEW_SAMPLES)
    for measure in ("rouge-1", "rouge-2"):
        assert forward[measure].recall == backward[measure].precision
        assert forward[measure].f1 == backward[measure].f1


@given(texts.filter(str.split), st.integers(1, 20))
def test_text_beyond_the_byte_limit_is_ignored(text, limit):
    protocol = Protocol(options=RougeOptions(max_bytes=limit, samples=10))
    text = text.replace("\n", " ")
    truncated = text[:limit]
    whole, short = (score_corpus([summary], [["a b c"]], protocol) for summary in (text, truncated))
    assert whole.scores == short.scores


@given(st.lists(st.tuples(texts, texts), min_size=1, max_size=6))
def test_scores_are_within_their_intervals(items):
    options = RougeOptions(samples=50, confidence=100)
    summaries, references = zip(*items, strict=True)
    report = score_corpus(
        summaries, [[reference] for reference in references], Protocol(options=options)
    )
    for score in report.scores.values():
        for estimate in (score.recall, score.precision, score.f1):
            assert 0 <= estimate.low <= estimate.value <= estimate.high <= 1


def test_report_json_has_interval_options_and_fingerprint():
    report = score_corpus(["a b", "c"], [["a"], ["x c"]], "duc2004")
    content = json.loads(json.dumps(report.as_json()))
    assert list(content) == ["rouge-1", "rouge-2", "rouge-l", "options", "items", "fingerprint"]
    assert list(content["rouge-1"]) == ["recall", "precision", "f1", "low", "high"]
    assert content["rouge-1"]["low"] == report["rouge-1"].recall.low
    assert content["rouge-1"]["high"] == report["rouge-1"].recall.high
    assert content["options"] == "-n 2 -m -b 75 -c 95 -r 1000 -f A -p 0.5 -t 0"
    assert content["items"] == 2


def test_fingerprint_depends_on_texts_and_their_order():
    fingerprints = [
        hash_items(items)
        for items in (
            [("a", ["b"])],
            [("b", ["a"])],
            [("a", ["b", ""])],
            [("ab", [""])],
            [("a", ["b"]), ("c", ["d"])],
            [("a", ["b", "c", "d"])],
        )
    ]
    assert len(set(fingerprints)) == 6
    assert fingerprints[0] == hash_items([("a", ["b"])])


def test_score_corpus_resamples_in_script_order():
    hits = [number in (2, 10) for number in range(1, 13)]
    summaries = ["a" if is_hit else "b" for is_hit in hits]
    report = score_corpus(summaries, [["a"]] * 12, Protocol(options=RougeOptions(samples=2)))
    by_name = sorted(range(1, 13), key=str)  # 1, 10, 11, 12, 2, ...
    sums = resampled_sums(np.array([[float(hits[n - 1])] for n in by_name]), range(2))
    assert report["rouge-1"].recall.value == round(sums.mean() / 12, 5)


@pytest.mark.parametrize(
    ("summaries", "references", "message"),
    [
        (["a", "b"], [["a"]], "found 2 summaries and 1 list of references"),
        ([], [], "summaries: found none; expected at least one"),
        (["a"], [[]], "item 1: found 0 references; expected 1 or more"),
        (["a"], ["a"], "item 1: found a string; expected a list of references"),
        ("ab", [["a"], ["b"]], "summaries: found a string; expected a list"),
    ],
)
def test_score_corpus_rejects_invalid_input(summaries, references, message):
    with pytest.raises(DataError, match=message):
        score_corpus(summaries, references, FEW_SAMPLES)


@pytest.mark.parametrize(
    ("summary", "reference", "expected"),
    [
        ("Bürger in Köln", "Börger in Käln", 0.33333),
        ("Мэр не ответил", "Мэр не ответил", 1.0),
        ("市长没有回答", "市长没有说话", 0.66667),
        ("ראש העיר לא השיב", "ראש העיר השיב", 0.85714),
    ],
)
def test_unicode_protocol_scores_any_language(summary, reference, expected):
    report = score_corpus([summary], [[reference]], "unicode")
    assert report["rouge-1"].f1.value == expected


def test_unicode_protocol_truncates_bytes_between_characters():
    options = RougeOptions(unicode=True, max_bytes=7)
    report = score_corpus(["мэр ушёл"], [["мэр"]], Protocol(options=options))
    assert report["rouge-1"].f1.value == 1.0
