"""Catalog of the experiments, tables and claims (`catalog.toml`) and the paper's own values."""

import difflib
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from importlib.resources import files
from typing import Any, Literal

from readagain.errors import ConfigError
from readagain.presets import BASELINES

Recipe = Literal["converged", "modern", "paper"]
UNTRAINED = "untrained"
"""Recipe name in the results of baselines, which are not trained."""


@dataclass(frozen=True, kw_only=True)
class Experiment:
    """One system of the tables.

    Args:
        name: name on the command line and in `rows/`.
        group: group of related experiments, such as `main` or `sizes`; `main` ones run with several
            seeds.
        system: preset to train, or baseline; the name by default.
        changes: settings that differ from the preset, by dotted name.
        min_sentences: train and score only on texts with at least this many sentences.
        match_parameters: widen the encoder until it has as many parameters as this preset.
        adamw_learning_rate: learning rate of the recipes `converged` and `modern`.
        modern_epochs: epochs of the recipe `modern`; None for the default.
        own_decode: search settings of the system's own paper (the one that introduced it), where
            they differ from the settings shared by all experiments; see
            `run_experiment.own_decoding`.
        has_fixed_length: whether all summaries in the system's own paper have the same length.
        generates_unk: whether summaries in the system's own paper contain UNK; ignored for a
            network that copies.
    """

    name: str
    title: str
    group: str
    system: str
    changes: Mapping[str, object] = field(default_factory=dict)
    min_sentences: int = 1
    match_parameters: str | None = None
    adamw_learning_rate: float = 1e-3
    modern_epochs: int | None = None
    own_decode: Mapping[str, int] = field(default_factory=dict)
    has_fixed_length: bool = False
    generates_unk: bool = True

    @property
    def is_trained(self) -> bool:
        """Whether the system is a network, not a baseline."""
        return self.system not in BASELINES


@dataclass(frozen=True, kw_only=True)
class TableSpec:
    """Specification of a table.

    Args:
        rows: experiments in order, each with the one it is compared with ("" for none).
        figure: ROUGE statistic in the table: f1 or recall.
    """

    title: str
    notes: Sequence[str]
    rows: Mapping[str, str]
    figure: str = "f1"


@dataclass(frozen=True, kw_only=True)
class PaperRow:
    """Row of one of the paper's tables, as printed.

    Args:
        label: name in the paper.
        experiment: name of our experiment; in Table 4 without the vocabulary size.
        size: size of the decoder vocabulary.
        rouge: ROUGE-1, ROUGE-2 and ROUGE-L in percent.
        seconds: seconds per sentence by vocabulary size (Table 4).
    """

    label: str
    experiment: str
    size: str = ""
    rouge: Sequence[float] = ()
    seconds: Mapping[str, float] = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True)
class PaperExample:
    """Input of Table 5 with the summaries that the paper prints for it, or an invented input.

    Args:
        word: the word whose p_i is examined; in the paper's inputs, the word that the paper copies.
        text: the text tokenized as in Gigaword, one sentence per line.
        reference, without_copying, with_copying: the paper's summaries; empty for an invented text.
    """

    word: str
    text: str
    reference: str = ""
    without_copying: str = ""
    with_copying: str = ""


def _load(name: str) -> dict[str, Any]:
    return tomllib.loads((files(__package__) / name).read_text(encoding="utf-8"))


@cache
def paper_table(name: str) -> tuple[PaperRow, ...]:
    """Return the rows of `table1` to `table4` in the order of the paper; none for other tables."""
    return tuple(PaperRow(**entry) for entry in _load("paper.toml").get(name, ()))


PAPER_EXAMPLES: tuple[PaperExample, ...] = tuple(
    PaperExample(**entry) for entry in _load("paper.toml")["examples"]
)

_CATALOG = _load("catalog.toml")
EXPERIMENTS: dict[str, Experiment] = {
    entry["name"]: Experiment(**{"system": entry["name"], **entry})
    for entry in _CATALOG["experiments"]
}
TABLES: dict[str, TableSpec] = {
    name: TableSpec(**entry) for name, entry in _CATALOG["tables"].items()
}
RECIPES: dict[str, dict[str, Any]] = _CATALOG["recipes"]
"""For each recipe, its heading and its training settings for each `--scale`."""
PAGE_TEXTS: dict[str, str] = _CATALOG["page"]
"""Paragraphs of `results.md`."""
CLAIMS: list[dict[str, Any]] = _CATALOG["claims"]
"""Name, text and tests of each claim; see `claims.py`."""


def run_name(experiment: str, recipe: str, seed: int) -> str:
    """Return the name of a run, which is printed and is the path of its result under `rows/`."""
    return f"{experiment}/{recipe}-seed{seed}"


@dataclass(frozen=True)
class PlannedRun:
    """One experiment with one recipe and one seed."""

    experiment: Experiment
    recipe: str
    seed: int

    @property
    def name(self) -> str:
        """Name of the run; see `run_name`."""
        return run_name(self.experiment.name, self.recipe, self.seed)

    @property
    def dir_name(self) -> str:
        """Name of the training folder in `work/`."""
        return self.name.replace("/", "-")


def select_experiments(names: Sequence[str]) -> tuple[list[Experiment], list[str]]:
    """Return the experiments, most important first, and the tables that `names` select.

    An empty `names` selects all.

    Raises:
        ConfigError: if a name is neither a table nor an experiment.
    """
    if not names:
        return list(EXPERIMENTS.values()), list(TABLES)
    selected: set[str] = set()
    for name in names:
        if name in TABLES:
            rows = TABLES[name].rows
            selected.update(rows, filter(None, rows.values()))
        elif name in EXPERIMENTS:
            selected.add(name)
        else:
            close = difflib.get_close_matches(name, [*TABLES, *EXPERIMENTS], n=1)
            hint = f"did you mean '{close[0]}'?" if close else f"tables are {', '.join(TABLES)}"
            raise ConfigError(f"no table or experiment '{name}'; {hint}")
    tables = [name for name in names if name in TABLES]
    return [each for each in EXPERIMENTS.values() if each.name in selected], tables


def plan_runs(
    experiments: Sequence[Experiment],
    recipes: Sequence[Recipe],
    *,
    seeds: int,
    only_seed: int | None = None,
) -> list[PlannedRun]:
    """Return the runs, most informative first.

    Baselines take seconds and come first. Then for each recipe: the main experiments with the
    first seed, the main experiments with the other seeds, all others with one seed. With
    `only_seed`, all experiments have that seed.
    """
    plan = [PlannedRun(each, UNTRAINED, 1) for each in experiments if not each.is_trained]
    trained = [each for each in experiments if each.is_trained]
    main = [each for each in trained if each.group == "main"]
    others = [each for each in trained if each.group != "main"]
    for recipe in dict.fromkeys(recipes):
        if only_seed is not None:
            plan += [PlannedRun(each, recipe, only_seed) for each in [*main, *others]]
            continue
        plan += [PlannedRun(each, recipe, seed) for seed in range(1, seeds + 1) for each in main]
        plan += [PlannedRun(each, recipe, 1) for each in others]
    return plan
