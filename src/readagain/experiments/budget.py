"""Time: how long a run will take, and whether there is enough of it left."""

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from statistics import median

from readagain.config.schema import RunSpec
from readagain.experiments.results import ExperimentResult

# Where nothing has been measured yet: pairs a second of a 512-wide network, by recipe.
_FIRST_GUESS: dict[str, dict[str, float]] = {
    "cuda": {"modern": 50_000.0, "paper": 20_000.0},
    "cpu": {},
}
_SLOWEST_GUESS = 100.0
_FIRST_OVERHEAD_S = 25.0  # loading, capturing, summarizing, scoring
_SPARE = 1.1


@dataclass(frozen=True)
class RunCost:
    """What decides how long a run takes.

    Args:
        device: cpu or cuda.
        recipe: how it is trained.
        volume: pairs to be seen, weighed by what a pair costs.
    """

    device: str
    recipe: str
    volume: float

    @classmethod
    def of(cls, run: RunSpec, *, train_pairs: int, device: str, recipe: str) -> "RunCost":
        """Weigh a run: reading costs by the sentence, writing by the words to choose from."""
        cost = run.data.num_sentences + run.vocab_size / 60_000
        return cls(device, recipe, cost * train_pairs * run.train.epochs)


class Estimator:
    """Predict the seconds of a run from those that were done like it.

    Args:
        done: works with the seconds that each took.
    """

    def __init__(self, done: Sequence[tuple[RunCost, float]] = ()) -> None:
        self._done = list(done)

    def add(self, work: RunCost, seconds: float) -> None:
        """Learn from a run."""
        self._done.append((work, seconds))

    def seconds(self, work: RunCost) -> float:
        """Predict a run, rather too long than too short."""
        like = [
            (done.volume, seconds)
            for done, seconds in self._done
            if (done.device, done.recipe) == (work.device, work.recipe)
        ]
        # The shortest run bounds what does not grow with the work.
        overhead = min([_FIRST_OVERHEAD_S, *(0.8 * seconds for _, seconds in like)])
        rate = _FIRST_GUESS[work.device].get(work.recipe, _SLOWEST_GUESS)
        slopes = [(seconds - overhead) / volume for volume, seconds in like] or [1 / rate]
        per_pair = median(slopes)
        return _SPARE * (overhead + per_pair * work.volume)


class Budget:
    """The time that a call may take.

    Args:
        minutes: from now on; None sets no limit.
        clock: tells the seconds.
    """

    def __init__(self, minutes: float | None, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._end = None if minutes is None else clock() + 60 * minutes

    def allows(self, seconds: float) -> bool:
        """Say whether so many seconds are left."""
        return self._end is None or self._clock() + seconds <= self._end


def works_of(
    results: Sequence[ExperimentResult], run_of: Callable[[ExperimentResult], RunSpec | None]
) -> list[tuple[RunCost, float]]:
    """Turn results that are there into experience; `run_of` reads the settings of one."""
    works = []
    for result in results:
        run = run_of(result)
        if run is not None:
            device = str(result.machine["device_type"])
            pairs = int(result.corpus["train_pairs"])
            work = RunCost.of(run, train_pairs=pairs, device=device, recipe=result.recipe)
            works.append((work, result.seconds))
    return works
