"""Results by experiment and recipe: averages over seeds and comparisons."""

import math
from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import cache, cached_property
from statistics import NormalDist
from typing import NamedTuple

import numpy as np

from readagain.errors import DataError
from readagain.experiments.catalog import UNTRAINED
from readagain.experiments.results import MEASURES, DatasetResult, ExperimentResult, Scores
from readagain.rouge.corpus import Estimate

_SAMPLES = 1000
_CONFIDENCE = 0.95
_MAX_DOF = 10_000  # with more degrees of freedom, the t distribution is normal
_NUM_ANGLES = 100_000
_MAX_SEED_SD = 0.02
"""Maximum standard deviation between seeds for the pooled variance; an experiment above it has
diverged and keeps its own variance."""


@dataclass(frozen=True, kw_only=True)
class Effect:
    """Difference between experiments, with a 95% interval over texts and seeds.

    The values are from 0 to 1. The variance of the difference is that of its mean over texts plus
    that between seeds; see `ResultStore.contrast`.
    """

    difference: float
    low: float
    high: float

    @property
    def mark(self) -> str:
        """▲ if the whole interval is above zero, ▼ if it is below, else nothing."""
        return "▲" if self.low > 0 else "▼" if self.high < 0 else ""

    def __str__(self) -> str:
        low, high = 100 * self.low, 100 * self.high
        return f"{100 * self.difference:+.2f} ({low:+.2f} to {high:+.2f})"


class SeedVariance(NamedTuple):
    """(3,) variances of the mean scores between seeds, pooled over experiments."""

    values: Scores
    dof: int


