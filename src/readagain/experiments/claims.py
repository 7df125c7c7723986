"""Claims of the paper, each with its tests and a verdict.

A test is a method of `_Tests`, which `catalog.toml` names together with its arguments. Most tests
are a difference of ROUGE-1 between experiments and the bounds within which it supports the claim.
"""

import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from statistics import mean, variance
from typing import Any, Literal

from readagain.experiments.catalog import CLAIMS, EXPERIMENTS, UNTRAINED, paper_table
from readagain.experiments.results import milliseconds
from readagain.experiments.store import Effect, ResultStore, t_quantile
from readagain.experiments.table import markdown_table

Verdict = Literal["supported", "contradicted", "too small to tell", "not measured"]

MIN_WEIGHT_DIFFERENCE = 0.01
"""Minimum difference between two mean weights, which are from 0 to 1, to support a claim."""
_WORDS = {"content": "content words", "noun": "nouns", "verb": "verbs"}
_NO_VALUE = "none"
_MISSING = "one of the rows is missing"


@dataclass(frozen=True, kw_only=True)
class Evidence:
    """One test of a claim with the results of one recipe.

    Args:
        statement: what was tested.
        paper: the effect in the paper, in points of ROUGE-1.
        ours: our effect with its interval, and the seeds.
        recipe: the recipe; empty if the test does not depend on training.
    """

    statement: str
    paper: str = _NO_VALUE
    ours: str
    verdict: Verdict = "not measured"
    recipe: str = ""

    @property
    def is_short(self) -> bool:
        """Whether the recipe does not train to convergence."""
        return self.recipe not in ("", UNTRAINED, "converged")


@dataclass(frozen=True)
class Claim:
    """A claim of the paper, or a control of ours, with its evidence.

    Args:
        tests: for each test its evidence by recipe, the decisive one first.
    """

    name: str
    text: str
    tests: Sequence[Sequence[Evidence]]

    @property
    def verdict(self) -> str:
        """The verdict of the tests that were run, in Markdown; apart for each recipe that decided.

        Several tests with different verdicts are counted.
        """
        deciding = [evidence[0] for evidence in self.tests]
        verdicts = [_combine(each for each in deciding if not each.is_short)]
        for recipe in dict.fromkeys(each.recipe for each in deciding if each.is_short):
            combined = _combine(each for each in deciding if each.recipe == recipe)
            verdicts.append(f"{combined} after the short training of recipe `{recipe}`")
        return "; ".join(filter(None, verdicts)) or "not measured"


def _combine(evidence: Iterable[Evidence]) -> str:
    counts = Counter(each.verdict for each in evidence)
    del counts["not measured"]
    if len(counts) == 1:
        return f"**{next(iter(counts))}**"
    return ", ".join(f"{count} **{verdict}**" for verdict, count in counts.most_common())


