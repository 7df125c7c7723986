"""Results by experiment and recipe: averages over seeds and comparisons."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from functools import cache, cached_property

import numpy as np

from readagain.errors import DataError
from readagain.experiments.catalog import UNTRAINED
from readagain.experiments.results import MEASURES, DatasetResult, ExperimentResult, Scores
from readagain.rouge.corpus import Estimate
from readagain.rouge.significance import Comparison, compare_scores

SIGNIFICANT = 0.05
_SAMPLES = 1000


@dataclass(frozen=True, kw_only=True)
class SeedComparison(Comparison):
    """Difference between two experiments, tested over texts and checked for every seed.

    Tests over texts do not cover the variance between seeds. Therefore a difference is significant
    only if it has the same sign in all pairs of runs with the same seed. A baseline is compared
    with every seed.
    """

    by_seed: tuple[float, ...] = ()

    @classmethod
    def of(
        cls, first: Scores, second: Scores, by_seed: Iterable[float], *, samples: int = _SAMPLES
    ) -> "SeedComparison":
        """Compare (I,) scores of the same texts; `by_seed` are the differences of each seed."""
        tested = compare_scores(first, second, samples=samples)
        return cls(**vars(tested), by_seed=tuple(map(float, by_seed)))

    @property
    def p_value(self) -> float:
        """The larger p-value of the two tests."""
        return max(self.p_bootstrap, self.p_randomization)

    @property
    def direction(self) -> int:
        """1 if the first is significantly higher, -1 if lower, else 0."""
        if self.p_value >= SIGNIFICANT:
            return 0
        sign = 1 if self.difference > 0 else -1
        return sign if all(sign * each > 0 for each in self.by_seed) else 0

    @property
    def mark(self) -> str:
        """The direction as a mark in tables."""
        return {1: "▲", -1: "▼", 0: ""}[self.direction]

    def __str__(self) -> str:
        text = (
            f"{100 * self.difference:+.2f} ROUGE-1 ({100 * self.low:+.2f} to "
            f"{100 * self.high:+.2f}), p = {self.p_value:.4f}"
        )
        if len(self.by_seed) < 2:
            return text
        return f"{text}; by seed {', '.join(f'{100 * each:+.2f}' for each in self.by_seed)}"


@dataclass(frozen=True)
class SeedResults:
    """Results of one experiment with one recipe, one for each seed."""

    results: list[ExperimentResult] = field(default_factory=list)

    @property
    def datasets(self) -> list[str]:
        """Data sets that all seeds were scored on; the first is the dev split of the corpus."""
        first, *others = (list(result.sets) for result in self.results)
        return [name for name in first if all(name in names for names in others)]

    @property
    def minutes(self) -> float | None:
        """Mean training time; None for a baseline."""
        minutes = [result.training["minutes"] for result in self.results if result.training]
        return float(np.mean(minutes)) if minutes else None

    @property
    def seeds(self) -> set[int]:
        """Seeds of the training runs; empty for a baseline."""
        return {result.seed for result in self.results if result.training}

    def on(self, dataset: str) -> list[DatasetResult]:
        """Return the results on one data set, one for each seed."""
        return [result.sets[dataset] for result in self.results]

    def items(self, dataset: str, *, seed: int | None = None) -> Scores:
        """Return the (I, 3) scores of the texts: of one seed, or averaged over seeds."""
        results = self.results
        if seed is not None and self.seeds:
            results = [each for each in results if each.seed == seed]
        items: Scores = np.mean([each.sets[dataset].items() for each in results], axis=0)
        return items

    def scores(self, dataset: str) -> dict[str, Estimate]:
        """Return each ROUGE measure in percent.

        With one seed these are the values that `readagain evaluate` prints. With several, the
        value is the mean over seeds and the interval comes from resampling texts.
        """
        found = self.on(dataset)
        values = np.array([[each.rouge[measure] for measure in MEASURES] for each in found])
        low, high = values[0, :, 1], values[0, :, 2]
        if len(found) > 1:
            items = self.items(dataset)
            draws = np.random.default_rng(0).integers(len(items), size=(_SAMPLES, len(items)))
            means = np.stack([items[draw].mean(axis=0) for draw in draws])
            low, high = np.percentile(means, [2.5, 97.5], axis=0)
        return {
            measure: Estimate(100 * values[:, m, 0].mean(), 100 * low[m], 100 * high[m])
            for m, measure in enumerate(MEASURES)
        }


class ResultStore:
    """All results, by experiment and recipe.

    Raises:
        DataError: for results of different scales, or on different texts under one name.
    """

    def __init__(self, results: Iterable[ExperimentResult]) -> None:
        self.results = list(results)
        scales = {result.scale for result in self.results}
        if len(scales) > 1:
            raise DataError(
                f"results of the scales {' and '.join(sorted(scales))} in one directory; keep "
                "them in different ones"
            )
        self._by_key: dict[tuple[str, str], SeedResults] = {}
        fingerprints: dict[str, str] = {}
        for result in self.results:
            key = (result.row, result.recipe)
            self._by_key.setdefault(key, SeedResults()).results.append(result)
            for name, scored in result.sets.items():
                if fingerprints.setdefault(name, scored.fingerprint) != scored.fingerprint:
                    raise DataError(
                        f"data set '{name}': not the same texts in all results; keep results of "
                        "different data in different directories"
                    )
        self.compare = cache(self._compare)

    @cached_property
    def recipes(self) -> list[str]:
        """Recipes of the trained experiments; `untrained` if there are none."""
        return sorted({result.recipe for result in self.results} - {UNTRAINED}) or [UNTRAINED]

    def find(self, name: str, recipe: str) -> SeedResults | None:
        """Return the results of an experiment; those of a baseline belong to every recipe."""
        return self._by_key.get((name, recipe)) or self._by_key.get((name, UNTRAINED))

    def has_other_recipe(self, name: str, recipe: str) -> bool:
        """Return whether an experiment was run with other recipes only."""
        if self.find(name, recipe) is not None:
            return False
        return any(self.find(name, other) is not None for other in self.recipes)

    def _compare(
        self, first: str, second: str, recipe: str, dataset: str | None = None
    ) -> dict[str, SeedComparison] | None:
        """Compare two experiments by each measure; None if they share no such data set.

        The difference is positive if the first scores higher. The default data set is the first
        that both were scored on.
        """
        one, other = self.find(first, recipe), self.find(second, recipe)
        if one is None or other is None:
            return None
        shared = [each for each in one.datasets if each in other.datasets]
        if not shared or (dataset is not None and dataset not in shared):
            return None
        chosen = dataset or shared[0]
        by_seed = [
            (one.items(chosen, seed=seed) - other.items(chosen, seed=seed)).mean(axis=0)
            for seed in shared_seeds((one, other))
        ]
        return {
            measure: SeedComparison.of(
                one.items(chosen)[:, m], other.items(chosen)[:, m], (each[m] for each in by_seed)
            )
            for m, measure in enumerate(MEASURES)
        }


def shared_seeds(results: Sequence[SeedResults]) -> list[int]:
    """Return the seeds that all trained experiments have in common."""
    seeds = [each.seeds for each in results if each.seeds]
    return sorted(set.intersection(*seeds)) if seeds else []
