"""Numbers of docs/results.md, compared with the published results."""

import math
import re
from pathlib import Path
from statistics import mean, variance

import numpy as np
import pytest

from readagain.experiments.catalog import EXPERIMENTS, paper_table
from readagain.experiments.claims import judge_claims
from readagain.experiments.results import milliseconds, read_results, read_timing
from readagain.experiments.store import ResultStore
from readagain.rouge.options import MEASURES

DOCS = Path(__file__).parents[3] / "docs"
EFFECT = re.compile(r"[+-][\d.]+ \([+-][\d.]+ to [+-][\d.]+\)")
CLAIMS_OF_ANSWER = {
    "Reading again helps": ("re-reading", "re-reading with the same cell"),
    "Reading again lowers the loss": ("re-reading by loss",),
    "The weights α of the GRU with the paper's equations.": (
        "re-reading",
        "re-reading with bounded weights",
    ),
    "Reading again helps a network that copies": ("re-reading with copying",),
    "Copying helps at 15K": ("copying",),
    "15K with copying matches 69K without copying": ("15K with copying matches 69K",),
    "2K with copying loses little": ("2K with copying",),
    "Two sentences help": (
        "two sentences",
        "two sentences as one",
        "two sentences elsewhere",
        "options alike",
    ),
    "A separate embedding for each copied word helps.": ("embeddings of copied words",),
}
NAMES = {experiment.title: experiment.name for experiment in EXPERIMENTS.values()}


@pytest.fixture(scope="module")
def page():
    return (DOCS / "results.md").read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def store():
    return ResultStore(read_results(DOCS / "results"))


def tables_of(page, first_column):
    """Yield the columns and the rows of experiment table with this first column."""
    for block in re.findall(rf"\| {first_column} \|.*?(?=\n\n)", page, flags=re.DOTALL):
        header, _, *lines = (
            [cell.strip() for cell in line.split("|")[1:-1]] for line in block.splitlines()
        )
        yield header[1:], lines


def score_of(found, corpus, measures):
    dataset = next(name for name in found.datasets if name.partition(",")[0] == corpus)
    scores = found.scores(dataset)
    return " / ".join(f"{scores[measure].value:.1f}" for measure in measures)


def test_page_is_short(page):
    assert len(page.split()) < 3_000


@pytest.fixture(scope="module")
def claims(store):
    return {claim.name: claim for claim in judge_claims(store, read_timing(DOCS / "results"))}


def answers_of(page):
    """Return the answers by their bold heading."""
    text = page.partition("## Answers")[2].partition("\n## ")[0]
    parts = re.split(r"\n\n\*\*(.+?)\*\*", text)
    return dict(zip(parts[1::2], parts[2::2], strict=True))


def evidence_of(claim):
    return [evidence for of_test in claim.tests for evidence in of_test]


def test_effects_stand_with_the_claim_that_they_test(page, claims):
    answers = answers_of(page)
    assert len(answers) > 10
    for heading, answer in answers.items():
        printed = EFFECT.findall(" ".join(answer.split()))
        known = [
            effect
            for name in CLAIMS_OF_ANSWER.get(heading, ())
            for evidence in evidence_of(claims[name])
            for effect in EFFECT.findall(evidence.ours)
        ]
        assert [effect for effect in printed if effect not in known] == [], heading
        assert printed or heading not in CLAIMS_OF_ANSWER, heading
    outside = page.replace("\n\n".join(answers.values()), "").partition("## Tables")[2]
    assert EFFECT.findall(outside) == []


def test_answers_have_at_most_two_sentences(page):
    for heading, answer in answers_of(page).items():
        first = answer.split("\n\n")[0]
        verdict = re.search(r"\*([^*]+)\*\s*$", first)
        assert verdict, heading
        assert len(re.findall(r"[.](?:\s|$)", verdict[1])) <= 2, heading


