"""Numbers of docs/results.md, compared with the published results."""

import re
from pathlib import Path

import pytest

from readagain.experiments.catalog import EXPERIMENTS, paper_table
from readagain.experiments.claims import judge_claims
from readagain.experiments.results import read_results, read_timing
from readagain.experiments.store import ResultStore
from readagain.rouge.options import MEASURES

DOCS = Path(__file__).parents[3] / "docs"
EFFECT = re.compile(r"[+-][\d.]+ \([+-][\d.]+ to [+-][\d.]+\)")
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


def test_effects_are_those_of_the_results(page, store):
    claims = judge_claims(store, read_timing(DOCS / "results"))
    known = {
        effect
        for claim in claims
        for of_test in claim.tests
        for evidence in of_test
        for effect in EFFECT.findall(evidence.ours)
    }
    printed = EFFECT.findall(" ".join(page.split()))
    assert len(printed) > 15
    assert [effect for effect in printed if effect not in known] == []


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
        return float(score_of(store.find(name, recipe), "news", MEASURES[:1]))

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
