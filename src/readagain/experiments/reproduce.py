"""Reproduce the paper: run missing experiments, measure decoding time, write the report."""

import traceback
from dataclasses import dataclass, field

from rich.console import Console

from readagain.config.files import run_from_dict, spec_to_dict
from readagain.config.override import override
from readagain.config.schema import RunSpec
from readagain.errors import ArgumentError, ConfigError, MissingExtraError, ReadAgainError
from readagain.experiments.catalog import PlannedRun, plan_runs, select_experiments
from readagain.experiments.options import ReproduceOptions
from readagain.experiments.report import write_report
from readagain.experiments.results import TIMING_FILE, read_result, result_file
from readagain.experiments.run_experiment import ExperimentRunner, InterruptedRunError
from readagain.experiments.timing import measure_timing
from readagain.storage.differences import differences
from readagain.storage.locks import locked_dir
from readagain.training.display import print_line
from readagain.training.stop_signal import catch_stop_signals

DECODING_TIME = "decoding time"
"""Name of the measurement of Table 4 in `ReproduceResult.done`."""
_IGNORED_SETTINGS: dict[str, object] = {
    "title": "",
    "paper": "",
    "train.log_every": 1,
    "train.rouge_pairs": 0,
    "train.validate_every": 0,
}
"""Settings that may differ between two runs with the same result; they are set to these values
before runs are compared."""


@dataclass(kw_only=True)
class ReproduceResult:
    """Runs of a reproduction, by outcome.

    Args:
        done: names of the runs that this call has finished.
        existing: names of the runs that an earlier call has finished.
        failed: error message of each failed run, by name.
        skipped: message about the missing package or program of each skipped run, by name.
        is_interrupted: whether a stop signal ended the call.
    """

    done: list[str] = field(default_factory=list)
    existing: list[str] = field(default_factory=list)
    failed: dict[str, str] = field(default_factory=dict)
    skipped: dict[str, str] = field(default_factory=dict)
    is_interrupted: bool = False


def reproduce(options: ReproduceOptions, console: Console) -> ReproduceResult:
    """Run the missing experiments, measure decoding time and write the report.

    After an interruption, the same call resumes the reproduction.

    Raises:
        ReadAgainError: for invalid options or corpora.
    """
    result = run_experiments(options, console)
    if result.is_interrupted:
        return result
    is_timing_selected = not options.names or "table4" in options.names
    if is_timing_selected and not (options.out / TIMING_FILE).exists():
        measure_timing(options.out, scale=options.scale, threads=options.threads or 1)
        result.done.append(DECODING_TIME)
    # If runs were needed and none has a result, there is nothing to report.
    if result.done or result.existing or not (result.failed or result.skipped):
        for problem in write_report(options.out):
            print_line(console, problem)
    return result


def run_experiments(options: ReproduceOptions, console: Console) -> ReproduceResult:
    """Run the missing experiments; after a failed run, go on with the next.

    Raises:
        ReadAgainError: for invalid options or corpora.
    """
    experiments = select_experiments(options.names)
    result = ReproduceResult()
    if not experiments:
        return result
    with (
        locked_dir(options.out, action="writing experiments to"),
        catch_stop_signals() as stop,
    ):
        runner = ExperimentRunner(options, console, stop)
        plan = plan_runs(
            experiments, options.recipes, seeds=options.seeds, only_seed=options.only_seed
        )
        for number, planned in enumerate(plan, start=1):
            try:
                runner.check_stop()
                if _is_done(planned, runner):
                    result.existing.append(planned.name)
                else:
                    runner.print(f"run {number} of {len(plan)}: {planned.name}")
                    runner.run(planned)
                    result.done.append(planned.name)
            except InterruptedRunError:
                result.is_interrupted = True
                return result
            except MissingExtraError as error:
                result.skipped[planned.name] = str(error)
            except Exception as error:  # the other experiments may take hours; do not lose them
                result.failed[planned.name] = _describe_failure(planned, error, options)
                runner.print(f"{planned.name} failed: {result.failed[planned.name]}")
    return result


def _is_done(planned: PlannedRun, runner: ExperimentRunner) -> bool:
    """Return whether the result of a run exists.

    Raises:
        ArgumentError: if the result is of a run with other settings, another corpus or other texts.
    """
    path = result_file(runner.options.out, planned.name)
    if not path.exists():
        return False
    result = read_result(path)
    # Each comparison has a name, the value in the result, and the value of the planned run.
    fingerprint = runner.training_corpus(planned).manifest.fingerprint
    comparisons = [("corpus", result.corpus["fingerprint"], fingerprint)]
    if planned.experiment.is_trained:
        try:
            old_settings = _comparable_settings(run_from_dict(result.run or {}, where="run"))
        except ConfigError:  # this version cannot read the settings
            old_settings = {}
        comparisons += differences(old_settings, _comparable_settings(runner.run_spec(planned)))
    # A table cannot show scores on different texts, for example with another --limit.
    comparisons += [
        (f"the set '{test.name}'", result.sets[test.name].fingerprint, test.data.fingerprint)
        for test in runner.corpora.tests(planned.experiment.min_sentences)
        if test.name in result.sets
    ]
    for name, old, new in comparisons:
        if old != new:
            raise ArgumentError(
                "{0}: a result of another run: {1} was {2!r} and is now {3!r}; choose another "
                "{out}, or remove the result",
                path,
                name,
                old,
                new,
            )
    return True


def _comparable_settings(run: RunSpec) -> dict[str, object]:
    return spec_to_dict(override(run, _IGNORED_SETTINGS))


def _describe_failure(planned: PlannedRun, error: Exception, options: ReproduceOptions) -> str:
    """Return the message of an error; write the traceback of an unexpected error to a file."""
    if isinstance(error, ReadAgainError):
        return str(error)
    path = options.work / f"{planned.dir_name}.failed.txt"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(traceback.format_exception(error)), encoding="utf-8")
    return f"{type(error).__name__}: {str(error).partition(chr(10))[0]}; see {path}"