def test_effects_of_the_paper_are_printed(page, claims):
    answers = answers_of(page)

    def paper(name):
        found = (evidence.paper for evidence in evidence_of(claims[name]))
        return list(dict.fromkeys(effect for effect in found if effect != "none"))

    effects = paper("re-reading")
    first = f"(paper: {', '.join(effects[:-1])} and {effects[-1]} points)"
    assert first in " ".join(answers["Reading again helps"].split())
    copying = sorted(paper("copying"))
    assert f"(paper: {copying[0]} and {copying[1]})" in answers["Copying helps at 15K"]
    [matches, above, *_] = paper("15K with copying matches 69K")
    answer = answers["15K with copying matches 69K without copying"]
    assert f"(paper: {matches})" in answer
    assert f"above the GRU at 69K (paper: {above}) by" in " ".join(answer.split())
    [lost, more] = paper("2K with copying")
    answer = answers["2K with copying loses little"]
    assert f"(paper: {lost.lstrip('+')} points" in answer
    assert f"loses more (paper: by {more})" in " ".join(answer.split())
    scores = {row.experiment: row.rouge[0] for row in paper_table("table1")}
    one, two = (
        f"{scores[f'two_sentences_option{option}_copy_15k'] - scores[once]:+.2f}"
        for once in ("read_again_lstm_copy_15k",)
        for option in (1, 2)
    )
    answer = answers["Two sentences help"]
    assert f"(paper: {one} and {two})" in answer
    assert f"in the paper by {paper('options alike')[0]}." in " ".join(answer.split())
    on_duc = sorted(map(float, paper("best on DUC")))
    assert f"(paper: {on_duc[0]:+.2f} to {on_duc[-1]:+.2f})" in answers["Best on DUC"]
    answer = " ".join(answers["The weights α of the GRU with the paper's equations."].split())
    assert f"the paper's gain with tanh is {effects[0]}." in answer


def losses_of(store, name):
    return [run.training["best"]["dev_loss"] for run in store.find(name, "converged").runs]


def welch_p_value(first, second):
    """Return the two-sided p-value of Welch's t-test.

    Substitute t = √dof tan θ: the density of θ is proportional to cos(θ) ** (dof - 1).
    """
    parts = [variance(sample) / len(sample) for sample in (first, second)]
    dof = sum(parts) ** 2 / sum(
        part**2 / (len(sample) - 1) for part, sample in zip(parts, (first, second), strict=True)
    )
    t = abs(mean(first) - mean(second)) / math.sqrt(sum(parts))
    angles = (np.arange(100_000) + 0.5) / 100_000 * np.pi / 2
    density = np.cos(angles) ** (dof - 1)
    return float(density[angles > math.atan(t / math.sqrt(dof))].sum() / density.sum())


def test_welch_p_value_is_that_of_student_tables():
    # Two samples of five with equal variances have 8 degrees of freedom; t = 2.306 has p = 0.05.
    sample = [-2.0, -1.0, 0.0, 1.0, 2.0]
    shifted = [value + 2.306 for value in sample]
    assert welch_p_value(sample, shifted) == pytest.approx(0.05, abs=1e-4)


def test_answer_on_the_loss_has_the_losses(page, store, claims):
    answer = " ".join(answers_of(page)["Reading again lowers the loss"].split())
    again, once = (losses_of(store, name) for name in ("read_again_lstm_15k", "lstm_15k"))
    lower = [loss for loss in again if loss < min(once)]
    assert (len(lower), len(again), len(once)) == (4, 5, 5)
    [other] = set(again) - set(lower)
    assert f"{other:.3f} (the others {min(lower):.3f} to {max(lower):.3f})" in answer
    tests = [evidence for evidence in evidence_of(claims["re-reading by loss"]) if evidence.recipe]
    assert [test.verdict for test in tests] == 4 * ["supported"]
    again, once = (losses_of(store, name) for name in ("read_again_lstm_copy_15k", "lstm_copy_15k"))
    assert (len(again), len(once)) == (3, 3)
    assert max(again) < min(once)
    assert (
        f"all three have a lower loss ({min(again):.3f} to {max(again):.3f}) than all three with "
        f"one reading ({min(once):.3f} to {max(once):.3f})"
    ) in answer


