"""Experiments, tables and claims (`catalog.toml`), and the values of the paper (`paper.toml`)."""

import difflib
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from importlib.resources import files
from typing import Any

from readagain.errors import ConfigError
from readagain.presets import BASELINES

UNTRAINED = "untrained"
"""Recipe name in the results of baselines, which are not trained."""


@dataclass(frozen=True, kw_only=True)
class Experiment:
    """A system to train and score, which is one row of the tables.

    All experiments are scored with the same decoding settings. They are scored a second time with
    the settings of the system's own paper, which is the paper that introduced the system, if these
    are different.

    Args:
        name: name on the command line and in the directory `rows/`.
        title: name in the tables.
        group: group of related experiments, such as `main` or `sizes`. Only experiments of the
            group `main` are run with several seeds.
        system: preset to train, or name of a baseline; by default the name of the experiment.
        changes: settings that differ from the preset, by dotted name.
        min_sentences: train and score only on texts with at least this many sentences.
        match_parameters: preset whose number of parameters is matched with a wider encoder.
        adamw_learning_rate: learning rate of the recipes `converged` and `modern`.
        modern_epochs: number of epochs of the recipe `modern`; None for the default.
        own_decode: decoding settings of the system's own paper.
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
        """Whether the system is a network to train. Baselines are not trained."""
        return self.system not in BASELINES

    def has_own_decoding(self, *, can_copy: bool) -> bool:
        """Return whether the system is decoded differently in its own paper than here.

        `can_copy` is whether the network copies; such a network does not generate UNK.
        """
        may_generate_unk = self.is_trained and self.generates_unk and not can_copy
        return bool(self.own_decode) or self.has_fixed_length or may_generate_unk


@dataclass(frozen=True, kw_only=True)
class TableSpec:
    """Specification of a table, with the names of its experiments; see `catalog.toml`."""

    title: str
    notes: Sequence[str]
    rows: Mapping[str, str]
    main_score: str = "f1"


@dataclass(frozen=True, kw_only=True)
class PaperRow:
    """Row of one of the paper's tables, as printed.

    Args:
        label: name of the system in the paper.
        experiment: name of our experiment; in Table 4 without the vocabulary size.
        size: size of the decoder vocabulary, such as "15K"; "" in Table 4.
        rouge: ROUGE-1, ROUGE-2 and ROUGE-L in percent; empty in Table 4.
        seconds: seconds per sentence by size of the decoder vocabulary, in Table 4 only.
    """

    label: str
    experiment: str
    size: str = ""
    rouge: Sequence[float] = ()
    seconds: Mapping[str, float] = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True)
class PaperExample:
    """Input text of Table 5 with the reference and summaries of the paper, or an invented text.

    Args:
        word: word of the text to examine; in a text of the paper, the word that the paper copies.
        text: the text tokenized as in Gigaword, one sentence per line.
        reference: reference that the paper prints; an invented text has none, and no summaries.
    """

    word: str
    text: str
    reference: str = ""
    without_copying: str = ""
    with_copying: str = ""


def _load_toml(name: str) -> dict[str, Any]:
    return tomllib.loads((files(__package__) / name).read_text(encoding="utf-8"))


@cache
def paper_table(name: str) -> tuple[PaperRow, ...]:
    """Return the rows of `table1` to `table4` in the paper's order; () for any other table."""
    return tuple(PaperRow(**entry) for entry in _load_toml("paper.toml").get(name, ()))


PAPER_EXAMPLES: tuple[PaperExample, ...] = tuple(
    PaperExample(**entry) for entry in _load_toml("paper.toml")["examples"]
)

_CATALOG = _load_toml("catalog.toml")
EXPERIMENTS: dict[str, Experiment] = {
    name: Experiment(name=name, group=group, **{"system": name, **entry})
    for group, entries in _CATALOG["experiments"].items()
    for name, entry in entries.items()
}
TABLES: dict[str, TableSpec] = {
    name: TableSpec(**{**entry, "notes": [_CATALOG["notes"][note] for note in entry["notes"]]})
    for name, entry in _CATALOG["tables"].items()
}
RECIPE_SETTINGS: dict[str, dict[str, Any]] = _CATALOG["recipes"]
"""For each recipe, its heading and its training settings for each `--scale`."""
RECIPE_NAMES = [name for name in RECIPE_SETTINGS if name != UNTRAINED]
PAGE_TEXTS: dict[str, str] = _CATALOG["page"]
"""Paragraphs of `results.md`."""
CLAIMS: list[dict[str, Any]] = _CATALOG["claims"]
"""Name, text and tests of each claim; `claims.py` runs the tests."""


def run_name(experiment: str, recipe: str, seed: int) -> str:
    """Return the name of a run, which is also the path of its result in the directory `rows/`."""
    return f"{experiment}/{recipe}-seed{seed}"


@dataclass(frozen=True)
class PlannedRun:
    """A run: one experiment with one recipe and one seed."""

    experiment: Experiment
    recipe: str
    seed: int

    @property
    def name(self) -> str:
        """Name of the run; see `run_name`."""
        return run_name(self.experiment.name, self.recipe, self.seed)

    @property
    def dir_name(self) -> str:
        """Name of the model directory in the directory `work/`."""
        return self.name.replace("/", "-")


def select_experiments(names: Sequence[str]) -> list[Experiment]:
    """Return the experiments that are selected by name, most important first.

    The name of a table selects its rows and the experiments that they are compared with. Without
    any name, everything is selected.

    Raises:
        ConfigError: if a name is neither a table nor an experiment.
    """
    if not names:
        return list(EXPERIMENTS.values())
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
    return [experiment for name, experiment in EXPERIMENTS.items() if name in selected]


def plan_runs(
    experiments: Sequence[Experiment],
    recipes: Sequence[str],
    *,
    seeds: int,
    only_seed: int | None = None,
) -> list[PlannedRun]:
    """Return the runs in the order in which they are executed.

    Baselines take seconds and come first. Then, for each recipe, the experiments of the group
    `main` run once with each of `seeds` seeds, and all other experiments with the seed 1. If
    `only_seed` is not None, all experiments run with this seed instead.
    """
    trained = [experiment for experiment in experiments if experiment.is_trained]
    main = [experiment for experiment in trained if experiment.group == "main"]
    others = [experiment for experiment in trained if experiment.group != "main"]
    main_seeds = range(1, seeds + 1) if only_seed is None else [only_seed]
    other_seed = 1 if only_seed is None else only_seed
    plan = [PlannedRun(each, UNTRAINED, 1) for each in experiments if not each.is_trained]
    for recipe in dict.fromkeys(recipes):
        plan += [PlannedRun(experiment, recipe, seed) for seed in main_seeds for experiment in main]
        plan += [PlannedRun(experiment, recipe, other_seed) for experiment in others]
    return plan
