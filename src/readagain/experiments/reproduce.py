"""Reproduction of the paper: run missing experiments, measure decoding time, write the report."""

import time
import traceback
from collections.abc import Sequence
from dataclasses import dataclass, field
from statistics import median

from rich.console import Console

from readagain.config.files import run_from_dict, run_to_dict
from readagain.config.override import override
from readagain.config.schema import RunSpec
from readagain.corpus.shards import PreparedCorpus
from readagain.errors import ArgumentError, ConfigError, MissingExtraError, ReadAgainError
from readagain.experiments.catalog import PlannedRun, plan_runs, select_experiments
from readagain.experiments.copying import write_examples
from readagain.experiments.corpora import Corpora
from readagain.experiments.report import write_report
from readagain.experiments.results import (
    TIMING_FILE,
    ExperimentResult,
    read_result,
    read_results,
    result_file,
)
from readagain.experiments.run_experiment import ExperimentRunner, InterruptedRunError
from readagain.experiments.sample_corpus import write_sample_corpora
from readagain.experiments.settings import (
    ReproduceOptions,
    common_vocab_size,
    experiment_run,
)
from readagain.experiments.timing import EXPECTED_S, measure_timing
from readagain.storage.differences import differences
from readagain.storage.locks import locked_dir
from readagain.training.stop_signal import StopSignal, catch_stop_signals

DECODING_TIME = "decoding time"
# Settings that do not change the scores of a run.
_NEUTRAL_SETTINGS: dict[str, object] = {
    "title": "",
    "paper": "",
    "train.log_every": 1,
    "train.rouge_pairs": 0,
    "train.validate_every": 0,
}
# Training examples per second of a 512-wide network, before any run was timed.
_EXAMPLES_PER_S = {("cuda", "modern"): 50_000.0, ("cuda", "paper"): 20_000.0}
_CPU_EXAMPLES_PER_S = 100.0
_OVERHEAD_S = 25.0  # loading, CUDA graph capture, decoding, scoring
_SAFETY_FACTOR = 1.1


@dataclass(kw_only=True)
class ReproduceResult:
    """Names of the runs by what happened to them.

    Args:
        done: finished by this call.
        existing: finished before.
        left: not run, because of the time limit or a stop signal.
        failed: error messages of failed runs.
        skipped: messages about missing programs of runs that need them.
        is_interrupted: whether a stop signal ended the call.
    """

    done: list[str] = field(default_factory=list)
    existing: list[str] = field(default_factory=list)
    left: list[str] = field(default_factory=list)
    failed: dict[str, str] = field(default_factory=dict)
    skipped: dict[str, str] = field(default_factory=dict)
    is_interrupted: bool = False


def reproduce(options: ReproduceOptions, console: Console) -> ReproduceResult:
    """Run the missing experiments, measure decoding time and write the report.

    After an interruption the same call resumes.

    Raises:
        ReadAgainError: for invalid options or corpora.
    """
    deadline = None
    if options.budget_minutes is not None:
        deadline = time.monotonic() + 60 * options.budget_minutes
    _, tables = select_experiments(options.names)
    result = run_experiments(options, console, deadline=deadline)
    if options.rows_only or result.is_interrupted:
        return result
    if "table4" in tables and not (options.out / TIMING_FILE).exists():
        if _is_too_late(deadline, EXPECTED_S[options.scale]):
            result.left.append(DECODING_TIME)
        else:
            measure_timing(options.out, scale=options.scale, threads=options.threads or 1)
            result.done.append(DECODING_TIME)
    if result.done or result.existing or not (result.left or result.failed or result.skipped):
        for problem in write_report(options.out):
            console.print(problem, highlight=False, markup=False, soft_wrap=True)
    return result


def run_experiments(
    options: ReproduceOptions, console: Console, *, deadline: float | None = None
) -> ReproduceResult:
    """Run the missing experiments; a failed one does not stop the others.

    No experiment should end after `deadline`, a `time.monotonic()` value.

    Raises:
        ReadAgainError: for invalid options or corpora.
    """
    experiments, _ = select_experiments(options.names)
    result = ReproduceResult()
    if not experiments:
        return result
    with (
        locked_dir(options.out, action="running experiments into"),
        catch_stop_signals() as stop,
    ):
        session = _Session(options, console, stop, deadline)
        plan = plan_runs(experiments, options.recipes, seeds=options.seeds)
        for position, planned in enumerate(plan):
            try:
                session.runner.check_stop()
                if session.is_done(planned):
                    result.existing.append(planned.name)
                elif session.run(planned):
                    result.done.append(planned.name)
                else:
                    result.left.append(planned.name)
            except InterruptedRunError:
                result.left.extend(each.name for each in plan[position:])
                result.is_interrupted = True
                return result
            except MissingExtraError as error:
                result.skipped[planned.name] = str(error)
            except Exception as error:  # one failure must not cost hours of other experiments
                result.failed[planned.name] = session.report_failure(planned, error)
        dev_set = session.corpora.tests(1)[0]
        recipes = dict.fromkeys(options.recipes)
        write_examples(options.out, dev_set, session.corpora.common_vocab, recipes)
    return result


