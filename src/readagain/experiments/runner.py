"""Run the rows that are missing, one after the other, as far as the time reaches."""

import traceback
from dataclasses import dataclass

from rich.console import Console

from readagain.config.files import run_from_dict, run_to_dict
from readagain.config.override import override
from readagain.config.schema import RunSpec
from readagain.corpus.manifest import CorpusManifest
from readagain.errors import ConfigError, ReadAgainError
from readagain.experiments.budget import Budget, Estimator, RunCost, works_of
from readagain.experiments.corpora import Corpora
from readagain.experiments.examples import write_examples
from readagain.experiments.invented import invented_corpora
from readagain.experiments.plan import PlannedRun, choose_rows, is_available, plan_runs
from readagain.experiments.request import Request
from readagain.experiments.results import (
    ExperimentResult,
    read_result,
    read_results,
    result_file,
)
from readagain.experiments.run_row import InterruptedRunError, run_trained, run_untrained
from readagain.experiments.settings import common_words, row_run
from readagain.storage.differences import differences
from readagain.storage.locks import locked_dir
from readagain.training.parallel import choose_device

_LOOKS: dict[str, object] = {
    "title": "",
    "paper": "",
    "train.log_every": 1,
    "train.rouge_pairs": 0,
    "train.validate_every": 0,
}


@dataclass(frozen=True)
class ReproduceResult:
    """How a call ended, by the names of runs.

    Args:
        done: finished by this call.
        there: finished before.
        left: still to be done, for lack of time or because somebody asked to stop.
        failed: what went wrong with others.
        unknown: rows whose preset this version does not have.
        is_interrupted: whether somebody asked to stop.
    """

    done: list[str]
    there: list[str]
    left: list[str]
    failed: dict[str, str]
    unknown: list[str]
    is_interrupted: bool = False


def run_rows(request: Request, budget: Budget, console: Console) -> ReproduceResult:
    """Run what is missing of the rows that were asked for.

    A row that fails, or has a result of other settings, is told of and does not keep the others
    from being run.

    Raises:
        ConfigError: for names and sets that cannot be meant.
        ReadAgainError: for corpora that cannot be used.
    """
    rows, _ = choose_rows(request.names)
    outcome = ReproduceResult([], [], [], {}, [row.name for row in rows if not is_available(row)])
    if not rows:
        return outcome
    with locked_dir(request.out, action="running experiments into"):
        runner = _Runner(request, budget, console)
        plan = plan_runs(rows, request.recipes, seeds=request.seeds)
        waiting = [planned for planned in plan if is_available(planned.row)]
        for place, planned in enumerate(waiting):
            try:
                if runner.is_there(planned):
                    outcome.there.append(planned.name)
                    continue
                ran = runner.run(planned)
            except InterruptedRunError:
                outcome.left.extend(each.name for each in waiting[place:])
                return ReproduceResult(**{**vars(outcome), "is_interrupted": True})
            except Exception as error:  # an edge: hours of other rows should not be lost to one
                outcome.failed[planned.name] = runner.note_failure(planned, error)
                continue
            (outcome.done if ran else outcome.left).append(planned.name)
        runner.write_examples()
    return outcome


