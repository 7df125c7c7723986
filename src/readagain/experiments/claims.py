"""Claims of the paper, each with its tests and a verdict."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from readagain.experiments.catalog import CLAIMS, EXPERIMENTS
from readagain.experiments.results import Scores, milliseconds
from readagain.experiments.store import ResultStore, SeedComparison, shared_seeds
from readagain.experiments.table import markdown_table

Verdict = Literal["supported", "partly supported", "not supported", "contradicted", "not measured"]

MIN_WEIGHT_DIFFERENCE = 0.01
"""Minimum difference between two mean weights, which are from 0 to 1, to support a claim."""
_WORDS = {"content": "content words", "noun": "nouns", "verb": "verbs"}


@dataclass(frozen=True)
class Evidence:
    """One test of a claim: the statement that was tested, the statistics, and the verdict."""

    statement: str
    statistics: str
    verdict: Verdict


@dataclass(frozen=True)
class Claim:
    """A claim of the paper, or a control of ours, with its evidence."""

    name: str
    text: str
    evidence: Sequence[Evidence]

    @property
    def verdict(self) -> Verdict:
        """Verdict over all evidence that was measured."""
        found = {each.verdict for each in self.evidence} - {"not measured"}
        if not found:
            return "not measured"
        if len(found) == 1:
            return found.pop()
        if "supported" in found or "partly supported" in found:
            return "partly supported"
        return "contradicted" if "contradicted" in found else "not supported"


class _Tests:
    """Tests of statements about the results of one recipe, called by name from `catalog.toml`."""

    def __init__(self, store: ResultStore, timing: Mapping[str, Any] | None, recipe: str) -> None:
        self.store = store
        self.timing = timing
        self.recipe = recipe

    def higher(self, first: str, second: str) -> Evidence:
        """Test whether an experiment scores higher than another."""
        statement = f"{_title(first)} scores higher than {_title(second)}"
        return _judge(statement, self._compare(first, second))

    def between(
        self, first: str, second: str, low: float, high: float, statement: str, note: str = ""
    ) -> Evidence:
        """Test whether the difference of two experiments is between two bounds, in points.

        The statement is supported if the whole confidence interval is between the bounds, and
        contradicted if the whole interval is outside.
        """
        statement = statement.format(_title(first), _title(second))
        found = self._compare(first, second)
        if found is None:
            return _judge(statement, None)
        is_inside = low < 100 * found.low and 100 * found.high < high
        is_outside = 100 * found.high < low or 100 * found.low > high
        return Evidence(statement, f"{found}{note}", _verdict(is_inside, is_outside))

    def larger_loss(self, *names: str) -> Evidence:
        """Test whether a smaller vocabulary costs more without copying than with it.

        The names are the large and small vocabulary without copying, then with copying.
        """
        statement = "From 69K to 2K a model loses more without copying than with it"
        found = [each for name in names if (each := self.store.find(name, self.recipe))]
        if len(found) < len(names):
            return _judge(statement, None)

        def losses(seed: int | None = None) -> tuple[Scores, Scores]:
            scores = [each.items(each.datasets[0], seed=seed)[:, 0] for each in found]
            return scores[0] - scores[1], scores[2] - scores[3]

        plain, copying = losses()
        by_seed = [(one - other).mean() for one, other in map(losses, shared_seeds(found))]
        compared = SeedComparison.of(plain, copying, by_seed, samples=10_000)
        text = (
            f"without copying it loses {100 * plain.mean():.2f}, with copying "
            f"{100 * copying.mean():.2f} points; "
        )
        return _judge(statement, compared, prefix=text)

    def higher_on_duc(self, first: str, second: str) -> Evidence:
        """Test whether an experiment has a higher recall by the DUC protocol than another."""
        statement = f"{_title(first)} has a higher recall than {_title(second)}"
        found = self.store.find(first, self.recipe)
        for name in found.datasets if found else ():
            compared = self.store.compare(first, second, self.recipe, name)
            if compared is not None and found and found.on(name)[0].figure == "recall":
                return _judge(statement, compared["rouge-1"], prefix=f"{name}: ")
        return Evidence(
            statement, "a row, or a data set with several references, is missing", "not measured"
        )

    def weigh_more(self, name: str, words: str) -> Evidence:
        """Test whether a class of words has larger importance weights than function words."""
        statement = f"{_title(name)}: {_WORDS[words]} weigh more than function words"
        found = self.store.find(name, self.recipe)
        measured = [each.importance or {} for each in found.results] if found else []
        key = f"{words}_over_function"
        differences = [each[key] for each in measured if key in each]
        if not differences:
            return Evidence(statement, "the row, or the measurement, is missing", "not measured")
        first = differences[0]
        if not first["texts"]:
            return Evidence(statement, "no text has words of both kinds", "not measured")
        text = (
            f"mean difference {first['mean']:+.3f} ({first['low']:+.3f} to {first['high']:+.3f}) "
            f"over {first['texts']:,} texts, positive in {100 * first['positive_share']:.0f}% of "
            "them"
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
        return Evidence(statement, text, verdict)

    def faster(self, row: str) -> Evidence:
        """Test whether decoding time decreases with the vocabulary size."""
        copying = "with copying" if row.endswith("_copy") else "without copying"
        statement = f"Decoding time decreases with the vocabulary size, {copying}"
        if self.timing is None:
            return Evidence(statement, "time was not measured", "not measured")
        times = milliseconds(self.timing, row, "int8", 1)
        values = list(times.values())
        ratio = values[-1] / values[0]
        verdict: Verdict = "supported" if values == sorted(values) else "partly supported"
        if ratio <= 1:
            verdict = "contradicted"
        text = ", ".join(f"{size} {ms:.1f} ms" for size, ms in times.items())
        return Evidence(statement, f"{text}; 69K / 2K = {ratio:.2f}", verdict)

    def _compare(self, first: str, second: str) -> SeedComparison | None:
        found = self.store.compare(first, second, self.recipe)
        return None if found is None else found["rouge-1"]


def _judge(statement: str, found: SeedComparison | None, *, prefix: str = "") -> Evidence:
    """Judge a difference by its sign."""
    if found is None:
        return Evidence(statement, "one of the rows is missing", "not measured")
    return Evidence(
        statement, f"{prefix}{found}", _verdict(found.direction > 0, found.direction < 0)
    )


def _verdict(is_supported: bool, is_contradicted: bool) -> Verdict:
    if is_supported:
        return "supported"
    return "contradicted" if is_contradicted else "not supported"


def _title(name: str) -> str:
    return EXPERIMENTS[name].title


def judge_claims(store: ResultStore, timing: Mapping[str, Any] | None, recipe: str) -> list[Claim]:
    """Return every claim, tested on the results of one recipe."""
    tests = _Tests(store, timing, recipe)
    return [
        Claim(
            claim["name"],
            claim["text"],
            [getattr(tests, kind)(*arguments) for kind, *arguments in claim["tests"]],
        )
        for claim in CLAIMS
    ]


def claims_markdown(claims: Sequence[Claim], *, level: int = 2) -> str:
    """Return the verdicts as a table, then the evidence of each measured claim."""
    rows = [(claim.text, f"**{claim.verdict}**{_tests_run(claim)}") for claim in claims]
    parts = [markdown_table(("claim", "verdict"), rows)]
    for claim in claims:
        if claim.verdict != "not measured":
            evidence = [(each.statement, each.statistics, each.verdict) for each in claim.evidence]
            table = markdown_table(("test", "statistics", "verdict"), evidence)
            parts += [f"{'#' * (level + 1)} {claim.name}", claim.text, table]
    return "\n\n".join(parts) + "\n"


def _tests_run(claim: Claim) -> str:
    num_run = sum(each.verdict != "not measured" for each in claim.evidence)
    is_complete = num_run in (0, len(claim.evidence))
    return "" if is_complete else f" by the {num_run} of {len(claim.evidence)} tests that were run"
