"""Numbers of docs/results.md, compared with the published results."""

import re
from pathlib import Path

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
    "Two sentences help.": (
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
    [matches, *_] = paper("15K with copying matches 69K")
    assert f"(paper: {matches})" in answers["15K with copying matches 69K without copying"]
    [lost, _] = paper("2K with copying")
    assert f"(paper: {lost.lstrip('+')} points" in answers["2K with copying loses little"]


def test_answer_on_the_loss_has_the_losses(page, store, claims):
    answer = " ".join(answers_of(page)["Reading again lowers the loss"].split())
    again, once = (
        [run.training["best"]["dev_loss"] for run in store.find(name, "converged").runs]
        for name in ("read_again_lstm_15k", "lstm_15k")
    )
    lower = [loss for loss in again if loss < min(once)]
    assert (len(lower), len(again), len(once)) == (3, 4, 4)
    [other] = set(again) - set(lower)
    losses = f"{other:.3f} (the others {min(lower):.3f} to {max(lower):.3f})"
    assert losses in answer
    runs = store.find("read_again_lstm_15k", "converged").runs
    assert [run.machine["date"] for run in runs if run.training["best"]["dev_loss"] == other] == [
        "2026-11-18"
    ]
    assert max(run.machine["date"] for run in runs[:3]) == "2026-11-16"
    tests = [evidence for evidence in evidence_of(claims["re-reading by loss"]) if evidence.recipe]
    assert [test.verdict for test in tests].count("supported") == 2
    assert len(tests) == 4
    for test in tests:
        # Bonferroni for four tests widens an interval by 27% or more.
        difference, low = map(float, re.findall(r"[+-][\d.]+", test.ours)[:2])
        assert abs(difference) < 1.27 * (difference - low)


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
    for statement in (
        f"function words by {gap('sigmoid_importance', 'converged'):.2f}. With tanh and copying "
        f"the difference is {gap('read_again_gru_copy_15k', 'modern'):.2f}",
        f"{gap(lstm, 'converged'):+.3f} with `converged`, {gap(lstm, 'modern'):+.3f} with "
        f"`modern` and {gap(lstm, 'paper'):+.3f} with `paper`",
        "of the nine tests with tanh, five are too small to tell and four supported",
    ):
        assert statement in text, statement


def test_examples_are_those_of_the_results(page, store):
    plain = store.find("read_again_lstm_15k", "converged").runs[3]
    first, second = store.find("read_again_lstm_copy_15k", "converged").runs
    assert (plain.seed, first.seed, second.seed) == (4, 1, 2)
    assert plain.sets["news"].own["allow_unk"]
    text = " ".join(page.replace("**", "").replace("\\#", "#").split())
    by_word = [
        {example["word"]: example for example in run.examples} for run in (plain, first, second)
    ]
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
            one, two, three = (
                f'"{name}"' for name, _ in examples[example]["neighbours"][word]["words"][:3]
            )
            assert re.search(f"{one}, {two} and {three}", text), (one, two, three)
    assert not by_word[1]["ageing"]["neighbours"]["ageing"]["is_oov"]


def test_tables_by_recipe_have_the_scores(page, store):
    found = list(tables_of(page, "row"))
    assert len(found) == 4
    for columns, lines in found:
        for title, *cells in lines:
            for column, cell in zip(columns, cells, strict=True):
                results = store.find(NAMES[title], column.strip("`"))
                expected = "not run" if results is None else score_of(results, "news", MEASURES[:1])
                assert cell == expected, (title, column)


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
    weights = store.find("sigmoid_importance", "converged").runs[0].importance
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
        f"function words by {weights['content_over_function']['mean']:.2f}. With tanh",
    ):
        assert statement in text, statement


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
    late = [run for run in trained if "curve" not in run.training]
    assert {run.machine["commit"] for run in trained} == {None}
    assert {run.machine["date"] for run in late} == {"2026-11-18"}
    assert max(run.machine["date"] for run in trained if run not in late) == "2026-11-16"
    assert len(late) == 8
    assert {run.recipe for run in late} == {"converged"}
    assert {run.training["ended_by"] for run in late} == {"patience"}
    for statement in (
        f"`news` corpus of [data.md](data.md), {whole:,} pairs",
        f"trains on {converged:,} pairs and selects the checkpoint on the other "
        f"{whole - converged:,}",
        f"trained on {subset:,} pairs, all other rows on {whole:,}",
        f"{min(epochs):.1f} to {max(epochs):.1f} epochs",
        f"{updates:,} updates instead of the paper's 594,000",
        "The eight `converged` rows of 18 November",
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
