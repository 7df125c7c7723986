"""Results by experiment and recipe: averages over seeds, and differences with intervals."""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from functools import cache, cached_property
from statistics import NormalDist, median
from typing import NamedTuple

import numpy as np

from readagain.errors import DataError
from readagain.experiments.catalog import UNTRAINED
from readagain.experiments.results import DatasetResult, ExperimentResult
from readagain.rouge.corpus import Estimate
from readagain.rouge.options import MEASURES
from readagain.rouge.scores import Numbers

FACTORS = (1, -1, -1, 1)
"""Factors of experiments in a difference of two scores, first - second, or in a difference of two
differences, (first - second) - (third - fourth)."""
_NUM_BOOTSTRAP_SAMPLES = 1000
_CONFIDENCE = 0.95
_MAX_DOF = 10_000  # with more degrees of freedom, the t distribution is practically normal
_NUM_ANGLES = 100_000  # steps of a numerical integration
_MAX_SEED_SD = 0.02
"""Maximum standard deviation between the seeds of an experiment. An experiment above it has
diverged and is left out of the pooled variance."""


@dataclass(frozen=True, kw_only=True)
class Effect:
    """Difference between the mean scores of experiments, with a 95% interval.

    Scores are from 0 to 1. The interval includes the variance between texts and between seeds. It
    is infinite if an experiment with only one seed has diverged: the seeds of such experiments vary
    much more than those of others, and one seed does not show how much.
    """

    difference: float
    low: float
    high: float

    @property
    def mark(self) -> str:
        """▲ if the whole interval is above zero, ▼ if it is below, otherwise ""."""
        return "▲" if self.low > 0 else "▼" if self.high < 0 else ""

    def __str__(self) -> str:
        if math.isinf(self.low):
            return f"{100 * self.difference:+.2f} (no interval: a diverged row has only one seed)"
        low, high = 100 * self.low, 100 * self.high
        return f"{100 * self.difference:+.2f} ({low:+.2f} to {high:+.2f})"


class SeedVariance(NamedTuple):
    """Variance of the mean scores between seeds, pooled over experiments."""

    values: Numbers
    """(3,) variance of each ROUGE measure."""
    dof: int
    """Degrees of freedom."""


