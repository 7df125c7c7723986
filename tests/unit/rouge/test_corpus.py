"""Whole corpora: averages, intervals, fingerprints, workers, and what is refused."""

import json

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from readagain.errors import ConfigError, DataError
from readagain.rouge.bootstrap import resampled_sums
from readagain.rouge.corpus import fingerprint, score_corpus
from readagain.rouge.options import RougeOptions
from readagain.rouge.protocol import Protocol

QUICK = Protocol(options=RougeOptions(samples=10))
texts = st.text("ab c-\n", min_size=0, max_size=20)


@given(st.lists(st.text("abcd", min_size=1), min_size=4, max_size=9).map(" ".join))
def test_a_text_scores_one_against_itself(text):
    report = score_corpus([text], [[text]], QUICK)
    assert [score.f1.value for score in report.scores.values()] == [1, 1, 1]


@given(texts, texts)
def test_swapping_summary_and_reference_swaps_recall_and_precision_of_ngrams(one, other):
    forth = score_corpus([one], [[other]], QUICK)
    back = score_corpus([other], [[one]], QUICK)
    for measure in ("rouge-1", "rouge-2"):
        assert forth[measure].recall == back[measure].precision
        assert forth[measure].f1 == back[measure].f1


@given(texts.filter(str.split), st.integers(1, 20))
def test_what_lies_beyond_the_byte_limit_changes_nothing(text, limit):
    protocol = Protocol(options=RougeOptions(max_bytes=limit, samples=10))
    text = text.replace("\n", " ")
    cut = text[:limit]
    whole, short = (score_corpus([each], [["a b c"]], protocol) for each in (text, cut))
    assert whole.scores == short.scores


@given(st.lists(st.tuples(texts, texts), min_size=1, max_size=6))
def test_figures_are_shares_and_stand_within_their_intervals(items):
    options = RougeOptions(samples=50, confidence=100)
    summaries, references = zip(*items, strict=True)
    report = score_corpus(summaries, [[each] for each in references], Protocol(options=options))
    for score in report.scores.values():
        for estimate in (score.recall, score.precision, score.f1):
            assert 0 <= estimate.low <= estimate.value <= estimate.high <= 1


def test_an_average_over_tokens_weighs_long_items_more():
    summaries, references = ["a", "b c d"], [["a"], ["x y z"]]
    by_item = score_corpus(summaries, references, Protocol(options=RougeOptions()))
    by_token = score_corpus(summaries, references, Protocol(options=RougeOptions(unit="token")))
    assert by_item["rouge-1"].recall.value > 0.45
    assert by_token["rouge-1"].recall.value < by_item["rouge-1"].recall.value


def test_an_average_over_tokens_divides_hits_by_reference_and_by_summary_words():
    protocol = Protocol(options=RougeOptions(unit="token", samples=10))
    score = score_corpus(["a b c d"], [["a x"]], protocol)["rouge-1"]
    assert (score.recall.value, score.precision.value) == (0.5, 0.25)


def test_the_jackknife_gives_one_row_for_each_item():
    protocol = Protocol(options=RougeOptions(pooling="jackknife", samples=10))
    report = score_corpus(["a b"], [["a", "b", "x y"]], protocol)
    # Recall without one reference each: 1/3, 1/3 and 2/2.
    assert report.item_scores[0, 0, 0] == pytest.approx((0.33333 + 0.33333 + 1) / 3)
    assert len(report.item_scores) == 1


def test_the_json_form_has_the_headline_interval_and_what_one_needs_to_believe_it():
    report = score_corpus(["a b", "c"], [["a"], ["x c"]], "duc2004")
    content = json.loads(json.dumps(report.as_json()))
    assert list(content) == ["rouge-1", "rouge-2", "rouge-l", "options", "items", "fingerprint"]
    assert list(content["rouge-1"]) == ["recall", "precision", "f1", "low", "high"]
    assert content["rouge-1"]["low"] == report["rouge-1"].recall.low
    assert content["rouge-1"]["high"] == report["rouge-1"].recall.high
    assert content["options"] == "-n 2 -m -b 75 -c 95 -r 1000 -f A -p 0.5 -t 0"
    assert content["items"] == 2


def test_a_fingerprint_tells_texts_and_their_places_apart():
    prints = [
        fingerprint(items)
        for items in (
            [("a", ["b"])],
            [("b", ["a"])],
            [("a", ["b", ""])],
            [("ab", [""])],
            [("a", ["b"]), ("c", ["d"])],
            [("a", ["b", "c", "d"])],
        )
    ]
    assert len(set(prints)) == 6
    assert prints[0] == fingerprint([("a", ["b"])])


def test_the_bootstrap_draws_from_items_in_string_order_of_their_numbers():
    hits = [number in (2, 10) for number in range(1, 13)]
    summaries = ["a" if is_hit else "b" for is_hit in hits]
    report = score_corpus(summaries, [["a"]] * 12, Protocol(options=RougeOptions(samples=2)))
    by_name = sorted(range(1, 13), key=str)  # 1, 10, 11, 12, 2, ...
    sums = resampled_sums(np.array([[float(hits[n - 1])] for n in by_name]), range(2))
    assert report["rouge-1"].recall.value == round(sums.mean() / 12, 5)


@pytest.mark.distributed
def test_any_number_of_workers_gives_the_same_report():
    summaries = [f"a b{n} c d{n % 7} e" for n in range(60)]
    references = [[f"a b{n % 9} c d{n} e", f"x c d{n % 5}"] for n in range(60)]
    protocol = Protocol(options=RougeOptions(samples=30, skip_gap=2))
    alone = score_corpus(summaries, references, protocol)
    shared = score_corpus(summaries, references, protocol, workers=2)
    assert shared.as_json() == alone.as_json()
    assert shared.item_scores.tolist() == alone.item_scores.tolist()


@pytest.mark.parametrize(
    ("summaries", "references", "message"),
    [
        (["a", "b"], [["a"]], "2 summaries but 1 list of references"),
        ([], [], "no summaries; expected at least one"),
        (["a"], [[]], "item 1: 0 references; expected 1 or more"),
        (["a"], ["a"], "item 1: a bare string; expected a list of references"),
        ("ab", [["a"], ["b"]], "the summaries are a bare string; expected a list of them"),
    ],
)
def test_texts_that_do_not_fit_together_are_refused(summaries, references, message):
    with pytest.raises(DataError, match=message):
        score_corpus(summaries, references, QUICK)


def test_the_jackknife_needs_two_references():
    protocol = Protocol(options=RougeOptions(pooling="jackknife"))
    with pytest.raises(DataError, match="item 2: 1 reference; expected 2 or more for the jack"):
        score_corpus(["a", "b"], [["a", "b"], ["b"]], protocol)


def test_no_workers_are_refused():
    with pytest.raises(ConfigError, match="workers is 0; expected 1 or more"):
        score_corpus(["a"], [["a"]], QUICK, workers=0)