def test_answer_on_the_loss_has_corrected_p_values(page, store):
    answer = " ".join(answers_of(page)["Reading again lowers the loss"].split())
    p_values = [
        welch_p_value(losses_of(store, first), losses_of(store, second))
        for first, second in (
            ("read_again_lstm_15k", "lstm_15k"),
            ("read_again_lstm_15k", "gru_15k"),
            ("sigmoid_importance", "gru_15k"),
            ("read_again_lstm_copy_15k", "lstm_copy_15k"),
        )
    ]
    bonferroni = [4 * p for p in p_values]
    # A corrected p-value is at least that of every smaller p-value.
    ascending = sorted(p_values)
    holm = [
        max((4 - rank) * smaller for rank, smaller in enumerate(ascending) if smaller <= p)
        for p in p_values
    ]
    assert [p < 0.05 for p in holm] == [True, True, False, False]
    assert [p < 0.05 for p in bonferroni] == [False, True, False, False]
    assert f"their p-values are {holm[0]:.3f} and {holm[1]:.3f}" in answer
    assert f"the first has {bonferroni[0]:.3f}" in answer
    assert f"{holm[2]:.3f}" == f"{holm[3]:.3f}"
    others = f"both {holm[2]:.3f}; Bonferroni: {bonferroni[2]:.3f} and {bonferroni[3]:.3f}"
    assert f"do not remain ({others})" in answer


def test_answer_on_speed_has_the_times(page):
    timing = read_timing(DOCS / "results")
    answer = answers_of(page)["A smaller vocabulary decodes faster."]
    times = [
        milliseconds(timing, row.experiment, "int8", batch_size=1) for row in paper_table("table4")
    ]
    [ours] = {f"{ms['69K'] / ms['2K']:.1f}" for ms in times}
    papers = {
        row.experiment: row.seconds["69K"] / row.seconds["2K"] for row in paper_table("table4")
    }
    text = " ".join(answer.split())
    assert f"2K is {ours} times as fast as 69K, with and without copying" in text
    plain, copying = papers["read_again_lstm"], papers["read_again_lstm_copy"]
    assert f"it is {plain:.1f} times as fast without copying and {copying:.1f} times" in text


def test_answer_on_important_words_has_the_weights(page, store, claims):
    def gap(name, recipe):
        return store.find(name, recipe).runs[0].importance["content_over_function"]["mean"]

    text = " ".join(answers_of(page)["Important words have larger weights."].split())
    tanh = [of_test[0].verdict for of_test in claims["important words"].tests[:9]]
    assert (tanh.count("too small to tell"), tanh.count("supported")) == (5, 4)
    lstm = "read_again_lstm_copy_15k"
    sigmoid = [
        run.importance["content_over_function"]["mean"]
        for run in store.find("sigmoid_importance", "converged").runs
    ]
    for statement in (
        f"function words by {min(sigmoid):.2f} to {max(sigmoid):.2f}, by seed. "
        f"With tanh and copying the difference is {gap('read_again_gru_copy_15k', 'modern'):.2f}",
        f"{gap(lstm, 'converged'):+.3f} with `converged`, {gap(lstm, 'modern'):+.3f} with "
        f"`modern` and {gap(lstm, 'paper'):+.3f} with `paper`",
        "of the nine tests with tanh, five are too small to tell and four supported",
    ):
        assert statement in text, statement


def test_examples_are_those_of_the_results(page, store):
    runs = store.find("read_again_lstm_15k", "converged").runs
    plain = runs[3]
    copying = store.find("read_again_lstm_copy_15k", "converged").runs
    assert (plain.seed, *(run.seed for run in copying)) == (4, 1, 2, 3)
    text = " ".join(page.replace("**", "").replace("\\#", "#").split())
    with_unk = [run.seed for run in runs if (run.sets["news"].own or {}).get("allow_unk")]
    assert "seeds {} and {} were run with UNK allowed".format(*with_unk) in text
    by_word = [{example["word"]: example for example in run.examples} for run in (plain, *copying)]
    for word in ("headmaster", "refit"):
        assert f"| {by_word[0][word]['summary']} | {by_word[1][word]['summary']} |" in text
    assert f'seed 1 writes "{by_word[1]["zeebrugge"]["summary"]}"' in text
    nearest = [
        neighbours["words"]
        for examples in by_word[1:]
        for example in examples.values()
        for neighbours in example["neighbours"].values()
        if neighbours["is_oov"]
    ]
    cosines = [words[0][1] for words in nearest]
    assert f"has a cosine of {min(cosines):.2f} to {max(cosines):.2f}" in text
    for example, word in (("refit", "angola"), ("headmaster", "headmaster")):
        for examples in by_word[1:]:
            one, two = (
                f'"{name}"' for name, _ in examples[example]["neighbours"][word]["words"][:2]
            )
            assert f"{one} and {two}" in text
    for examples in by_word[1:]:
        assert not examples["ageing"]["neighbours"]["ageing"]["is_oov"]