class _Tests:
    """Tests of statements about the results of one recipe."""

    def __init__(self, store: ResultStore, timing: Mapping[str, Any] | None, recipe: str) -> None:
        self.store = store
        self.timing = timing
        self.recipe = recipe

    def higher(self, first: str, second: str) -> Evidence:
        """Test whether an experiment scores higher than another."""
        statement = f"{_title(first)} scores higher than {_title(second)}"
        return self._judge(statement, (first, second), self._difference(first, second))

    def higher_with_unk(self, first: str, second: str) -> Evidence:
        """Test whether an experiment that copies scores higher than one that may generate UNK."""
        statement = f"{_title(first)} scores higher than {_title(second)} with UNK allowed"
        other = self.store.find(second, self.recipe)
        has_unk = other is not None and all(each.own for each in other.on(other.datasets[0]))
        effect = self._difference(first, second, is_own=True) if has_unk else None
        return self._judge(statement, (first, second), effect)

    def between(self, first: str, second: str, low: float, high: float, statement: str) -> Evidence:
        """Test whether the difference of two experiments is between two bounds, in points."""
        statement = statement.format(_title(first), _title(second))
        effect = self._difference(first, second)
        return self._judge(statement, (first, second), effect, low=low, high=high)

    def larger_loss(self, *names: str) -> Evidence:
        """Test whether a smaller vocabulary costs more without copying than with it.

        The names are the large and small vocabulary without copying, then with copying.
        """
        statement = "From 69K to 2K a model loses more without copying than with it"
        plain, copying = (self._difference(*names[k : k + 2]) for k in (0, 2))
        losses = ""
        if plain is not None and copying is not None:
            losses = (
                f"it loses {100 * plain.difference:.2f} without copying, "
                f"{100 * copying.difference:.2f} with it: "
            )
        return self._judge(statement, names, self._difference(*names), before=losses)

    def higher_on_duc(self, first: str, second: str) -> Evidence:
        """Test whether an experiment has a higher recall by the DUC protocol than another."""
        statement = f"{_title(first)} has a higher recall than {_title(second)}"
        other = self.store.find(second, self.recipe)
        for dataset in other.datasets if other else ():
            effect = self._difference(first, second, dataset=dataset)
            if effect is None or not other or other.on(dataset)[0].figure != "recall":
                continue
            in_paper = _paper_scores("table2").get(second)
            score = other.scores(dataset)["rouge-1"].value
            after = f"; {_title(second)} has {score:.1f} here and {in_paper:.1f} in the paper"
            return self._judge(
                statement, (first, second), effect, after=after if in_paper else "", table="table2"
            )
        missing = "a row, or a data set with several references, is missing"
        return Evidence(statement=statement, ours=missing)

    def lower_loss(self, first: str, second: str) -> Evidence:
        """Test whether an experiment has a lower selection loss than another, over seeds."""
        statement = f"{_title(first)} has a lower loss on the selection split than {_title(second)}"
        losses = [
            [run.training["best"]["dev_loss"] for run in results.runs if run.training["best"]]
            for name in (first, second)
            if (results := self.store.find(name, self.recipe)) is not None
        ]
        has_seeds = len(losses) == 2 and min(map(len, losses)) >= 2
        if self.recipe != "converged" or not has_seeds:
            return Evidence(statement=statement, ours="fewer than two seeds")
        dof = sum(map(len, losses)) - 2
        pooled = sum(variance(each) * (len(each) - 1) for each in losses) / dof
        margin = t_quantile(dof) * math.sqrt(pooled * sum(1 / len(each) for each in losses))
        difference = mean(losses[0]) - mean(losses[1])
        low, high = difference - margin, difference + margin
        effect = f"{difference:+.3f} ({low:+.3f} to {high:+.3f}) nats per word"
        return Evidence(
            statement=statement,
            ours=f"{effect}; {self._runs((first, second))}",
            verdict=_verdict(high < 0, low > 0),
            recipe=self.recipe,
        )

    def weigh_more(self, name: str, words: str) -> Evidence:
        """Test whether a class of words has larger importance weights than function words."""
        statement = f"{_title(name)}: {_WORDS[words]} weigh more than function words"
        results = self.store.find(name, self.recipe)
        measured = [each.importance or {} for each in results.runs] if results else []
        key = f"{words}_over_function"
        differences = [each[key] for each in measured if key in each]
        if not differences:
            return Evidence(statement=statement, ours=_MISSING)
        first = differences[0]
        if not first["texts"]:
            return Evidence(statement=statement, ours="no text has words of both kinds")
        text = (
            f"by {first['mean']:+.3f} ({first['low']:+.3f} to {first['high']:+.3f}), positive in "
            f"{100 * first['positive_share']:.0f}% of {first['texts']:,} texts"
        )
        if len(differences) > 1:
            means = (f"{each['mean']:+.3f}" for each in differences)
            text += f"; by seed {', '.join(means)}"
        # A few texts can determine the sign of a mean, so most texts must agree with it, too.
        limit = MIN_WEIGHT_DIFFERENCE
        verdict = _verdict(
            all(each["low"] > limit and each["positive_share"] >= 0.5 for each in differences),
            all(each["high"] < -limit and each["positive_share"] <= 0.5 for each in differences),
        )
        return Evidence(statement=statement, ours=text, verdict=verdict, recipe=self.recipe)

    def faster(self, row: str) -> Evidence:
        """Test whether decoding time decreases with the vocabulary size."""
        copying = "with copying" if row.endswith("_copy") else "without copying"
        statement = f"Decoding time decreases with every smaller vocabulary, {copying}"
        if self.timing is None:
            return Evidence(statement=statement, ours="not timed")
        times = milliseconds(self.timing, row, "int8", 1)
        values = list(times.values())
        [in_paper] = [each.seconds for each in paper_table("table4") if each.experiment == row]
        text = ", ".join(f"{size} {ms:.1f} ms" for size, ms in times.items())
        return Evidence(
            statement=statement,
            paper=f"69K / 2K = {in_paper['69K'] / in_paper['2K']:.2f}",
            ours=f"{text}; 69K / 2K = {values[-1] / values[0]:.2f}",
            verdict=_verdict(values == sorted(values), values[-1] <= values[0]),
        )

    def _difference(
        self, *names: str, dataset: str | None = None, is_own: bool = False
    ) -> Effect | None:
        """Return the ROUGE-1 of the first experiment minus the second; None if one is missing.

        With four experiments it is the difference of two such differences.
        """
        terms = tuple(zip(names, (1, -1, -1, 1), strict=False))
        effects = self.store.contrast(terms, self.recipe, dataset, is_own=is_own)
        return None if effects is None else effects["rouge-1"]

    def _judge(
        self,
        statement: str,
        names: Sequence[str],
        effect: Effect | None,
        *,
        low: float = 0.0,
        high: float = math.inf,
        before: str = "",
        after: str = "",
        table: str | None = None,
    ) -> Evidence:
        """Judge an effect by its confidence interval.

        The statement is supported if the whole interval is between the bounds, in points, and
        contradicted if the whole interval is outside. `before` and `after` are added to the effect.
        """
        paper = _paper_effect(names, table)
        if effect is None:
            return Evidence(statement=statement, paper=paper, ours=_MISSING)
        lower, upper = 100 * effect.low, 100 * effect.high
        return Evidence(
            statement=statement,
            paper=paper,
            ours=f"{before}{effect}; {self._runs(names)}{after}",
            verdict=_verdict(low < lower and upper < high, upper < low or lower > high),
            recipe=self.recipe,
        )

    def _runs(self, names: Sequence[str]) -> str:
        """Return the number of seeds, and how many runs had not converged."""
        by_name = [each for name in names if (each := self.store.find(name, self.recipe))]
        text = f"seeds: {', '.join(str(len(each.runs)) for each in by_name)}"
        if self.recipe == "converged":
            runs = [result for each in by_name for result in each.runs]
            stopped = sum(each.training.get("ended_by", "patience") != "patience" for each in runs)
            text += f"; {stopped} of the runs had not converged" if stopped else ""
        return text


