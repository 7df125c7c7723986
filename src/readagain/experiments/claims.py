"""Claims of the paper, each with its tests and a verdict."""

import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
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
    verdict: Verdict
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
        short = dict.fromkeys(each.recipe for each in deciding if each.is_short)
        found = [_combine(each for each in deciding if not each.is_short)]
        for recipe in short:
            combined = _combine(each for each in deciding if each.recipe == recipe)
            found.append(f"{combined} after the short training of recipe `{recipe}`")
        return "; ".join(filter(None, found)) or "not measured"


def _combine(evidence: Iterable[Evidence]) -> str:
    found = Counter(each.verdict for each in evidence)
    del found["not measured"]
    if len(found) == 1:
        return f"**{next(iter(found))}**"
    return ", ".join(f"{count} **{verdict}**" for verdict, count in found.most_common())


class _Tests:
    """Tests of statements about the results of one recipe, called by name from `catalog.toml`."""

    def __init__(self, store: ResultStore, timing: Mapping[str, Any] | None, recipe: str) -> None:
        self.store = store
        self.timing = timing
        self.recipe = recipe

    def higher(self, first: str, second: str) -> Evidence:
        """Test whether an experiment scores higher than another."""
        statement = f"{_title(first)} scores higher than {_title(second)}"
        return self._judge(statement, (first, second), self._compare(first, second))

    def higher_with_unk(self, first: str, second: str) -> Evidence:
        """Test whether an experiment that copies scores higher than one that may generate UNK."""
        statement = f"{_title(first)} scores higher than {_title(second)} with UNK allowed"
        other = self.store.find(second, self.recipe)
        effects = None
        if other is not None and all(each.own for each in other.on(other.datasets[0])):
            terms = ((first, 1), (second, -1))
            effects = self.store.contrast(terms, self.recipe, is_own=True)
        found = None if effects is None else effects["rouge-1"]
        return self._judge(statement, (first, second), found)

    def lower_loss(self, first: str, second: str) -> Evidence:
        """Test whether an experiment has a lower selection loss than another, over seeds."""
        statement = f"{_title(first)} has a lower loss on the selection split than {_title(second)}"
        found = [self.store.find(name, self.recipe) for name in (first, second)]
        losses = [
            [run.training["best"]["dev_loss"] for run in each.results if run.training["best"]]
            for each in found
            if each is not None
        ]
        has_seeds = len(losses) == 2 and min(map(len, losses)) >= 2
        if self.recipe != "converged" or not has_seeds:
            return Evidence(
                statement=statement, ours="fewer than two seeds", verdict="not measured"
            )
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

    def between(self, first: str, second: str, low: float, high: float, statement: str) -> Evidence:
        """Test whether the difference of two experiments is between two bounds, in points.

        The statement is supported if the whole confidence interval is between the bounds, and
        contradicted if the whole interval is outside.
        """
        statement = statement.format(_title(first), _title(second))
        found = self._compare(first, second)
        evidence = self._judge(statement, (first, second), found)
        if found is None:
            return evidence
        is_inside = low < 100 * found.low and 100 * found.high < high
        is_outside = 100 * found.high < low or 100 * found.low > high
        return replace(evidence, verdict=_verdict(is_inside, is_outside))

    def larger_loss(self, *names: str) -> Evidence:
        """Test whether a smaller vocabulary costs more without copying than with it.

        The names are the large and small vocabulary without copying, then with copying.
        """
        statement = "From 69K to 2K a model loses more without copying than with it"
        terms = tuple(zip(names, (1, -1, -1, 1), strict=True))
        effects = self.store.contrast(terms, self.recipe)
        plain, copying = (self._compare(*names[k : k + 2]) for k in (0, 2))
        evidence = self._judge(statement, names, None if effects is None else effects["rouge-1"])
        if effects is None or plain is None or copying is None:
            return evidence
        losses = (
            f"it loses {100 * plain.difference:.2f} without copying, "
            f"{100 * copying.difference:.2f} with it: "
        )
        return replace(evidence, ours=losses + evidence.ours)

    def higher_on_duc(self, first: str, second: str) -> Evidence:
        """Test whether an experiment has a higher recall by the DUC protocol than another."""
        statement = f"{_title(first)} has a higher recall than {_title(second)}"
        found, other = (self.store.find(name, self.recipe) for name in (first, second))
        for name in found.datasets if found else ():
            compared = self.store.compare(first, second, self.recipe, name)
            if compared is None or not found or not other or found.on(name)[0].figure != "recall":
                continue
            evidence = self._judge(statement, (first, second), compared["rouge-1"], "table2")
            printed = _paper_scores("table2").get(second)
            if printed is None:
                return evidence
            value = other.scores(name)["rouge-1"].value
            rival = f"; {_title(second)} has {value:.1f} here and {printed:.1f} in the paper"
            return replace(evidence, ours=evidence.ours + rival)
        return Evidence(
            statement=statement,
            ours="a row, or a data set with several references, is missing",
            verdict="not measured",
        )

    def weigh_more(self, name: str, words: str) -> Evidence:
        """Test whether a class of words has larger importance weights than function words."""
        statement = f"{_title(name)}: {_WORDS[words]} weigh more than function words"
        found = self.store.find(name, self.recipe)
        measured = [each.importance or {} for each in found.results] if found else []
        key = f"{words}_over_function"
        differences = [each[key] for each in measured if key in each]
        if not differences or not differences[0]["texts"]:
            missing = "no text has words of both kinds" if differences else _MISSING
            return Evidence(statement=statement, ours=missing, verdict="not measured")
        first = differences[0]
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
            return Evidence(statement=statement, ours="not timed", verdict="not measured")
        times = milliseconds(self.timing, row, "int8", 1)
        values = list(times.values())
        text = ", ".join(f"{size} {ms:.1f} ms" for size, ms in times.items())
        return Evidence(
            statement=statement,
            paper=_paper_ratio(row),
            ours=f"{text}; 69K / 2K = {values[-1] / values[0]:.2f}",
            verdict=_verdict(values == sorted(values), values[-1] <= values[0]),
        )

    def _compare(self, first: str, second: str) -> Effect | None:
        found = self.store.compare(first, second, self.recipe)
        return None if found is None else found["rouge-1"]

    def _judge(
        self, statement: str, names: Sequence[str], found: Effect | None, table: str | None = None
    ) -> Evidence:
        """Judge a difference by its sign; `names` are the experiments, the first two compared."""
        paper = _paper_effect(names, table)
        if found is None:
            return Evidence(
                statement=statement,
                paper=paper,
                ours=_MISSING,
                verdict="not measured",
            )
        return Evidence(
            statement=statement,
            paper=paper,
            ours=f"{found}; {self._runs(names)}",
            verdict=_verdict(found.direction > 0, found.direction < 0),
            recipe=self.recipe,
        )

    def _runs(self, names: Sequence[str]) -> str:
        """Return the number of seeds, and how many runs had not converged."""
        found = [each for name in names if (each := self.store.find(name, self.recipe))]
        text = f"seeds: {', '.join(str(len(each.results)) for each in found)}"
        runs = [result for each in found for result in each.results]
        if self.recipe == "converged":
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


