"""Tests of claims: each compares results of one recipe and returns its evidence."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import mean, variance
from typing import Any, Literal

from readagain.experiments.catalog import EXPERIMENTS, UNTRAINED, paper_table
from readagain.experiments.results import milliseconds
from readagain.experiments.store import FACTORS, Effect, ResultStore, welch_margin

Verdict = Literal["supported", "contradicted", "too small to tell", "not measured"]

NO_VALUE = "none"
_MIN_WEIGHT_DIFFERENCE = 0.01
"""Minimum difference between two mean importance weights, which are from 0 to 1."""
_WORD_CLASS_TITLES = {"content": "content words", "noun": "nouns", "verb": "verbs"}
_ROW_IS_MISSING = "one of the rows is missing"


@dataclass(frozen=True, kw_only=True)
class Evidence:
    """Outcome of one test of a claim with the results of one recipe.

    Args:
        paper: the effect in the paper, in points of ROUGE-1.
        ours: our effect with its interval and the number of seeds, or the reason why the statement
            was not tested.
        recipe: the recipe; "" if the test does not depend on training.
    """

    statement: str
    paper: str = NO_VALUE
    ours: str
    verdict: Verdict = "not measured"
    recipe: str = ""

    @property
    def has_short_training(self) -> bool:
        """Whether the recipe does not train to convergence."""
        return self.recipe not in ("", UNTRAINED, "converged")


class ClaimTests:
    """Tests of statements about the results of one recipe.

    `catalog.toml` names the methods. `first`, `second` and `names` are names of experiments.
    """

    def __init__(self, store: ResultStore, timing: Mapping[str, Any] | None, recipe: str) -> None:
        self.store = store
        self.timing = timing
        self.recipe = recipe

    def higher(self, first: str, second: str) -> Evidence:
        """Test whether an experiment scores higher than a second one."""
        statement = f"{_title(first)} scores higher than {_title(second)}"
        return self._judge(statement, (first, second))

    def higher_with_unk(self, first: str, second: str) -> Evidence:
        """Test whether an experiment that copies scores higher than one that may generate UNK.

        Of the second experiment, only the runs that were scored with UNK allowed are used.
        """
        statement = f"{_title(first)} scores higher than {_title(second)} with UNK allowed"
        results = self.store.find(second, self.recipe)
        num_own = len(results.with_own_decoding(results.datasets[0]).runs) if results else 0
        if results and not num_own:
            missing = f"{_title(second)} was not scored with UNK allowed"
            return Evidence(statement=statement, ours=missing)
        seeds = f"; seeds of the second with UNK allowed: {num_own}"
        return self._judge(statement, (first, second), use_own_decoding=True, after=seeds)

    def between(self, first: str, second: str, low: float, high: float, statement: str) -> Evidence:
        """Test whether the difference of two experiments is between two bounds, in points.

        `statement` has the form "{} is at most 0.5 points below {}".
        """
        statement = statement.format(_title(first), _title(second))
        return self._judge(statement, (first, second), low=low, high=high)

    def larger_loss(self, *names: str) -> Evidence:
        """Test whether a smaller vocabulary costs more without copying than with it.

        `names` are the experiments with a large and a small vocabulary, first without copying.
        """
        statement = "From 69K to 2K a model loses more without copying than with it"
        without_copying, with_copying = self._effect(names[:2]), self._effect(names[2:])
        losses = ""
        if without_copying is not None and with_copying is not None:
            losses = (
                f"it loses {100 * without_copying.difference:.2f} without copying, "
                f"{100 * with_copying.difference:.2f} with it: "
            )
        return self._judge(statement, names, before=losses)

    def higher_on_duc(self, first: str, second: str) -> Evidence:
        """Test whether an experiment has a higher recall by the DUC protocol than a second one.

        The data set is the first that both were scored on by recall.
        """
        statement = f"{_title(first)} has a higher recall than {_title(second)}"
        datasets = set(self._datasets(first, "recall"))
        dataset = next(
            (name for name in self._datasets(second, "recall") if name in datasets), None
        )
        if dataset is None:
            missing = "a row, or a data set with several references, is missing"
            return Evidence(statement=statement, ours=missing)
        comparison = ""
        results = self.store.find(second, self.recipe)
        paper_score = _paper_scores("table2").get(second)
        if results and paper_score:
            score = results.scores(dataset)["rouge-1"].value
            comparison = (
                f"; {_title(second)} has {score:.1f} here and {paper_score:.1f} in the paper"
            )
        return self._judge(
            statement, (first, second), dataset, after=comparison, tables=("table2",)
        )

    def higher_elsewhere(self, first: str, second: str) -> Evidence:
        """Test whether an experiment scores higher on the second data set that is scored by F1."""
        statement = f"{_title(first)} scores higher than {_title(second)}"
        datasets = self._datasets(second, "f1")
        if len(datasets) < 2:
            missing = "a row, or a second data set that is scored by F1, is missing"
            return Evidence(statement=f"{statement} on another corpus", ours=missing)
        statement += f" on {datasets[1]}"
        return self._judge(statement, (first, second), datasets[1], tables=())

    def lower_loss(self, first: str, second: str) -> Evidence:
        """Test whether an experiment has a lower loss on the selection split than a second one.

        The interval is that of Welch's t-test over the seeds, so it is not over texts.
        """
        statement = f"{_title(first)} has a lower loss on the selection split than {_title(second)}"
        losses = [
            [run.training["best"]["dev_loss"] for run in results.runs if run.training["best"]]
            for name in (first, second)
            if (results := self.store.find(name, self.recipe)) is not None
        ]
        has_two_seeds = len(losses) == 2 and min(map(len, losses)) >= 2
        if self.recipe != "converged" or not has_two_seeds:
            return Evidence(statement=statement, ours="fewer than two seeds")
        first_losses, second_losses = losses
        difference = mean(first_losses) - mean(second_losses)
        margin = welch_margin(
            [(variance(sample) / len(sample), len(sample) - 1) for sample in losses]
        )
        low, high = difference - margin, difference + margin
        effect = f"{difference:+.3f} ({low:+.3f} to {high:+.3f}) nats per word"
        return Evidence(
            statement=statement,
            ours=f"{effect}; {self._describe_runs((first, second))}",
            verdict=_verdict(is_supported=high < 0, is_contradicted=low > 0),
            recipe=self.recipe,
        )

    def weigh_more(self, name: str, word_class: str) -> Evidence:
        """Test whether a class of words has larger importance weights than function words."""
        statement = (
            f"{_title(name)}: {_WORD_CLASS_TITLES[word_class]} weigh more than function words"
        )
        results = self.store.find(name, self.recipe)
        differences = [
            run.importance[f"{word_class}_over_function"]
            for run in (results.runs if results else ())
            if run.importance
        ]
        if not differences:
            return Evidence(statement=statement, ours=_ROW_IS_MISSING)
        first = differences[0]
        if not first["texts"]:
            return Evidence(statement=statement, ours="no text has words of both kinds")
        text = (
            f"by {first['mean']:+.3f} ({first['low']:+.3f} to {first['high']:+.3f}), positive in "
            f"{100 * first['positive_share']:.0f}% of {first['texts']:,} texts"
        )
        if len(differences) > 1:
            means = (f"{difference['mean']:+.3f}" for difference in differences)
            text += f"; by seed {', '.join(means)}"
        # A few texts can determine the sign of a mean, so most texts must have this sign, too.
        limit = _MIN_WEIGHT_DIFFERENCE
        verdict = _verdict(
            is_supported=all(
                difference["low"] > limit and difference["positive_share"] >= 0.5
                for difference in differences
            ),
            is_contradicted=all(
                difference["high"] < -limit and difference["positive_share"] <= 0.5
                for difference in differences
            ),
        )
        return Evidence(statement=statement, ours=text, verdict=verdict, recipe=self.recipe)

    def faster(self, row: str) -> Evidence:
        """Test whether decoding time decreases with the vocabulary size.

        `row` is the name of a system of Table 4 without the vocabulary size.
        """
        copying = "with copying" if row.endswith("_copy") else "without copying"
        statement = f"Decoding time decreases with every smaller vocabulary, {copying}"
        if self.timing is None:
            return Evidence(statement=statement, ours="not timed")
        times = milliseconds(self.timing, row, "int8", batch_size=1)
        values = list(times.values())
        [paper_seconds] = [
            paper_row.seconds for paper_row in paper_table("table4") if paper_row.experiment == row
        ]
        text = ", ".join(f"{size} {ms:.1f} ms" for size, ms in times.items())
        return Evidence(
            statement=statement,
            paper=f"69K / 2K = {paper_seconds['69K'] / paper_seconds['2K']:.2f}",
            ours=f"{text}; 69K / 2K = {values[-1] / values[0]:.2f}",
            verdict=_verdict(
                is_supported=values == sorted(values), is_contradicted=values[-1] <= values[0]
            ),
        )

    def _datasets(self, name: str, figure: str) -> list[str]:
        """Return the data sets on which an experiment was scored by recall or F1."""
        results = self.store.find(name, self.recipe)
        if results is None:
            return []
        return [dataset for dataset in results.datasets if results.on(dataset)[0].figure == figure]

    def _effect(
        self, names: Sequence[str], dataset: str | None = None, *, use_own_decoding: bool = False
    ) -> Effect | None:
        """Return the difference in ROUGE-1, see `ResultStore.contrast`; None without results."""
        effects = self.store.contrast(
            tuple(names), self.recipe, dataset, use_own_decoding=use_own_decoding
        )
        return None if effects is None else effects["rouge-1"]

    def _judge(
        self,
        statement: str,
        names: Sequence[str],
        dataset: str | None = None,
        *,
        use_own_decoding: bool = False,
        low: float = 0.0,
        high: float = math.inf,
        before: str = "",
        after: str = "",
        tables: Sequence[str] = ("table1", "table3"),
    ) -> Evidence:
        """Judge a statement by the confidence interval of a difference between experiments.

        The statement is supported if the whole interval is between `low` and `high`, in points, and
        contradicted if the whole interval is outside. `before` and `after` are texts around our
        effect. The paper's effect is the one in the first of `tables` that has all experiments.
        """
        paper = _paper_effect(names, tables)
        effect = self._effect(names, dataset, use_own_decoding=use_own_decoding)
        if effect is None:
            return Evidence(statement=statement, paper=paper, ours=_ROW_IS_MISSING)
        effect_low, effect_high = 100 * effect.low, 100 * effect.high
        return Evidence(
            statement=statement,
            paper=paper,
            ours=f"{before}{effect}; {self._describe_runs(names)}{after}",
            verdict=_verdict(
                is_supported=low < effect_low and effect_high < high,
                is_contradicted=effect_high < low or effect_low > high,
            ),
            recipe=self.recipe,
        )

    def _describe_runs(self, names: Sequence[str]) -> str:
        """Return the number of seeds, and how many runs had not converged."""
        all_results = [results for name in names if (results := self.store.find(name, self.recipe))]
        text = f"seeds: {', '.join(str(len(results.runs)) for results in all_results)}"
        if self.recipe == "converged":
            num_unconverged = sum(
                run.training.get("ended_by", "patience") != "patience"
                for results in all_results
                for run in results.runs
            )
            if num_unconverged:
                text += f"; {num_unconverged} of the runs had not converged"
        return text


def _verdict(*, is_supported: bool, is_contradicted: bool) -> Verdict:
    if is_supported:
        return "supported"
    return "contradicted" if is_contradicted else "too small to tell"


def _title(name: str) -> str:
    return EXPERIMENTS[name].title


def _paper_scores(table: str) -> dict[str, float]:
    """Return the ROUGE-1 of the paper by experiment."""
    return {row.experiment: row.rouge[0] for row in paper_table(table) if row.rouge}


def _paper_effect(names: Sequence[str], tables: Sequence[str]) -> str:
    """Return the difference between experiments in the first table that has all of them."""
    for table in tables:
        scores = _paper_scores(table)
        if all(name in scores for name in names):
            terms = zip(names, FACTORS, strict=False)
            return f"{sum(factor * scores[name] for name, factor in terms):+.2f}"
    return NO_VALUE
