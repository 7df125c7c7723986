"""Which rows are run, how and in which order; and which have to wait for their preset."""

import difflib
from collections.abc import Sequence
from dataclasses import dataclass

from readagain.errors import ConfigError
from readagain.evaluation.systems import WITHOUT_NETWORK
from readagain.experiments.paper import paper_table
from readagain.experiments.rows import CONTROLS, ROWS, Experiment
from readagain.experiments.settings import Recipe
from readagain.presets import PRESETS

UNTRAINED = "untrained"
"""The recipe of systems that have none."""


@dataclass(frozen=True)
class PlannedRun:
    """One row, trained in one way with one seed."""

    row: Experiment
    recipe: str
    seed: int

    @property
    def name(self) -> str:
        """What it is called in messages and in `work/`."""
        return f"{self.row.name}/{self.recipe}-seed{self.seed}"

    @property
    def is_trained(self) -> bool:
        """Say whether there is anything to learn."""
        return self.recipe != UNTRAINED


def rows_of(table: str) -> list[str]:
    """Name the rows that a table shows."""
    return [name for name in _TABLE_ROWS[table] if name in ROWS]


def _group(group: str) -> list[str]:
    return [row.name for row in ROWS.values() if row.group == group]


def _printed(table: str) -> list[str]:
    return [line.row for line in paper_table(table)]


_TABLE_ROWS: dict[str, list[str]] = {
    "table1": [*_printed("table1"), *CONTROLS, *_group("sentences")],
    "table2": [*_printed("table2"), "prefix", "lead"],
    "table3": _printed("table3"),
    "table4": [],
    "table5": [
        "read_again_lstm_copy_15k",
        "read_again_lstm_15k",
        "read_again_gru_copy_15k",
        "read_again_gru_15k",
        "read_again_lstm_69k",
    ],
    "importance": [
        "read_again_gru_15k",
        "read_again_gru_copy_15k",
        "read_again_lstm_15k",
        "read_again_lstm_copy_15k",
        "scalar_importance",
        "sigmoid_importance",
    ],
    "ablations": [
        *_group("ablations"),
        "read_again_gru_15k",
        "read_again_lstm_15k",
        "gru_15k",
        "read_again_lstm_copy_15k",
        "read_again_lstm_copy_2k",
        "two_sentences_option2_copy_15k",
    ],
}
TABLES: tuple[str, ...] = tuple(_TABLE_ROWS)


def choose_rows(names: Sequence[str]) -> tuple[list[Experiment], list[str]]:
    """Tell tables from rows among the names somebody gave; without names everything is meant.

    Returns:
        The rows, the most important first, and the tables.

    Raises:
        ConfigError: for a name that is neither, with the nearest there is.
    """
    wanted: set[str] = set()
    tables: list[str] = []
    for name in names:
        if name in TABLES:
            tables.append(name)
            wanted.update(rows_of(name))
        elif name in ROWS:
            wanted.add(name)
        else:
            near = difflib.get_close_matches(name, [*TABLES, *ROWS], n=1)
            hint = f"did you mean '{near[0]}'?" if near else f"tables are {', '.join(TABLES)}"
            raise ConfigError(f"no table or row '{name}'; {hint}")
    if not names:
        return list(ROWS.values()), list(TABLES)
    return [row for row in ROWS.values() if row.name in wanted], tables


def plan_runs(
    rows: Sequence[Experiment], recipes: Sequence[Recipe], *, seeds: int
) -> list[PlannedRun]:
    """Put runs in the order of what they tell us.

    Every main row once, then with other seeds, then everything else once; the first recipe before
    the second. Of the paper's own recipe, which takes several times as long, main rows come first.
    """
    plan = []
    for recipe in dict.fromkeys(recipes):
        main = [row for row in rows if row.group == "main"]
        others = [row for row in rows if row.group != "main"]
        plan += [PlannedRun(row, recipe, seed) for seed in range(1, seeds + 1) for row in main]
        plan += [PlannedRun(row, recipe, 1) for row in others]
    untrained = [row for row in rows if row.system in WITHOUT_NETWORK]
    trained = [run for run in plan if run.row.system not in WITHOUT_NETWORK]
    # They take seconds, and are the floor of every table.
    return [*(PlannedRun(row, UNTRAINED, 1) for row in untrained), *trained]


def is_available(row: Experiment) -> bool:
    """Say whether this version of readagain has what a row is made of."""
    return row.system in PRESETS or row.system in WITHOUT_NETWORK