@dataclass(frozen=True)
class SeedResults:
    """Results of one experiment with one recipe, one run for each seed."""

    runs: list[ExperimentResult] = field(default_factory=list)

    @property
    def datasets(self) -> list[str]:
        """Data sets that all seeds were scored on; the first is the dev split of the corpus."""
        first, *others = (list(result.sets) for result in self.runs)
        return [name for name in first if all(name in names for names in others)]

    @property
    def seeds(self) -> set[int]:
        """Seeds of the training runs; empty for a baseline."""
        return {result.seed for result in self.runs if result.training}

    def on(self, dataset: str) -> list[DatasetResult]:
        """Return the results on one data set, one for each seed."""
        return [result.sets[dataset] for result in self.runs]

    def items(self, dataset: str, *, is_own: bool = False) -> Scores:
        """Return the (I, 3) scores of the texts, averaged over seeds.

        With `is_own`, they are those with the decoding of the system's own paper.
        """
        items = [each.items(is_own=is_own) for each in self.on(dataset)]
        mean: Scores = np.mean(items, axis=0)
        return mean

    def seed_variance(self, dataset: str) -> Scores | None:
        """Return the (3,) variances between the seeds; None for fewer than two seeds."""
        if len(self.seeds) < 2:
            return None
        means = [each.items().mean(axis=0) for each in self.on(dataset)]
        variance: Scores = np.var(means, axis=0, ddof=1)
        return variance

    def scores(self, dataset: str) -> dict[str, Estimate]:
        """Return each ROUGE measure in percent.

        With one seed these are the values that `readagain evaluate` prints. With several, the
        value is the mean over seeds and the interval comes from resampling texts.
        """
        values = np.array(
            [[each.rouge[measure] for measure in MEASURES] for each in self.on(dataset)]
        )
        low, high = values[0, :, 1], values[0, :, 2]
        if len(values) > 1:
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
            self._by_key.setdefault(key, SeedResults()).runs.append(result)
            for name, scored in result.sets.items():
                if fingerprints.setdefault(name, scored.fingerprint) != scored.fingerprint:
                    raise DataError(
                        f"data set '{name}': not the same texts in all results; keep results of "
                        "different data in different directories"
                    )
        self.contrast = cache(self._contrast)
        self.seed_variance = cache(self._seed_variance)

    @cached_property
    def recipes(self) -> list[str]:
        """Recipes of the trained experiments; `untrained` if there are none."""
        return sorted({result.recipe for result in self.results} - {UNTRAINED}) or [UNTRAINED]

    def find(self, name: str, recipe: str) -> SeedResults | None:
        """Return the results of an experiment; those of a baseline belong to every recipe."""
        return self._by_key.get((name, recipe)) or self._by_key.get((name, UNTRAINED))

    def compare(
        self, first: str, second: str, recipe: str, dataset: str | None = None
    ) -> dict[str, Effect] | None:
        """Compare two experiments by each measure; positive if the first scores higher."""
        return self.contrast(((first, 1), (second, -1)), recipe, dataset)

    def _contrast(
        self,
        terms: tuple[tuple[str, int], ...],
        recipe: str,
        dataset: str | None = None,
        *,
        is_own: bool = False,
    ) -> dict[str, Effect] | None:
        """Return a sum of scores by each measure, with an interval over texts and seeds.

        The variance between seeds is pooled over experiments (`seed_variance`), so that it also
        applies to an experiment with one seed. An experiment whose own seeds vary more keeps its
        own variance.

        `terms` are experiments, and the factor of each. The default data set is the first that all
        were scored on. With `is_own`, each system is decoded as in its own paper. The
        result is None if an experiment is missing, or they share no such data set.
        """
        rows = [
            (results, factor)
            for name, factor in terms
            if (results := self.find(name, recipe)) is not None
        ]
        if len(rows) < len(terms):
            return None
        first = rows[0][0]
        shared = [name for name in first.datasets if all(name in row.datasets for row, _ in rows)]
        if not shared or (dataset is not None and dataset not in shared):
            return None
        dataset = dataset or shared[0]
        totals = [factor * row.items(dataset, is_own=is_own) for row, factor in rows]
        texts: Scores = np.sum(totals, axis=0)  # (I, 3)
        of_texts = texts.var(axis=0, ddof=1) / len(texts) if len(texts) > 1 else np.zeros(3)
        pooled = self.seed_variance(recipe, dataset)
        of_seeds = np.zeros(len(MEASURES))
        for row, factor in rows:
            if row.seeds and pooled is not None:
                own = row.seed_variance(dataset)
                variance = pooled.values if own is None else np.maximum(pooled.values, own)
                of_seeds += factor**2 * variance / len(row.seeds)
        effects = {}
        for m, measure in enumerate(MEASURES):
            difference = float(texts[:, m].mean())
            total = float(of_texts[m] + of_seeds[m])
            dof = math.inf
            if pooled is not None and of_seeds[m] > 0:  # Welch and Satterthwaite
                dof = pooled.dof * (total / of_seeds[m]) ** 2
            margin = t_quantile(dof) * math.sqrt(total)
            effects[measure] = Effect(
                difference=difference, low=difference - margin, high=difference + margin
            )
        return effects

    def _seed_variance(self, recipe: str, dataset: str) -> SeedVariance | None:
        """Return the variance between seeds of a recipe on a data set.

        If no experiment has two seeds there, it is that on the whole corpus instead of the subset
        of longer texts, or that of all recipes. Experiments that diverged are left out.
        """
        whole = dataset.partition(",")[0]
        choices = ((dataset, [recipe]), (whole, [recipe]), (whole, self.recipes))
        for scored, recipes in choices:
            variances = [
                (variance, len(each.seeds) - 1)
                for (_, name), each in self._by_key.items()
                if name in recipes
                and scored in each.datasets
                and (variance := each.seed_variance(scored)) is not None
                and variance[0] <= _MAX_SEED_SD**2
            ]
            if variances:
                dof = sum(number for _, number in variances)
                total: Scores = np.sum([each * number for each, number in variances], axis=0)
                return SeedVariance(total / dof, dof)
        return None


@cache
def t_quantile(dof: float) -> float:
    """Return the bound of the central 95% of Student's t distribution.

    >>> [round(t_quantile(dof), 2) for dof in (2, 10, math.inf)]
    [4.3, 2.23, 1.96]
    """
    if dof > _MAX_DOF:
        return NormalDist().inv_cdf(0.5 + _CONFIDENCE / 2)
    # If t = √dof tan θ, the density of θ is proportional to cos(θ) to the power of dof - 1.
    angles = (np.arange(_NUM_ANGLES) + 0.5) / _NUM_ANGLES * np.pi / 2
    cumulative = np.cumsum(np.cos(angles) ** (dof - 1))
    angle = angles[np.searchsorted(cumulative, _CONFIDENCE * cumulative[-1])]
    return math.sqrt(dof) * math.tan(angle)
