"""The results at hand, by row and recipe: seeds averaged, compared item by item."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from readagain.errors import DataError
from readagain.experiments.plan import UNTRAINED
from readagain.experiments.results import MEASURES, ExperimentResult, Scores, SetResult
from readagain.rouge.significance import Comparison, compare_scores

SIGNIFICANT = 0.05
_RESAMPLES = 1000
_SAMPLES = 1000


@dataclass(frozen=True)
class Figure:
    """A figure in per cent, its 95% interval, and whether it differs from what it is held against.

    `mark` is ▲ where it is significantly higher, ▼ where lower, and empty otherwise.
    """

    value: float
    low: float
    high: float
    mark: str = ""

    def __str__(self) -> str:
        return f"{self.value:.2f}{self.mark} ({self.low:.1f}–{self.high:.1f})"

    @property
    def reach(self) -> tuple[float, float]:
        """How far the interval reaches below and above the value, for bars of error."""
        return max(self.value - self.low, 0.0), max(self.high - self.value, 0.0)


@dataclass(frozen=True)
class ComparedResults:
    """One row minus another: tested over texts, and seed by seed.

    Tests over texts know nothing of the luck of a seed. So a difference counts only where every
    pair of runs with the same seed agrees on its direction; what is not trained is held against
    every seed.
    """

    tested: Comparison
    by_seed: tuple[float, ...] = ()

    @property
    def p_value(self) -> float:
        """The larger one of the two tests' p-values."""
        return max(self.tested.p_bootstrap, self.tested.p_randomization)

    @property
    def direction(self) -> int:
        """1 where the first is significantly higher, -1 where lower, 0 where neither is sure."""
        if self.p_value >= SIGNIFICANT:
            return 0
        sign = 1 if self.tested.difference > 0 else -1
        return sign if all(sign * each > 0 for each in self.by_seed) else 0

    @property
    def mark(self) -> str:
        """The direction as a sign for tables."""
        return {1: "▲", -1: "▼", 0: ""}[self.direction]

    def __str__(self) -> str:
        tested = self.tested
        told = (
            f"{100 * tested.difference:+.2f} ROUGE-1 ({100 * tested.low:+.2f} to "
            f"{100 * tested.high:+.2f}), p = {self.p_value:.4f}"
        )
        if len(self.by_seed) < 2:
            return told
        return f"{told}; by seed {', '.join(f'{100 * each:+.2f}' for each in self.by_seed)}"


@dataclass(frozen=True)
class SeedResults:
    """A row under one recipe: its results, one for each seed."""

    results: Sequence[ExperimentResult]

    @property
    def sets(self) -> list[str]:
        """The dev sets that all its seeds were scored on; the first is that of its corpus."""
        first, *others = (list(result.sets) for result in self.results)
        return [name for name in first if all(name in names for names in others)]

    @property
    def minutes(self) -> float | None:
        """Minutes of training, on average; None for a system that is not trained."""
        minutes = [result.training["minutes"] for result in self.results if result.training]
        return float(np.mean(minutes)) if minutes else None

    def of(self, name: str) -> list[SetResult]:
        """Return the scores on one set, seed by seed."""
        return [result.sets[name] for result in self.results]

    @property
    def seeds(self) -> set[int]:
        """The seeds it was trained with; none for a system that is not trained."""
        return {result.seed for result in self.results if result.training}

    def items(self, name: str, *, seed: int | None = None) -> Scores:
        """Return the (items, 3) scores on a set: those of a seed, or the mean over all.

        A system that is not trained has the same ones whatever the seed.
        """
        results = self.results
        if seed is not None and self.seeds:
            results = [each for each in results if each.seed == seed]
        items: Scores = np.mean([each.sets[name].items() for each in results], axis=0)
        return items

    def figures(self, name: str) -> dict[str, Figure]:
        """Return ROUGE-1, -2 and -L on a set.

        One seed has the figures that `readagain evaluate` prints. Of several seeds the mean is
        taken, and the interval by resampling items.
        """
        found = self.of(name)
        values = np.array([[each.rouge[measure] for measure in MEASURES] for each in found])
        low, high = values[0, :, 1], values[0, :, 2]
        if len(found) > 1:
            items = self.items(name)
            draws = np.random.default_rng(0).integers(len(items), size=(_RESAMPLES, len(items)))
            means = np.stack([items[draw].mean(axis=0) for draw in draws])
            low, high = np.percentile(means, [2.5, 97.5], axis=0)
        return {
            measure: Figure(100 * values[:, m, 0].mean(), 100 * low[m], 100 * high[m])
            for m, measure in enumerate(MEASURES)
        }


