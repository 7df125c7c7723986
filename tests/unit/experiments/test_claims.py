"""Verdicts on invented results."""

from dataclasses import replace

import numpy as np
import pytest

from readagain.experiments.catalog import EXPERIMENTS
from readagain.experiments.claim_tests import Evidence
from readagain.experiments.claims import Claim, claims_markdown, judge_claims
from readagain.experiments.results import pack_scores
from readagain.experiments.store import ResultStore

COPY, PLAIN = "read_again_lstm_copy_15k", "read_again_lstm_15k"
SHORT = " after the short training of recipe `modern`"
NO_TEXTS = {"texts": 0, "mean": 0.0, "low": 0.0, "high": 0.0, "positive_share": 0.0}


def claim(store, name, timing=None):
    """Judge all claims and return one of them."""
    return next(claim for claim in judge_claims(store, timing) if claim.name == name)


def decisive(found):
    """Return the evidence that decides each test of a claim."""
    return [evidence[0] for evidence in found.tests]


def store_of(result, **means):
    return ResultStore([result(row, mean) for row, mean in means.items()])


@pytest.mark.parametrize(
    ("again", "verdict"), [(0.35, "supported"), (0.25, "contradicted"), (0.30, "too small to tell")]
)
def test_rereading_verdict_follows_the_scores(result, again, verdict):
    store = store_of(result, gru_15k=0.3, read_again_gru_15k=again, read_again_lstm_15k=again)
    assert claim(store, "re-reading").verdict == f"**{verdict}**{SHORT}"


def test_mixed_evidence_is_counted(result):
    store = store_of(result, gru_15k=0.3, read_again_gru_15k=0.35, read_again_lstm_15k=0.25)
    assert claim(store, "re-reading").verdict == f"1 **supported**, 1 **contradicted**{SHORT}"


def test_converged_recipe_decides(result):
    rows = {"gru_15k": (0.3, 0.3), "read_again_gru_15k": (0.25, 0.35)}
    results = [
        result(row, mean, recipe=recipe)
        for row, means in rows.items()
        for recipe, mean in zip(("modern", "converged"), means, strict=True)
    ]
    found = claim(ResultStore(results), "re-reading")
    assert [test.recipe for test in found.tests[0]] == ["converged", "modern"]
    assert found.verdict == "**supported**"


def test_short_training_is_judged_apart(result):
    short = [result("gru_69k", 0.3), result("read_again_gru_69k", 0.25)]
    rows = {"gru_15k": 0.3, "read_again_gru_15k": 0.35}
    long = [result(row, mean, recipe="converged") for row, mean in rows.items()]
    found = claim(ResultStore([*short, *long]), "re-reading")
    assert found.verdict == f"**supported**; **contradicted**{SHORT}"
    assert f"| {found.text} | {found.verdict} | 2 of 4 |" in claims_markdown([found])


@pytest.mark.parametrize(
    ("losses", "verdict"),
    [
        ((3.10, 3.11), "supported"),
        ((3.20, 3.21), "contradicted"),
        ((3.1, 3.2), "too small to tell"),
    ],
)
def test_lower_loss_follows_the_seeds(result, losses, verdict):
    results = []
    for row, values in {"read_again_lstm_15k": losses, "lstm_15k": (3.15, 3.16)}.items():
        for seed, value in enumerate(values):
            run = result(row, recipe="converged", seed=seed)
            run.training["best"] = {"dev_loss": value}
            results.append(run)
    [evidence, *others] = decisive(claim(ResultStore(results), "re-reading by loss"))
    assert evidence.verdict == verdict
    assert {test.ours for test in others} == {"fewer than two seeds"}
    if verdict == "supported":
        # Variance 0.00005 between seeds, two of test, two degrees of freedom: 4.303.
        assert evidence.ours == "-0.050 (-0.080 to -0.020) nats per word; seeds: 2, 2"


