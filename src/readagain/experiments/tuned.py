"""Rows that are searched with extractive features: their weights are tuned before they are scored.

ABS+ is such a row: its paper tunes the weights on DUC 2003. Here they are tuned on the first set
that is scored by the DUC protocol, so what the row scores on that set it was tuned for.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from readagain.config.schema import RunSpec
from readagain.evaluation.tuning import tune
from readagain.experiments.corpora import MANY_REFERENCES, DevSet
from readagain.experiments.torch_system import TrainedRow
from readagain.search.features import FEATURES

_OBJECTIVE = "rouge-1"
_ROUNDS = 10  # searches of the whole set; it ends sooner where nothing new is found


@dataclass(frozen=True)
class Tuned:
    """A row with the weights that were found, and how.

    Args:
        row: the network, searching with them.
        facts: what is kept with the result: the set, the weights, the figure of each round.
    """

    row: TrainedRow
    facts: dict[str, Any]


def has_features(run: RunSpec) -> bool:
    """Say whether a search weighs extractive features."""
    return any(getattr(run.decode, f"{name}_bonus") for name in FEATURES)


def tune_row(row: TrainedRow, tests: Sequence[DevSet]) -> Tuned | None:
    """Tune the weights of a row's search; None where there is no set to tune on."""
    sets = [test for test in tests if test.protocol == MANY_REFERENCES]
    if not sets:
        return None
    test = sets[0]
    rounds = list(
        tune(
            row.system(test.protocol),
            test.data,
            test.protocol,
            objective=_OBJECTIVE,
            max_rounds=_ROUNDS,
        )
    )
    best = max(rounds, key=lambda each: each.value)
    facts = {
        "set": test.name,
        "objective": _OBJECTIVE,
        "weights": best.weights_by_name,
        "rounds": [each.value for each in rounds],
    }
    return Tuned(row.searching(best.settings), facts)