class _Session:
    """Corpora, device and timing history that the runs of one call share."""

    def __init__(
        self,
        options: ReproduceOptions,
        console: Console,
        stop: StopSignal,
        deadline: float | None,
    ) -> None:
        self.options = options
        self.deadline = deadline
        self.corpora = _open_corpora(options)
        self.runner = ExperimentRunner(options, self.corpora, console, stop)
        self.history = read_results(options.out)

    def is_done(self, planned: PlannedRun) -> bool:
        """Return whether a result of the run exists.

        Raises:
            ConfigError: if it has other settings, another corpus or other texts.
        """
        key = (planned.experiment.name, planned.recipe, planned.seed)
        path = result_file(self.options.out, *key)
        if not path.exists():
            return False
        result = read_result(path)
        fingerprint = self._corpus(planned).manifest.fingerprint
        changes = [("corpus", result.corpus["fingerprint"], fingerprint)]
        if planned.experiment.is_trained:
            before = _settings_of(result)
            now = self._run_spec(planned)
            changes += differences({} if before is None else _comparable(before), _comparable(now))
        # Other texts under the same name, or another --limit, cannot share a table.
        changes += [
            (f"the set '{test.name}'", result.sets[test.name].fingerprint, test.data.fingerprint)
            for test in self.corpora.tests(planned.experiment.min_sentences)
            if test.name in result.sets
        ]
        for name, before_value, value in changes:
            if before_value != value:
                raise ArgumentError(
                    "{0}: a result of another run: {1} was {2!r} and is now {3!r}; choose another "
                    "{out}, or remove the result",
                    path,
                    name,
                    before_value,
                    value,
                )
        return True

    def run(self, planned: PlannedRun) -> bool:
        """Run an experiment; return False if there is not enough time."""
        if not planned.experiment.is_trained:
            result = self.runner.score_baseline(planned)
        else:
            run = self._run_spec(planned)
            expected_s = self._expected_seconds(planned, run)
            if _is_too_late(self.deadline, expected_s):
                return False
            self.runner.print(f"{planned.name}: about {expected_s:.0f} s")
            work = self.options.work / planned.name.replace("/", "-")
            result = self.runner.train_and_score(planned, run, work)
            self.history.append(result)
        scores = "; ".join(
            f"{name} " + " / ".join(f"{100 * value:.2f}" for value, _, _ in each.rouge.values())
            for name, each in result.sets.items()
        )
        self.runner.print(f"{planned.name}: {result.seconds:.0f} s; {scores}")
        return True

    def report_failure(self, planned: PlannedRun, error: Exception) -> str:
        """Print and return an error message; write the traceback of an unexpected error."""
        if isinstance(error, ReadAgainError):
            message = str(error)
        else:
            path = self.options.work / f"{planned.name.replace('/', '-')}.failed.txt"
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text("".join(traceback.format_exception(error)), encoding="utf-8")
            message = f"{type(error).__name__}: {str(error).partition(chr(10))[0]}; see {path}"
        self.runner.print(f"{planned.name} failed: {message}")
        return message

    def _corpus(self, planned: PlannedRun) -> PreparedCorpus:
        return self.corpora.corpus(planned.experiment.min_sentences)

    def _run_spec(self, planned: PlannedRun) -> RunSpec:
        return experiment_run(
            planned.experiment,
            scale=self.options.scale,
            recipe=next(each for each in self.options.recipes if each == planned.recipe),
            seed=planned.seed,
            train_pairs=self._corpus(planned).manifest.splits["train"]["pairs"],
            epochs=self.options.epochs,
        )

    def _expected_seconds(self, planned: PlannedRun, run: RunSpec) -> float:
        device = self.runner.device.type
        pairs = self._corpus(planned).manifest.splits["train"]["pairs"]
        timed = [
            (_cost(before, result.corpus["train_pairs"]), result.seconds)
            for result in self.history
            if (result.machine["device_type"], result.recipe) == (device, planned.recipe)
            and (before := _settings_of(result)) is not None
        ]
        rate = _EXAMPLES_PER_S.get((device, planned.recipe), _CPU_EXAMPLES_PER_S)
        return expected_seconds(_cost(run, pairs), timed, examples_per_s=rate)


def _cost(run: RunSpec, train_pairs: int) -> float:
    """Return the training examples of a run, weighted by the cost of one."""
    return (run.data.num_sentences + run.vocab_size / 60_000) * train_pairs * run.train.epochs


def expected_seconds(
    cost: float, timed: Sequence[tuple[float, float]], *, examples_per_s: float
) -> float:
    """Estimate the duration of a run, with a margin.

    `timed` has the cost and seconds of similar runs; without any, `examples_per_s` is assumed.
    """
    # The shortest run is an upper bound of the time that does not depend on the cost.
    overhead = min([_OVERHEAD_S, *(0.8 * seconds for _, seconds in timed)])
    per_example = [(seconds - overhead) / before for before, seconds in timed]
    return _SAFETY_FACTOR * (overhead + median(per_example or [1 / examples_per_s]) * cost)


def _is_too_late(deadline: float | None, seconds: float) -> bool:
    return deadline is not None and time.monotonic() + seconds > deadline


def _settings_of(result: ExperimentResult) -> RunSpec | None:
    """Return the settings of a result; None if it has none, or settings of another version."""
    if result.run is None:
        return None
    try:
        return run_from_dict(result.run, where=result.row)
    except ConfigError:
        return None


def _comparable(run: RunSpec) -> dict[str, object]:
    return run_to_dict(override(run, _NEUTRAL_SETTINGS))


def _open_corpora(options: ReproduceOptions) -> Corpora:
    data, tests = options.data, options.tests
    if data is None:
        if options.scale != "small":
            raise ArgumentError(
                "{data}: no corpus to train on; give a prepared corpus, or use {scale} small for "
                "an invented one"
            )
        data, invented = write_sample_corpora(options.work / "corpora")
        tests = {**invented, **tests}
    return Corpora(
        data,
        tests,
        work=options.work,
        common_vocab_size=common_vocab_size(options.scale),
        limit=options.limit,
    )