class _Runner:
    """Everything that rows share: the corpora, the device, and the experience with earlier ones."""

    def __init__(self, request: Request, budget: Budget, console: Console) -> None:
        self.request = request
        self.budget = budget
        self.console = console
        self.device = choose_device(request.device_name)
        self.corpora = _open_corpora(request)
        self.estimator = Estimator(works_of(read_results(request.out), settings_of))

    def is_there(self, planned: PlannedRun) -> bool:
        """Say whether a run has been done before.

        Raises:
            ConfigError: when the result that is there is of other settings, another corpus or
                other texts.
        """
        path = result_file(self.request.out, planned.row.name, planned.recipe, planned.seed)
        if not path.exists():
            return False
        result = read_result(path)
        found = [("corpus", result.corpus["fingerprint"], self._corpus(planned).fingerprint)]
        run = self._settings(planned)
        if run is not None:
            found += differences(_comparable(settings_of(result)), _comparable(run))
        # Other texts under one name, or more or fewer of them (--limit), could not be tabulated.
        found += [
            (f"the set '{test.name}'", result.sets[test.name].fingerprint, test.data.fingerprint)
            for test in self.corpora.tests(planned.row.min_sentences)
            if test.name in result.sets
        ]
        for name, before, now in found:
            if before != now:
                raise ConfigError(
                    f"{path}: a result of another run: {name} was {before!r} and is now {now!r}; "
                    "choose another --out, or remove the result"
                )
        return True

    def run(self, planned: PlannedRun) -> bool:
        """Run a row; False when there is not enough time left for it."""
        run = self._settings(planned)
        scale, out = self.request.scale, self.request.out
        if run is None:
            result = run_untrained(planned, self.corpora, out, scale=scale)
            self._tell(line_of(result))
            return True
        pairs = self._corpus(planned).splits["train"]["pairs"]
        work = RunCost.of(run, train_pairs=pairs, device=self.device.type, recipe=planned.recipe)
        expected = self.estimator.seconds(work)
        if not self.budget.allows(expected):
            return False
        self._tell(f"{planned.name}: about {expected:.0f} s")
        result = run_trained(
            planned,
            run,
            self.corpora,
            out,
            scale=scale,
            work=self.request.work / planned.name.replace("/", "-"),
            device=self.device,
            threads=self.request.threads,
            keep_weights=self.request.keep_weights,
            console=self.console,
        )
        self.estimator.add(work, result.seconds)
        self._tell(line_of(result))
        return True

    def write_examples(self) -> None:
        """Write examples of copied words, for the eye, where the rows for them are there."""
        own = self.corpora.tests(1)[0]
        recipes = dict.fromkeys(self.request.recipes)
        write_examples(self.request.out, own, self.corpora.common_vocab, recipes)

    def note_failure(self, planned: PlannedRun, error: Exception) -> str:
        """Say in a line what went wrong; where it was not foreseen, leave the traceback too."""
        if isinstance(error, ReadAgainError):
            message = str(error)
        else:
            path = self.request.work / f"{planned.name.replace('/', '-')}.failed.txt"
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text("".join(traceback.format_exception(error)), encoding="utf-8")
            message = f"{type(error).__name__}: {str(error).partition(chr(10))[0]}; see {path}"
        self._tell(f"{planned.name} failed: {message}")
        return message

    def _tell(self, line: str) -> None:
        self.console.print(line, highlight=False, markup=False, soft_wrap=True)

    def _corpus(self, planned: PlannedRun) -> CorpusManifest:
        return self.corpora.corpus(planned.row.min_sentences).manifest

    def _settings(self, planned: PlannedRun) -> RunSpec | None:
        if not planned.is_trained:
            return None
        recipe = next(each for each in self.request.recipes if each == planned.recipe)
        return row_run(
            planned.row,
            scale=self.request.scale,
            recipe=recipe,
            seed=planned.seed,
            train_pairs=self._corpus(planned).splits["train"]["pairs"],
            epochs=self.request.epochs,
        )


def line_of(result: ExperimentResult) -> str:
    """Write a result on a line: time, and ROUGE-1 / 2 / L on each set."""
    scores = "; ".join(
        f"{name} " + " / ".join(f"{100 * value:.2f}" for value, _, _ in each.rouge.values())
        for name, each in result.sets.items()
    )
    return f"{result.row}/{result.recipe}-seed{result.seed}: {result.seconds:.0f} s; {scores}"


def settings_of(result: ExperimentResult) -> RunSpec | None:
    """Read the settings of a result; None where there are none, or some that are unknown now."""
    if result.run is None:
        return None
    try:
        return run_from_dict(result.run, where=result.row)
    except ConfigError:
        return None


def _comparable(run: RunSpec | None) -> dict[str, object]:
    """Return what decides the numbers of a run; titles do not, nor how often one looks at it."""
    return {} if run is None else run_to_dict(override(run, _LOOKS))


def _open_corpora(request: Request) -> Corpora:
    data, tests = request.data, request.tests
    if data is None:
        if request.scale != "small":
            raise ConfigError(
                "no corpus to train on; name one with --data, or try everything on an invented "
                "one with --scale small"
            )
        data, invented = invented_corpora(request.work / "corpora")
        tests = {**invented, **tests}
    return Corpora(
        data,
        tests,
        work=request.work,
        common_words=common_words(request.scale),
        limit=request.limit,
    )
