"""What a person asked to be reproduced."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

from readagain.experiments.settings import Recipe, Scale

WORK_FOLDER = "work"


@dataclass(frozen=True, kw_only=True)
class Request:
    """A request as it stands on the command line.

    Args:
        names: tables and rows; everything when empty.
        out: the folder of results; those of other machines may be copied into its `rows/`.
        data: the prepared corpus to train on; None takes an invented one at small scale.
        tests: more dev sets by name.
        scale, recipes, seeds, epochs: see `settings.row_run` and `plan.plan_runs`.
        budget: minutes after which no further row begins.
        limit: score only so many texts of each set.
        device_name, threads: where to compute.
        keep_weights: leave the model folders of finished rows in `work/`.
        rows_only: measure no decoding time and write no tables.
    """

    names: Sequence[str] = ()
    out: Path
    data: Path | None = None
    tests: dict[str, Path] = field(default_factory=dict)
    scale: Scale = "paper"
    recipes: Sequence[Recipe] = ("modern",)
    seeds: int = 1
    epochs: int | None = None
    budget: float | None = None
    limit: int | None = None
    device_name: Literal["auto", "cpu", "cuda"] = "auto"
    threads: int = 0
    keep_weights: bool = False
    rows_only: bool = False

    @property
    def work(self) -> Path:
        """Where weights and parts of corpora lie while they are needed."""
        return self.out / WORK_FOLDER
