"""Options of a reproduction."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

from readagain.config.fields import join_with_or
from readagain.errors import ArgumentError
from readagain.processors import check_parallelism

Scale = Literal["paper", "small"]
"""Sizes of the networks: those of the paper, or tiny ones for a test run."""


@dataclass(frozen=True, kw_only=True)
class ReproduceOptions:
    """Options of a reproduction, from which those of the command `reproduce` are derived.

    Args:
        names: names of tables and experiments; empty for all.
        out: folder for the results.
        data: prepared corpus, with a train split to train on and a dev split to score on; `scale`
            small does not need one.
        tests: paths of additional data sets by name.
        scale: networks of the size of the paper, or tiny ones for a test run in minutes.
        recipes: training recipe: AdamW until the loss no longer improves (converged), AdamW for a
            few epochs (modern), or as in the paper.
        seeds: number of random seeds of the main experiments; others have one.
        only_seed: random seed of all experiments, instead of `seeds`.
        epochs: number of epochs; None: from the recipe.
        changes: settings to override, such as train.epochs=20.
        max_minutes: maximum training time of each run; after it, the best checkpoint is scored, and
            the run is recorded as not converged; None: no limit.
        limit: maximum number of texts of each data set; None: all.
        device_name: device; auto uses a GPU if there is one.
        threads: number of CPU threads; 0 chooses by the size of the network.
        keep_weights: keep the model folders of finished experiments in the folder work of `out`.
    """

    names: Sequence[str] = ()
    out: Path
    data: Path | None = None
    tests: dict[str, Path] = field(default_factory=dict)
    scale: Scale = "paper"
    recipes: Sequence[str] = ("converged",)
    seeds: int = 1
    only_seed: int | None = None
    epochs: int | None = None
    changes: Sequence[str] = ()
    max_minutes: float | None = None
    limit: int | None = None
    device_name: Literal["auto", "cpu", "cuda"] = "auto"
    threads: int = 0
    keep_weights: bool = False

    def __post_init__(self) -> None:
        if self.threads:
            check_parallelism("threads", self.threads)
        from readagain.experiments.catalog import RECIPE_NAMES  # here, to keep --help fast

        for recipe in self.recipes:
            if recipe not in RECIPE_NAMES:
                raise ArgumentError(
                    "{recipes} is {0!r}; expected {1}", recipe, join_with_or(RECIPE_NAMES)
                )

    @property
    def work(self) -> Path:
        """Directory of temporary model directories and subsets of corpora."""
        return self.out / "work"