def _verdict(is_supported: bool, is_contradicted: bool) -> Verdict:
    if is_supported:
        return "supported"
    return "contradicted" if is_contradicted else "too small to tell"


def _title(name: str) -> str:
    return EXPERIMENTS[name].title


def _paper_scores(table: str) -> dict[str, float]:
    """Return the ROUGE-1 of the paper by experiment."""
    return {row.experiment: row.rouge[0] for row in paper_table(table) if row.rouge}


def _paper_effect(names: Sequence[str], table: str | None) -> str:
    """Return the effect of `_Tests._difference` in a table of the paper, or in Tables 1 and 3."""
    for each in (table,) if table else ("table1", "table3"):
        scores = _paper_scores(each)
        if all(name in scores for name in names):
            signs = zip(names, (1, -1, -1, 1), strict=False)
            return f"{sum(sign * scores[name] for name, sign in signs):+.2f}"
    return _NO_VALUE


def judge_claims(store: ResultStore, timing: Mapping[str, Any] | None) -> list[Claim]:
    """Return every claim, tested on the results of every recipe.

    The first recipe in which all experiments of a test were run decides. A test that was not run
    with any recipe has one evidence, which says what is missing.
    """
    by_recipe = [_Tests(store, timing, recipe) for recipe in store.recipes]
    claims = []
    for claim in CLAIMS:
        tests = []
        for kind, *arguments in claim["tests"]:
            evidence = [getattr(each, kind)(*arguments) for each in by_recipe]
            measured = [each for each in evidence if each.verdict != "not measured"]
            # A test that does not depend on training has the same evidence for all recipes.
            tests.append(list(dict.fromkeys(measured)) or evidence[:1])
        claims.append(Claim(claim["name"], claim["text"], tests))
    return claims


def claims_markdown(claims: Sequence[Claim]) -> str:
    """Return the verdicts as a table, then the evidence of each measured claim."""
    verdicts, parts = [], []
    for claim in claims:
        num_run = sum(evidence[0].verdict != "not measured" for evidence in claim.tests)
        verdicts.append((claim.text, claim.verdict, f"{num_run} of {len(claim.tests)}"))
        if not num_run:
            continue
        rows = []
        for evidence in claim.tests:
            for each in evidence:
                recipe = _NO_VALUE if each.recipe in ("", UNTRAINED) else each.recipe
                decides = each is evidence[0] and each.verdict != "not measured"
                verdict = f"**{each.verdict}**" if decides else each.verdict
                rows.append((each.statement, recipe, each.paper, each.ours, verdict))
        table = markdown_table(("test", "recipe", "paper", "ours", "verdict"), rows)
        parts += [f"### {claim.name}", claim.text, table]
    summary = markdown_table(("claim", "verdict", "tests run"), verdicts)
    return "\n\n".join([summary, *parts]) + "\n"