def test_lower_loss_uses_the_variance_of_each_row(result):
    results = []
    for row, values in {"read_again_lstm_15k": (3.0, 3.02), "lstm_15k": (3.4, 3.4, 3.4)}.items():
        for seed, value in enumerate(values):
            run = result(row, recipe="converged", seed=seed)
            run.training["best"] = {"dev_loss": value}
            results.append(run)
    evidence, *_ = decisive(claim(ResultStore(results), "re-reading by loss"))
    # Standard error 0.01 of two seeds, one degree of freedom: 12.706.
    assert evidence.ours == "-0.390 (-0.517 to -0.263) nats per word; seeds: 2, 3"


def test_runs_at_the_time_limit_are_counted(result):
    stopped = result("gru_15k", 0.3, recipe="converged")
    stopped.training["ended_by"] = "time limit"
    store = ResultStore([stopped, result("read_again_gru_15k", 0.35, recipe="converged")])
    [first, *_] = decisive(claim(store, "re-reading"))
    assert first.ours.endswith("; seeds: 1, 1; 1 of the runs had not converged")
    assert first.paper == "+0.37"


def test_claim_without_results_is_not_measured(result):
    store = store_of(result, gru_15k=0.3)
    found = claim(store, "re-reading")
    assert found.verdict == "not measured"
    assert {test.ours for test in decisive(found)} == {"one of the rows is missing"}


@pytest.mark.parametrize(
    ("small", "verdict"), [(0.301, "supported"), (0.298, "supported"), (0.28, "contradicted")]
)
def test_at_most_below_allows_half_a_point(result, small, verdict):
    store = store_of(result, read_again_lstm_69k=0.3, **{COPY: small})
    [evidence] = [
        test
        for test in decisive(claim(store, "15K with copying matches 69K"))
        if "at most" in test.statement
    ]
    assert evidence.verdict == verdict


def test_larger_loss_has_the_variance_of_four_rows(result):
    rows = ("read_again_lstm_69k", "read_again_lstm_copy_69k", "read_again_lstm_copy_2k")
    results = [result(row, 0.3, seed=seed) for row in rows for seed in (1, 2)]
    results += [result("read_again_lstm_2k", 0.20 + seed / 100, seed=seed) for seed in (1, 2)]
    *_, evidence = decisive(claim(ResultStore(results), "2K with copying"))
    assert evidence.verdict == "supported"
    assert evidence.ours.startswith("it loses 8.50 without copying, 0.00 with it: +8.50 (")
    assert evidence.ours.endswith("; seeds: 2, 2, 2, 2")
    assert evidence.paper == "+9.75"


def test_wide_interval_is_not_supported(result, scored):
    """Different random scores make intervals of more than a point to either side."""
    means = {
        "read_again_lstm_69k": (0.3, 1),
        COPY: (0.299, 2),
        "read_again_lstm_copy_69k": (0.33, 1),
        "read_again_lstm_copy_2k": (0.302, 2),
        "two_sentences_option1_copy_15k": (0.3, 1),
        "two_sentences_option2_copy_15k": (0.301, 2),
    }
    store = ResultStore(
        [result(row, sets={"news": scored(mean, seed=seed)}) for row, (mean, seed) in means.items()]
    )
    unsure = {
        "15K with copying matches 69K": "at most",
        "2K with copying": "loses at most",
        "options alike": "within",
    }
    for name, words in unsure.items():
        [found] = [test for test in decisive(claim(store, name)) if words in test.statement]
        assert found.verdict == "too small to tell", found


@pytest.mark.parametrize(
    ("copy_small", "plain_small", "verdicts"),
    [
        (0.28, 0.15, ["supported", "supported"]),
        (0.20, 0.29, ["contradicted", "contradicted"]),
        (0.28, 0.28, ["supported", "too small to tell"]),
    ],
)
def test_vocabulary_loss_with_and_without_copying(result, copy_small, plain_small, verdicts):
    store = store_of(
        result,
        read_again_lstm_69k=0.3,
        read_again_lstm_2k=plain_small,
        read_again_lstm_copy_69k=0.3,
        read_again_lstm_copy_2k=copy_small,
    )
    found = decisive(claim(store, "2K with copying"))
    assert [test.verdict for test in found] == verdicts
    assert found[0].paper == "+3.68"


def timing(values):
    return {
        "measured": [
            {"row": row, "size": size, "precision": "int8", "ms_per_text": {"1": value}}
            for row in ("read_again_lstm", "read_again_lstm_copy")
            for size, value in zip(("2K", "5K", "15K", "30K", "69K"), values, strict=True)
        ]
    }


