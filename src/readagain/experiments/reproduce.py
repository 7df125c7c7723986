"""Rebuild the paper's tables: run the rows that are missing, then write what there is."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from rich.console import Console

from readagain.config.differences import differences
from readagain.config.files import run_from_dict, run_to_dict
from readagain.config.override import override
from readagain.config.schema import RunSpec
from readagain.errors import ConfigError
from readagain.experiments.budget import Budget, Estimator, Work, works_of
from readagain.experiments.corpora import Corpora
from readagain.experiments.invented import invented_corpora
from readagain.experiments.plan import PlannedRun, choose_rows, is_available, plan_runs
from readagain.experiments.results import (
    RESULT_FILE,
    RowResult,
    read_result,
    read_results,
    row_folder,
)
from readagain.experiments.run_row import InterruptedRunError, run_trained, run_untrained
from readagain.experiments.settings import Recipe, Scale, row_run
from readagain.file_lock import lock_file
from readagain.training.parallel import DeviceName, choose_device

WORK_FOLDER = "work"
_LOCK_FILE = ".lock"


@dataclass(frozen=True, kw_only=True)
class Request:
    """What a person asked for.

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
    device_name: DeviceName = "auto"
    threads: int = 0
    keep_weights: bool = False


@dataclass(frozen=True)
class Outcome:
    """How a call ended.

    Args:
        done: runs that this call finished.
        there: runs whose results were there already.
        left: runs that are still to be done.
        unknown: rows whose preset this version does not have.
        is_interrupted: whether somebody asked to stop.
    """

    done: list[str]
    there: list[str]
    left: list[str]
    unknown: list[str]
    is_interrupted: bool = False


def run_rows(request: Request, console: Console) -> Outcome:
    """Run what is missing of the rows that were asked for, as far as the budget reaches.

    Raises:
        ConfigError: for names, sets or results that cannot be meant.
        ReadAgainError: for corpora that cannot be used, and for training that diverges.
    """
    rows, _ = choose_rows(request.names)
    budget = Budget(request.budget)
    device = choose_device(request.device_name)
    work = request.out / WORK_FOLDER
    with _held(request.out):
        corpora = _corpora(request, work)
        plan = plan_runs(rows, request.recipes, seeds=request.seeds)
        unknown = [row.name for row in rows if not is_available(row)]
        plan = [planned for planned in plan if is_available(planned.row)]
        estimator = Estimator(works_of(read_results(request.out), _settings_of))
        done: list[str] = []
        there: list[str] = []
        left = list(plan)
        is_interrupted = False
        for planned in plan:
            folder = row_folder(request.out, planned.row.name, planned.recipe, planned.seed)
            run = _run_of(planned, request, corpora)
            if (folder / RESULT_FILE).exists():
                _check_same(folder, run, corpora, planned)
                there.append(planned.name)
                left.remove(planned)
                continue
            if run is None:
                run_untrained(planned, corpora, folder, scale=request.scale)
            else:
                pairs = _train_pairs(corpora, planned)
                key = Work.of(run, train_pairs=pairs, device=device.type, recipe=planned.recipe)
                expected = estimator.seconds(key)
                if not budget.allows(expected):
                    continue  # a shorter one may still fit
                console.print(f"{planned.name}: about {expected:.0f} s", highlight=False)
                try:
                    result = run_trained(
                        planned,
                        run,
                        corpora,
                        folder,
                        scale=request.scale,
                        work=work / planned.name.replace("/", "-"),
                        device=device,
                        threads=request.threads,
                        keep_weights=request.keep_weights,
                        console=console,
                    )
                except InterruptedRunError:
                    is_interrupted = True
                    break
                estimator.add(key, result.seconds)
                console.print(_line(result), highlight=False)
            done.append(planned.name)
            left.remove(planned)
    return Outcome(done, there, [planned.name for planned in left], unknown, is_interrupted)


def _line(result: RowResult) -> str:
    scores = "; ".join(
        f"{name} " + " / ".join(f"{100 * value:.2f}" for value, _, _ in each.rouge.values())
        for name, each in result.sets.items()
    )
    return f"{result.row}/{result.recipe}-seed{result.seed}: {result.seconds:.0f} s; {scores}"


def _corpora(request: Request, work: Path) -> Corpora:
    data, tests = request.data, request.tests
    if data is None:
        if request.scale != "small":
            raise ConfigError(
                "no corpus to train on; name one with --data, or try everything on an invented "
                "one with --scale small"
            )
        data, invented = invented_corpora(work / "corpora")
        tests = {**invented, **tests}
    return Corpora(data, tests, work=work, limit=request.limit)


def _train_pairs(corpora: Corpora, planned: PlannedRun) -> int:
    manifest = corpora.corpus(planned.row.min_sentences).manifest
    return int(manifest.splits["train"]["pairs"])


def _run_of(planned: PlannedRun, request: Request, corpora: Corpora) -> RunSpec | None:
    if not planned.is_trained:
        return None
    recipe: Recipe = "paper" if planned.recipe == "paper" else "modern"
    return row_run(
        planned.row,
        scale=request.scale,
        recipe=recipe,
        seed=planned.seed,
        train_pairs=_train_pairs(corpora, planned),
        epochs=request.epochs,
    )


def _settings_of(result: RowResult) -> RunSpec | None:
    """Read the settings of a result; None where there are none, or other ones than now."""
    if result.run is None:
        return None
    try:
        return run_from_dict(result.run, where=result.row)
    except ConfigError:
        return None


def _check_same(folder: Path, run: RunSpec | None, corpora: Corpora, planned: PlannedRun) -> None:
    """Refuse a result that is there and is of another run.

    Raises:
        ConfigError: naming the difference.
    """
    path = folder / RESULT_FILE
    result = read_result(path)
    fingerprint = corpora.corpus(planned.row.min_sentences).manifest.fingerprint
    found = [("corpus fingerprint", result.corpus["fingerprint"], fingerprint)]
    if run is not None:
        found += [*differences(_comparable(_settings_of(result)), _comparable(run))]
    for name, before, now in found:
        if before != now:
            raise ConfigError(
                f"{path}: a result of another run: {name} was {before!r} and is now {now!r}; "
                "choose another --out, or remove the result"
            )


def _comparable(run: RunSpec | None) -> dict[str, object]:
    """Return what decides the numbers of a run: titles do not."""
    return {} if run is None else run_to_dict(override(run, {"title": "", "paper": ""}))


@contextmanager
def _held(out: Path) -> Iterator[None]:
    """Hold a folder of results, so that two calls do not run the same rows."""
    try:
        out.mkdir(parents=True, exist_ok=True)
        lock = (out / _LOCK_FILE).open("a+")
    except OSError as error:
        raise ConfigError(
            f"{out}: cannot be written to: {error.strerror}; choose another --out"
        ) from error
    with lock:
        if not lock_file(lock):
            raise ConfigError(
                f"{out}: another 'readagain reproduce' is running into this folder; wait for it, "
                "or choose another --out and copy the rows together afterwards"
            )
        yield