def test_tables_by_recipe_have_the_scores(page, store):
    found = list(tables_of(page, "row"))
    assert len(found) == 4
    for columns, lines in found:
        for title, *cells in lines:
            for column, cell in zip(columns, cells, strict=True):
                results = store.find(NAMES[title], column.strip("`"))
                expected = "not run" if results is None else score_of(results, "news", MEASURES[:1])
                assert cell == expected, (title, column)
            columns_of_row = {column.strip("`") for column in columns}
            for recipe in set(store.recipes) - columns_of_row:
                assert store.find(NAMES[title], recipe) is None, (title, recipe)


def test_table_of_systems_has_the_scores(page, store):
    printed = {row.experiment: f"{row.rouge[0]:.1f}" for row in paper_table("table2")}
    [(_, lines)] = tables_of(page, "system")
    for title, *cells in lines:
        name = NAMES[title]
        results = store.find(name, "modern")
        corpora = ("duc2003", "gigaword-valid", "news")
        expected = [score_of(results, corpus, MEASURES) for corpus in corpora]
        lengths = [run.sets[results.datasets[0]].habits["words"] for run in results.runs]
        expected += [f"{sum(lengths) / len(lengths):.1f}", printed.get(name, "none")]
        assert cells == expected, title


def test_other_numbers_of_the_text(page, store):
    text = " ".join(page.split())

    def score(name, recipe):
        return store.find(name, recipe).scores("news")["rouge-1"].value

    sds = {
        recipe: 100 * store.seed_variance(recipe, "news").values[0] ** 0.5
        for recipe in store.recipes
    }
    lost = [
        row.rouge[0] - store.find(row.experiment, "modern").scores("duc2003")["rouge-1"].value
        for row in paper_table("table2")
        if row.experiment in ("abs_69k", "abs_plus_69k", "ras_lstm", "ras_elman")
        or row.experiment.startswith("lvt")
    ]
    lstm, again = (
        score(name, "converged") - score(name, "modern")
        for name in ("lstm_15k", "read_again_lstm_15k")
    )
    unk_losses = [
        100 * (dataset.rouge["rouge-1"][0] - dataset.own["rouge"]["rouge-1"][0])
        for result in store.results
        if result.recipe == "converged"
        and (dataset := result.sets["news"]).own is not None
        and dataset.own["allow_unk"]
    ]
    for statement in (
        f"standard deviation of {sds['converged']:.2f} points with `converged`, "
        f"{sds['modern']:.2f} with `modern` and {sds['paper']:.2f} with `paper`",
        f"{min(lost):.0f} to {max(lost):.0f} points below their scores in the paper",
        f"the LSTM gains {lstm:.1f} points, the Read-Again LSTM {again:.1f}",
        f"{score('bidirectional_gru_15k', 'modern'):.1f} for one reading and "
        f"{score('bidirectional_read_again_lstm_15k', 'modern'):.1f} for two",
        f"the Read-Again LSTM has {score('read_again_lstm_69k', 'paper'):.1f}",
        f"ROUGE-1 on `news` is {min(unk_losses):.1f} to {max(unk_losses):.1f} points lower",
    ):
        assert statement in text, statement


def test_order_of_rows_is_the_same_with_unk_allowed(page, store):
    scores = {}
    for name in ("gru_15k", "lstm_15k", "sigmoid_importance", "read_again_lstm_15k"):
        datasets = [run.sets["news"] for run in store.find(name, "converged").runs]
        with_unk = [dataset for dataset in datasets if (dataset.own or {}).get("allow_unk")]
        assert len(with_unk) in (2, 3)
        scores[name] = (
            mean(dataset.rouge["rouge-1"][0] for dataset in with_unk),
            mean(dataset.own["rouge"]["rouge-1"][0] for dataset in with_unk),
        )
    without, allowed = (sorted(scores, key=lambda name: scores[name][i]) for i in (0, 1))
    assert without == allowed
    statement = "two or three seeds each: if they may generate UNK"
    assert statement in " ".join(page.split())