@pytest.mark.parametrize(
    ("values", "verdict"),
    [
        ((1, 2, 3, 4, 5), "supported"),
        ((1, 3, 2, 4, 5), "too small to tell"),
        ((5, 4, 3, 2, 1), "contradicted"),
    ],
)
def test_decoding_time_verdict_follows_the_times(result, values, verdict):
    store = store_of(result, gru_15k=0.3)
    assert claim(store, "decoding time", timing(values)).verdict == f"**{verdict}**"
    assert claim(store, "decoding time", None).verdict == "not measured"


def content_gap(gap):
    """Return an importance in which only content words and function words are compared."""
    names = ("noun_over_function", "verb_over_function")
    return {"content_over_function": gap, **dict.fromkeys(names, NO_TEXTS)}


@pytest.mark.parametrize(
    ("low", "high", "verdict"),
    [
        (0.1, 0.2, "supported"),
        (-0.2, -0.1, "contradicted"),
        (-0.05, 0.15, "too small to tell"),
        (0.0001, 0.0002, "too small to tell"),
        (-0.0002, -0.0001, "too small to tell"),
    ],
)
def test_important_words_verdict_follows_the_weights(result, low, high, verdict):
    gap = {"texts": 9, "mean": (low + high) / 2, "low": low, "high": high, "positive_share": 0.5}
    row = result("read_again_gru_15k", importance=content_gap(gap))
    assert claim(ResultStore([row]), "important words").verdict == f"**{verdict}**{SHORT}"


@pytest.mark.parametrize(("low", "high", "share"), [(0.1, 0.2, 0.32), (-0.2, -0.1, 0.68)])
def test_important_words_need_most_texts(result, low, high, share):
    gap = {"texts": 9, "mean": (low + high) / 2, "low": low, "high": high, "positive_share": share}
    row = result("read_again_gru_15k", importance=content_gap(gap))
    found = claim(ResultStore([row]), "important words").verdict
    assert found == f"**too small to tell**{SHORT}"


def test_verdict_has_the_number_of_tests():
    run = [Evidence(statement="this", ours="", verdict="supported")]
    missing = [Evidence(statement="that", ours="", verdict="not measured")]
    page = claims_markdown(
        [Claim("half", "Half of it.", [run, missing]), Claim("all", "All.", [run])]
    )
    assert "| Half of it. | **supported** | 1 of 2 |" in page
    assert "| All. | **supported** | 1 of 1 |" in page


@pytest.mark.parametrize(("second", "verdict"), [(0.3, "supported"), (-0.3, "too small to tell")])
def test_important_words_need_every_seed(result, second, verdict):
    rows = []
    for seed, mean in ((1, 0.3), (2, second)):
        gap = {"texts": 9, "mean": mean, "low": mean - 0.1, "high": mean + 0.1}
        found = content_gap({**gap, "positive_share": 0.5})
        rows.append(result("read_again_gru_15k", seed=seed, importance=found))
    tested = claim(ResultStore(rows), "important words")
    assert tested.verdict == f"**{verdict}**{SHORT}"
    assert any(f"; by seed +0.300, {second:+.3f}" in test.ours for test in decisive(tested))


def test_important_words_without_texts_are_not_measured(result):
    row = result("read_again_gru_15k", importance=content_gap(NO_TEXTS))
    assert claim(ResultStore([row]), "important words").verdict == "not measured"


@pytest.mark.parametrize(
    ("second", "verdict"), [(0.301, "supported"), (0.33, "contradicted"), (0.27, "contradicted")]
)
def test_options_alike_verdict_follows_the_scores(result, second, verdict):
    store = store_of(
        result, two_sentences_option1_copy_15k=0.3, two_sentences_option2_copy_15k=second
    )
    assert claim(store, "options alike").verdict == f"**{verdict}**{SHORT}"