def _paper_effect(names: Sequence[str], table: str | None = None) -> str:
    """Return the difference of two experiments in the paper, or of two differences."""
    for each in (table,) if table else ("table1", "table3"):
        printed = _paper_scores(each)
        if all(name in printed for name in names):
            scores = [printed[name] for name in names]
            if len(scores) == 2:
                return f"{scores[0] - scores[1]:+.2f}"
            return f"{scores[0] - scores[1] - scores[2] + scores[3]:+.2f}"
    return _NO_VALUE


def _paper_ratio(row: str) -> str:
    for paper in paper_table("table4"):
        if paper.experiment == row:
            times = list(paper.seconds.values())
            return f"69K / 2K = {times[-1] / times[0]:.2f}"
    return _NO_VALUE


def judge_claims(store: ResultStore, timing: Mapping[str, Any] | None) -> list[Claim]:
    """Return every claim, tested on the results of every recipe.

    The first recipe in which all experiments of a test were run decides.
    """
    tests = [_Tests(store, timing, recipe) for recipe in store.recipes]
    return [
        Claim(
            claim["name"],
            claim["text"],
            [_evidence(tests, kind, arguments) for kind, *arguments in claim["tests"]],
        )
        for claim in CLAIMS
    ]


def _evidence(tests: Sequence[_Tests], kind: str, arguments: Sequence[Any]) -> list[Evidence]:
    """Return the evidence of each recipe that has some, or one that says what is missing."""
    found = [getattr(each, kind)(*arguments) for each in tests]
    measured = [each for each in found if each.verdict != "not measured"]
    # A test that does not depend on training has the same evidence for all recipes.
    return list(dict.fromkeys(measured)) or found[:1]


def claims_markdown(claims: Sequence[Claim], *, level: int = 2) -> str:
    """Return the verdicts as a table, then the evidence of each measured claim."""
    rows = [(claim.text, claim.verdict, _tests_run(claim)) for claim in claims]
    parts = [markdown_table(("claim", "verdict", "tests run"), rows)]
    columns = ("test", "recipe", "paper", "ours", "verdict")
    for claim in claims:
        if claim.verdict != "not measured":
            evidence = [
                (each.statement, _recipe(each), each.paper, each.ours, _shown(each, of_test[0]))
                for of_test in claim.tests
                for each in of_test
            ]
            table = markdown_table(columns, evidence)
            parts += [f"{'#' * (level + 1)} {claim.name}", claim.text, table]
    return "\n\n".join(parts) + "\n"


def _shown(evidence: Evidence, decisive: Evidence) -> str:
    is_decisive = evidence is decisive and evidence.verdict != "not measured"
    return f"**{evidence.verdict}**" if is_decisive else evidence.verdict


def _recipe(evidence: Evidence) -> str:
    return _NO_VALUE if evidence.recipe in ("", UNTRAINED) else evidence.recipe


def _tests_run(claim: Claim) -> str:
    num_run = sum(evidence[0].verdict != "not measured" for evidence in claim.tests)
    return f"{num_run} of {len(claim.tests)}"