@dataclass(frozen=True)
class SeedResults:
    """Results of one experiment with one recipe, one run for each seed."""

    runs: list[ExperimentResult] = field(default_factory=list)

    @property
    def datasets(self) -> list[str]:
        """Data sets on which all seeds were scored; the first is the dev split of the corpus."""
        first, *others = self.runs
        return [name for name in first.sets if all(name in run.sets for run in others)]

    @property
    def seeds(self) -> set[int]:
        """Seeds of the training runs; empty for a baseline."""
        return {run.seed for run in self.runs if run.training}

    def on(self, dataset: str) -> list[DatasetResult]:
        """Return the results on one data set, one for each seed."""
        return [run.sets[dataset] for run in self.runs]

    @property
    def mean_score(self) -> float:
        """Mean ROUGE-1 on the dev split of the corpus, from 0 to 1."""
        return float(self.text_scores(self.datasets[0])[:, 0].mean())

    def with_own_decoding(self, dataset: str) -> "SeedResults":
        """Return the runs that were also scored with the decoding settings of the own paper."""
        return SeedResults([run for run in self.runs if run.sets[dataset].own])

    def text_scores(self, dataset: str, *, use_own_decoding: bool = False) -> Numbers:
        """Return the (I, 3) scores of the texts, averaged over seeds.

        With `use_own_decoding`, return those with the decoding settings of the system's own paper.
        """
        scores = [
            result.text_scores(use_own_decoding=use_own_decoding) for result in self.on(dataset)
        ]
        mean: Numbers = np.mean(scores, axis=0)
        return mean

    def seed_variance(self, dataset: str) -> Numbers | None:
        """Return the (3,) variances of the mean scores between seeds; None below two seeds."""
        if len(self.seeds) < 2:
            return None
        means = [result.text_scores().mean(axis=0) for result in self.on(dataset)]
        variance: Numbers = np.var(means, axis=0, ddof=1)
        return variance

    def scores(self, dataset: str) -> dict[str, Estimate]:
        """Return the score of each ROUGE measure in percent.

        With one seed, the scores and intervals are those that `readagain evaluate` prints. With
        several seeds, a score is the mean over the seeds, and its interval is from a bootstrap over
        the texts.
        """
        rouge = np.array(
            [[result.rouge[measure] for measure in MEASURES] for result in self.on(dataset)]
        )  # (seeds, measures, 3): value, low, high
        values = rouge[:, :, 0].mean(axis=0)
        low, high = rouge[0, :, 1], rouge[0, :, 2]
        if len(rouge) > 1:
            low, high = bootstrap_interval(self.text_scores(dataset))
        return {
            measure: Estimate(100 * values[index], 100 * low[index], 100 * high[index])
            for index, measure in enumerate(MEASURES)
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
            for name, dataset_result in result.sets.items():
                fingerprint = dataset_result.fingerprint
                if fingerprints.setdefault(name, fingerprint) != fingerprint:
                    raise DataError(
                        f"data set '{name}': not the same texts in all results; keep results of "
                        "different data in different directories"
                    )
        self.contrast = cache(self._contrast)
        self.seed_variance = cache(self._seed_variance)

    @cached_property
    def recipes(self) -> list[str]:
        """Recipes of the trained experiments; [UNTRAINED] if there are none."""
        return sorted({result.recipe for result in self.results} - {UNTRAINED}) or [UNTRAINED]

    def find(self, name: str, recipe: str) -> SeedResults | None:
        """Return the results of an experiment; a baseline has the same results for every recipe."""
        return self._by_key.get((name, recipe)) or self._by_key.get((name, UNTRAINED))

    def _contrast(
        self,
        names: tuple[str, ...],
        recipe: str,
        dataset: str | None = None,
        *,
        use_own_decoding: bool = False,
    ) -> dict[str, Effect] | None:
        """Return the difference between the scores of experiments, for each measure.

        Its variance has two parts: the variance of its mean over texts, and the variance between
        seeds. The variance between seeds is pooled over experiments (`seed_variance`), so it is
        also known for an experiment with one seed. If the seeds of an experiment vary more than
        that, its own variance is used, with its own degrees of freedom. If an experiment with one
        seed has diverged, the interval is infinite.

        Args:
            names: two or four experiments; see `FACTORS`.
            recipe: recipe of the experiments.
            dataset: data set; by default the first on which all experiments were scored.
            use_own_decoding: whether to use the scores with the decoding settings of the system's
                own paper. Of an experiment that has such scores, only the runs with them are used.

        Returns:
            The difference with its interval; None if an experiment is missing, or if not all
            experiments were scored on the data set.
        """
        weighted_results = [
            (results, factor)
            for name, factor in zip(names, FACTORS, strict=False)
            if (results := self.find(name, recipe)) is not None
        ]
        if len(weighted_results) < len(names):
            return None
        all_results = [results for results, _ in weighted_results]
        shared_datasets = [
            name
            for name in all_results[0].datasets
            if all(name in results.datasets for results in all_results)
        ]
        if dataset is None and shared_datasets:
            dataset = shared_datasets[0]
        if dataset not in shared_datasets:
            return None
        if use_own_decoding:
            weighted_results = [
                (own if (own := results.with_own_decoding(dataset)).runs else results, factor)
                for results, factor in weighted_results
            ]
        text_sums: Numbers = np.sum(
            [
                factor * results.text_scores(dataset, use_own_decoding=use_own_decoding)
                for results, factor in weighted_results
            ],
            axis=0,
        )  # (I, 3)
        num_texts = len(text_sums)
        text_variance = (
            text_sums.var(axis=0, ddof=1) / num_texts if num_texts > 1 else np.zeros(len(MEASURES))
        )
        seed_variances = self._seed_variances(weighted_results, recipe, dataset)
        has_interval = not any(
            len(results.seeds) == 1 and self._has_diverged(results, recipe)
            for results, _ in weighted_results
        )
        effects = {}
        for index, measure in enumerate(MEASURES):
            difference = float(text_sums[:, index].mean())
            # The variance over texts is treated as known: infinite degrees of freedom.
            parts = [(float(text_variance[index]), math.inf)]
            parts += [(float(part.values[index]), part.dof) for part in seed_variances]
            margin = welch_margin(parts) if has_interval else math.inf
            effects[measure] = Effect(
                difference=difference, low=difference - margin, high=difference + margin
            )
        return effects

    def _seed_variances(
        self,
        weighted_results: Sequence[tuple[SeedResults, int]],
        recipe: str,
        dataset: str,
    ) -> list[SeedVariance]:
        """Return the parts of the variance of a difference that is due to the seeds.

        The first part is that of all experiments with the pooled variance. Each experiment whose
        seeds vary more has a part of its own, with the few degrees of freedom of its own seeds.
        """
        pooled = self.seed_variance(recipe, dataset)
        if pooled is None:
            return []
        pooled_part = np.zeros(len(MEASURES))
        parts = []
        for results, factor in weighted_results:
            num_seeds = len(results.seeds)
            if not num_seeds:
                continue
            weight = factor**2 / num_seeds
            own = results.seed_variance(dataset)
            varies_more = np.zeros(len(MEASURES), bool) if own is None else own > pooled.values
            pooled_part += np.where(varies_more, 0.0, weight * pooled.values)
            if own is not None and varies_more.any():
                own_part: Numbers = np.where(varies_more, weight * own, 0.0)
                parts.append(SeedVariance(own_part, num_seeds - 1))
        return [SeedVariance(pooled_part, pooled.dof), *parts]

    def _has_diverged(self, results: SeedResults, recipe: str) -> bool:
        """Return whether an experiment has less than half of the usual ROUGE-1 of its recipe.

        The scores are those on the dev split of the corpus.
        """
        usual = median(
            other.mean_score
            for (_, other_recipe), other in self._by_key.items()
            if other_recipe == recipe and other.seeds
        )
        return results.mean_score < usual / 2

    def _seed_variance(self, recipe: str, dataset: str) -> SeedVariance | None:
        """Return the pooled variance between seeds of a recipe on a data set.

        If no experiment has two seeds on this data set, and the data set is the longer texts of a
        corpus, use the results on the whole corpus. If no experiment of the recipe has two seeds
        there either, use all recipes.
        Experiments that diverged are left out.
        """
        whole_dataset = dataset.partition(",")[0]
        choices = (
            (dataset, [recipe]),
            (whole_dataset, [recipe]),
            (whole_dataset, self.recipes),
        )
        for name, recipes in choices:
            variances = [
                (variance, len(results.seeds) - 1)
                for (_, result_recipe), results in self._by_key.items()
                if result_recipe in recipes
                and name in results.datasets
                and (variance := results.seed_variance(name)) is not None
                and variance[0] <= _MAX_SEED_SD**2
            ]
            if variances:
                total_dof = sum(dof for _, dof in variances)
                total: Numbers = np.sum([variance * dof for variance, dof in variances], axis=0)
                return SeedVariance(total / total_dof, total_dof)
        return None


def bootstrap_interval(values: Numbers) -> tuple[Numbers, Numbers]:
    """Return the ends of the 95% interval of the mean of (I, ...) values, from a bootstrap."""
    size = (_NUM_BOOTSTRAP_SAMPLES, len(values))
    draws = np.random.default_rng(0).integers(len(values), size=size)
    means = np.stack([values[draw].mean(axis=0) for draw in draws])
    low, high = np.percentile(means, [2.5, 97.5], axis=0)
    return low, high


def welch_margin(parts: Sequence[tuple[float, float]]) -> float:
    """Return half the width of the 95% interval of a difference (Welch and Satterthwaite).

    `parts` are parts of the variance of the difference, each with its degrees of freedom.

    >>> round(welch_margin([(0.5, 4), (0.5, 4)]), 2)  # like one variance with 8 degrees of freedom
    2.31
    """
    total = sum(part for part, _ in parts)
    squares = sum(part**2 / dof for part, dof in parts)
    dof = total**2 / squares if squares > 0 else math.inf
    return t_quantile(dof) * math.sqrt(total)


@cache
def t_quantile(dof: float) -> float:
    """Return the upper bound of the central 95% of Student's t distribution.

    >>> [round(t_quantile(dof), 2) for dof in (2, 10, math.inf)]
    [4.3, 2.23, 1.96]
    """
    if dof > _MAX_DOF:
        return NormalDist().inv_cdf(0.5 + _CONFIDENCE / 2)
    # Substitute t = √dof tan θ: the density of θ is proportional to cos(θ) ** (dof - 1), and θ is
    # from 0 to π/2 for positive t. Integrate numerically.
    angles = (np.arange(_NUM_ANGLES) + 0.5) / _NUM_ANGLES * np.pi / 2
    cumulative = np.cumsum(np.cos(angles) ** (dof - 1))
    angle = angles[np.searchsorted(cumulative, _CONFIDENCE * cumulative[-1])]
    return math.sqrt(dof) * math.tan(angle)