def test_options_are_compared_with_two_sentences_as_one(result):
    options = ("two_sentences_option1_copy_15k", "two_sentences_option2_copy_15k")
    means = dict.fromkeys(options, 0.35)
    store = store_of(result, one_sentence_copy_15k=0.3, joined_sentences_copy_15k=0.36, **means)
    assert claim(store, "two sentences").verdict == f"**supported**{SHORT}"
    joined, *found = decisive(claim(store, "two sentences as one"))
    assert joined.verdict == "supported"
    assert [test.verdict for test in found] == ["contradicted", "contradicted"]


def test_two_sentences_are_compared_on_other_corpora(result, scored):
    def sets(elsewhere, recall):
        return {
            "news, 2 sentences": scored(0.3),
            "other": scored(elsewhere),
            "duc2003": scored(recall, figure="recall"),
        }

    option = result("two_sentences_option2_copy_15k", sets=sets(0.2, 0.4))
    store = ResultStore([option, result("one_sentence_copy_15k", sets=sets(0.3, 0.3))])
    _, f1, _, recall = decisive(claim(store, "two sentences elsewhere"))
    assert f1.statement.endswith("first sentence of the same texts on other")
    assert (f1.verdict, recall.verdict) == ("contradicted", "supported")


def test_two_sentences_without_another_corpus_are_not_measured(result):
    store = store_of(result, two_sentences_option2_copy_15k=0.3, one_sentence_copy_15k=0.3)
    found = claim(store, "two sentences elsewhere")
    assert found.verdict == "not measured"
    assert any(test.ours.startswith("a row, or a second data set") for test in decisive(found))


def test_duc_claim_uses_recall(result, scored):
    def both(f1, recall):
        return {"news": scored(f1), "duc2003": scored(recall, figure="recall")}

    store = ResultStore([result(COPY, sets=both(0.2, 0.4)), result("abs_69k", sets=both(0.3, 0.3))])
    found = claim(store, "best on DUC")
    assert found.verdict == f"**supported**{SHORT}"
    assert any(
        test.ours.endswith("ABS 69K has 30.0 here and 26.6 in the paper")
        for test in decisive(found)
    )


def test_every_claim_is_judged_and_printed(result):
    claims = judge_claims(ResultStore([result(row) for row in EXPERIMENTS]), None)
    assert len(claims) == 17
    page = claims_markdown(claims)
    for judged in claims:
        assert judged.text in page
        assert (f"### {judged.name}" in page) == (judged.verdict != "not measured")


@pytest.mark.parametrize(
    ("verdicts", "combined"),
    [
        (["supported", "not measured"], "**supported**"),
        (["contradicted", "too small to tell"], "1 **contradicted**, 1 **too small to tell**"),
        (["contradicted", "supported", "supported"], "2 **supported**, 1 **contradicted**"),
        ([], "not measured"),
    ],
)
def test_verdict_combines_tests(verdicts, combined):
    tests = [[Evidence(statement="s", ours="t", verdict=verdict)] for verdict in verdicts]
    assert Claim("n", "t", tests).verdict == combined


def with_unk(store):
    tests = decisive(claim(store, "copying"))
    return next(test for test in tests if test.statement.endswith("with UNK allowed"))


def test_copying_is_compared_with_unk_allowed(result, scored):
    """Only the runs that were also scored with UNK allowed are used."""
    own = {"item_scores": pack_scores(np.full((200, 3), 0.29))}
    plain = result(PLAIN, sets={"news": replace(scored(0.2), own=own)})
    found = with_unk(ResultStore([plain, result(PLAIN, 0.19, seed=2), result(COPY, 0.3)]))
    assert found.verdict == "too small to tell"
    assert found.ours.startswith("+1.79 (")
    assert found.ours.endswith("; seeds: 1, 2; seeds of the second with UNK allowed: 1")
    found = with_unk(ResultStore([plain, result(COPY, 0.3)]))
    assert found.verdict == "supported"
    assert found.ours.startswith("+1.79 (+0.96 to +2.63)")
    assert found.paper == "+2.07"


def test_copying_without_scores_with_unk_says_so(result):
    found = with_unk(ResultStore([result(PLAIN, 0.2), result(COPY, 0.3)]))
    assert found.ours == "Read-Again LSTM 15K was not scored with UNK allowed"
    found = with_unk(ResultStore([result(COPY, 0.3)]))
    assert found.ours == "one of the rows is missing"