def test_numbers_about_the_training(page, store):
    text = " ".join(page.split())
    pairs = {recipe: set() for recipe in store.recipes}
    for run in store.results:
        if run.training:
            pairs[run.recipe].add(run.corpus["train_pairs"])
    [converged], [paper] = pairs["converged"], pairs["paper"]
    subset, whole = sorted(pairs["modern"])
    assert paper == whole
    epochs = [
        run.training["updates"] / (converged / 256)
        for run in store.results
        if run.recipe == "converged"
    ]
    [updates] = {run.training["updates"] for run in store.results if run.recipe == "paper"}
    trained = [run for run in store.results if run.training]
    without_log = [run for run in trained if "curve" not in run.training]
    with_commit = [run for run in trained if run.machine["commit"]]
    assert {run.machine["date"] for run in without_log} == {"2026-11-18"}
    assert {run.machine["date"] for run in with_commit} == {"2026-11-19"}
    hashes = [run for run in with_commit if run.machine["commit"].startswith("sha256:")]
    assert (len(without_log), len(with_commit), len(hashes)) == (8, 8, 2)
    converged_runs = [run for run in trained if run.recipe == "converged"]
    assert {run.training["ended_by"] for run in converged_runs} == {"patience"}
    assert len({run.machine["date"] for run in converged_runs}) == 3
    names = ("gru_15k", "lstm_15k", "sigmoid_importance", "read_again_lstm_15k")
    assert {len(store.find(name, "converged").runs) for name in names} == {5}
    names = ("lstm_copy_15k", "read_again_lstm_copy_15k")
    assert {len(store.find(name, "converged").runs) for name in names} == {3}
    for statement in (
        f"`news` corpus of [data.md](data.md), {whole:,} pairs",
        f"trains on {converged:,} pairs and selects the checkpoint on the other "
        f"{whole - converged:,}",
        f"trained on {subset:,} pairs, all other rows on {whole:,}",
        f"{min(epochs):.1f} to {max(epochs):.1f} epochs",
        f"{updates:,} updates instead of the paper's 594,000",
        "only the eight of 19 November record their code: six the commit, two a hash of the source",
        "The eight of 18 November have no log",
        "The four `converged` rows without copying have five seeds, the two with copying three",
    ):
        assert statement in text, statement


def test_gain_of_copying_is_larger_after_short_training(page, store):
    def gain(kind, recipe):
        names = (f"{kind}_copy_15k", f"{kind}_15k")
        return 100 * store.contrast(names, recipe)["rouge-1"].difference

    more = [gain(kind, "modern") - gain(kind, "converged") for kind in ("read_again_lstm", "lstm")]
    assert [round(points) for points in more] == [4, 3]
    assert "it adds four and three points more" in " ".join(page.split())


def test_copied_shares_on_duc_are_those_of_the_results(page, store):
    names = ("ras_lstm", "ras_elman", "abs_69k", "read_again_lstm_copy_15k")
    shares = []
    for name in names:
        habits = [result.habits for result in store.find(name, "modern").on("duc2003")]
        shares.append(100 - 100 * sum(h["novel_1gram_rate"] for h in habits) / len(habits))
    one, two, three, four = (f"{share:.0f}%" for share in shares)
    statement = (
        f"{one} of the words of RAS-LSTM are in the text, {two} of RAS-Elman's, {three} of ABS's, "
        f"and {four} of those of Read-Again"
    )
    assert statement in " ".join(page.split())


def test_summary_lengths_are_those_of_the_results(page, store):
    lengths = {False: [], True: []}
    baselines = {row.experiment for row in paper_table("table2")}
    baselines -= {"read_again_lstm_copy_15k", "read_again_gru_copy_15k"}
    for run in store.results:
        experiment = EXPERIMENTS[run.row]
        dataset = next(iter(run.sets))
        has_several = experiment.min_sentences > 1
        has_diverged = 100 * run.sets[dataset].rouge["rouge-1"][0] < 25
        if run.training and not has_diverged and (has_several or run.row not in baselines):
            lengths[has_several].append(run.sets[dataset].habits["words"])
    text = " ".join(page.split())
    one, several = (
        f"have {min(words):.1f} to {max(words):.1f} words" for words in lengths.values()
    )
    assert f"one sentence {one}" in text
    assert f"sentences {several}" in text