class ResultStore:
    """Every result, grouped.

    Args:
        results: of one scale; of several corpora only where rows need several.

    Raises:
        DataError: for results of different corpora or scales, which no table may mix.
    """

    def __init__(self, results: Iterable[ExperimentResult]) -> None:
        self.results = list(results)
        scales = {result.scale for result in self.results}
        if len(scales) > 1:
            raise DataError(
                f"results of the scales {' and '.join(sorted(scales))} lie in one folder; keep "
                "them apart"
            )
        self._entries: dict[tuple[str, str], SeedResults] = {}
        for result in self.results:
            key = (result.row, result.recipe)
            before = self._entries.get(key)
            self._entries[key] = SeedResults([*(before.results if before else []), result])
        _check_one_corpus(self._entries.values())
        self._compared: dict[tuple[str, str, str, str], dict[str, ComparedResults]] = {}

    @cached_property
    def recipes(self) -> list[str]:
        """The recipes that rows were trained by."""
        found = {result.recipe for result in self.results} - {UNTRAINED}
        return sorted(found) or [UNTRAINED]

    def entry(self, row: str, recipe: str) -> SeedResults | None:
        """Find a row; one that is not trained belongs to every recipe."""
        return self._entries.get((row, recipe)) or self._entries.get((row, UNTRAINED))

    def run_elsewhere(self, row: str, recipe: str) -> bool:
        """Say whether a row has been run by another recipe, but not by this one."""
        if self.entry(row, recipe) is not None:
            return False
        return any(self.entry(row, other) is not None for other in self.recipes)

    def compare(
        self, first: str, second: str, recipe: str, name: str | None = None
    ) -> dict[str, ComparedResults] | None:
        """Compare two rows on a set both were scored on; None where there is none.

        Args:
            first: the row whose scores count as positive.
            second: the row it is held against.
            recipe: how both were trained.
            name: of the set; the first that both have unless given.
        """
        one, other = self.entry(first, recipe), self.entry(second, recipe)
        if one is None or other is None:
            return None
        shared = [each for each in one.sets if each in other.sets]
        if not shared or (name is not None and name not in shared):
            return None
        chosen = shared[0] if name is None else name
        key = (first, second, recipe, chosen)
        if key not in self._compared:
            self._compared[key] = _compare(one, other, chosen)
        return self._compared[key]


def shared_seeds(entries: Iterable[SeedResults]) -> list[int]:
    """Return the seeds that all rows were trained with; those that are not trained fit any."""
    trained = [entry.seeds for entry in entries if entry.seeds]
    return sorted(set.intersection(*trained)) if trained else []


def _compare(one: SeedResults, other: SeedResults, name: str) -> dict[str, ComparedResults]:
    mine, theirs = one.items(name), other.items(name)
    by_seed = [
        (one.items(name, seed=seed) - other.items(name, seed=seed)).mean(axis=0)
        for seed in shared_seeds((one, other))
    ]
    return {
        measure: ComparedResults(
            compare_scores(mine[:, m], theirs[:, m], samples=_SAMPLES),
            tuple(float(differences[m]) for differences in by_seed),
        )
        for m, measure in enumerate(MEASURES)
    }


def _check_one_corpus(entries: Iterable[SeedResults]) -> None:
    fingerprints: dict[str, set[str]] = {}
    for entry in entries:
        for result in entry.results:
            for name, scored in result.sets.items():
                fingerprints.setdefault(name, set()).add(scored.fingerprint)
    for name, found in fingerprints.items():
        if len(found) > 1:
            raise DataError(
                f"the set '{name}' is not the same in all results ({len(found)} fingerprints); "
                "keep results of different data in different folders"
            )
