"""From pairs to a model: prepare, choose, estimate, train, export, check, evaluate, report."""

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field, replace
from hashlib import sha256
from pathlib import Path
from typing import Any

from rich.console import Console

from readagain.config.override import override
from readagain.config.schema import RunSpec
from readagain.corpus.inputs import CorpusInput
from readagain.corpus.manifest import CorpusManifest
from readagain.corpus.prepare import prepare
from readagain.corpus.readers.find import CorpusReadOptions, find_inputs
from readagain.corpus.report import REPORT_FILE, describe_dropped
from readagain.corpus.settings import PrepareSettings, SplitSize
from readagain.corpus.shards import PreparedCorpus
from readagain.corpus.work_dir import input_bytes, input_files
from readagain.corpus.workers import JobProgress
from readagain.counts import pluralize
from readagain.errors import ArgumentError, DataError
from readagain.export.recover import recover_weights
from readagain.fitting.plan import (
    EXTENDED_WORDS,
    MIN_PAIRS,
    FitPlan,
    Lengths,
    choose_size,
    find_size,
    fine_tuning_run,
    new_run,
)
from readagain.fitting.results import (
    MAX_TEST,
    NUM_CHECKED,
    REPORT_PAGE,
    Scores,
    evaluate_model,
    export_model,
    quoted_scores,
    training_notes,
    write_report,
)
from readagain.fitting.work_dir import FitDir, work_dir
from readagain.model_dir import ModelDir, check_new_dir
from readagain.processors import num_processors
from readagain.storage.bundled import find_model
from readagain.storage.checksums import file_checksum
from readagain.storage.files import read_json_object
from readagain.storage.output_dir import LocalDir
from readagain.text.language import UNDETERMINED, find_language
from readagain.training.job import TrainingJob
from readagain.training.loop import train
from readagain.training.parallel import DeviceName, choose_device
from readagain.training.provenance import device_name as machine_name
from readagain.training.timing import measure_job

_HELD_OUT = SplitSize(pairs=1000, max_share=0.05)
"""Pairs split off for dev and for test."""
_EXPORT_S = {"small": 0.05, "base": 0.1, "large": 0.15}
"""Seconds to check or evaluate one text on two cores, for the estimate."""
_SMALL_INPUT_BYTES = 4 << 20
_MAX_STATISTICS_BYTES = 256 << 20

Progress = Callable[[], AbstractContextManager[Callable[[JobProgress], None]]]


@dataclass(frozen=True, kw_only=True)
class FitResult:
    """Result of `fit`.

    Args:
        out: the model directory.
        is_finished: False if a signal stopped the training; the same call resumes it.
        scores: for `model` and each baseline, F1 of each measure in percent with the ends of its
            95% interval.
        notes: what a reader should know, as sentences.
    """

    out: Path
    is_finished: bool
    scores: Scores = field(default_factory=dict)
    notes: tuple[str, ...] = ()

    @property
    def report(self) -> Path:
        """The HTML page."""
        return self.out / REPORT_PAGE


def fit(
    pairs: str | Path | Sequence[str | Path],
    *,
    out: str | Path,
    size: str | None = None,
    base: str | Path | None = None,
    epochs: int | None = None,
    language: str | None = None,
    test: str | Path | None = None,
    reading: CorpusReadOptions | None = None,
    device: DeviceName = "auto",
    threads: int = 0,
    overwrite: bool = False,
    console: Console | None = None,
    progress: Progress = lambda: nullcontext(lambda progress: None),
) -> FitResult:
    """Train a model on pairs; write a model directory with a report.

    The same call resumes an interrupted fit; with more epochs it continues a finished one.

    Args:
        pairs: files or folders of (text, headline) pairs in any format of `readagain prepare`.
        out: the model directory; what the stages write is in `<out>.work` beside it.
        size: small, base or large; None chooses by the number of pairs and the machine.
        base: a model to fine-tune, bundled or a directory with weights.
        epochs: the maximum number of epochs; None chooses.
        language: code of the language; None detects it.
        test: pairs to evaluate on; None splits some off.
        reading: columns, format and encoding of the pairs.
        device: the device for training.
        threads: the number of CPU threads; 0 chooses.
        overwrite: delete another fit in `<out>.work` and its model.
        console: where progress is printed.
        progress: opens a display of the progress of reading.

    Raises:
        ReadAgainError: naming the input, option or directory and the problem.
    """
    out, console = Path(out), console or Console()
    if size is not None and base is not None:
        raise ArgumentError("{size}: conflicts with {base}, whose network is kept; remove one")
    if epochs is not None and epochs < 1:
        raise ArgumentError("{epochs} is {0}; expected 1 or more", epochs)
    given = [pairs] if isinstance(pairs, str | Path) else pairs
    held_out = [] if test is None else [str(test)]
    reading = reading or CorpusReadOptions()
    job = _Fit(
        out=out,
        sources=[
            *find_inputs([str(each) for each in given], reading, exclude=[*map(Path, held_out)]),
            *find_inputs(held_out, reading, split="test"),
        ],
        size=None if size is None else find_size(size),
        base=None if base is None else find_model(base),
        epochs=epochs,
        language=None if language is None else find_language(language).code,
        device=device,
        threads=threads,
        console=console,
        progress=progress,
    )
    directory = LocalDir(work_dir(out))
    if FitDir(directory).read_identity() is None:
        check_new_dir(out)
    with FitDir.open(directory, job.identity, overwrite=overwrite) as work:
        return job.run(work)


@dataclass(frozen=True, kw_only=True)
class _Fit:
    """Stages of a fit; each one resumes or repeats what an interrupted call left."""

    out: Path
    sources: list[CorpusInput]
    size: str | None
    base: Path | None
    epochs: int | None
    language: str | None
    device: DeviceName
    threads: int
    console: Console
    progress: Progress

    @property
    def identity(self) -> dict[str, Any]:
        """Inputs and options that determine the model, except the number of epochs."""
        return {
            **{str(each.path): _describe_content(each) for each in self.sources},
            "size": self.size,
            "base": None if self.base is None else str(self.base),
            "language": self.language,
        }

    def run(self, work: FitDir) -> FitResult:
        """Run all stages."""
        if (finished := self._finished(work)) is not None:
            self._say(f"{self.out}: finished already")
            return finished
        manifest = self._prepare(work)
        plan = self._plan(work, manifest)
        job = self._training_job(work, plan.run)
        result = train(
            job, device_name=self.device, threads=plan.timing.threads, console=self.console
        )
        if result is not None and not result.is_finished:
            return FitResult(
                out=self.out,
                is_finished=False,
                notes=(
                    f"stopped and saved at step {result.state.step:,} of "
                    f"{result.total_steps:,}; run the same command to resume",
                ),
            )
        return self._finish(work, plan)

    def _finished(self, work: FitDir) -> FitResult | None:
        """Return the result of a finished fit, or None if something is left to do."""
        finished, plan = work.finished, self._stored_plan(work)
        if finished is None or plan is None or not (self.out / REPORT_PAGE).exists():
            return None
        if finished["epochs"] < plan.run.train.epochs:
            return None
        return FitResult(
            out=self.out,
            is_finished=True,
            scores={
                name: {measure: tuple(values) for measure, values in scores.items()}
                for name, scores in finished["scores"].items()
            },
            notes=tuple(finished["notes"]),
        )

    def _prepare(self, work: FitDir) -> CorpusManifest:
        for source in self.sources:
            self._say(source.description)
        if not work.data.exists():
            has_test = any(source.split == "test" for source in self.sources)
            settings = PrepareSettings(
                language=self.language,
                skip_bad=True,
                dev=_HELD_OUT,
                test=SplitSize() if has_test else _HELD_OUT,
            )
            with self.progress() as on_progress:
                prepare(
                    self.sources,
                    work.data,
                    settings,
                    num_workers=self._num_workers,
                    on_progress=on_progress,
                )
        manifest = PreparedCorpus.open(work.data).manifest
        splits = manifest.splits
        self._say(
            f"{_describe_language(manifest, is_given=self.language is not None)}: "
            f"{pluralize(splits['train']['pairs'], 'pair')} to train on, "
            f"{splits['dev']['pairs']:,} for validation, {splits['test']['pairs']:,} for the report"
        )
        for reason, count, meaning in describe_dropped(manifest):
            self._say(f"  dropped {count:,}: {reason} ({meaning})")
        if splits["train"]["pairs"] < MIN_PAIRS:
            raise DataError(
                f"{self.sources[0].path}: only {pluralize(splits['train']['pairs'], 'pair')} to "
                f"train on; at least {MIN_PAIRS} are needed, and some thousands for headlines of "
                "use"
            )
        return manifest

    @property
    def _num_workers(self) -> int:
        """Number of processes for reading; they take longer to start than to read a small file."""
        num_bytes = sum(input_bytes(source) for source in self.sources)
        return num_processors() if num_bytes > _SMALL_INPUT_BYTES else 1

    def _plan(self, work: FitDir, manifest: CorpusManifest) -> FitPlan:
        """Return the settings of the run, chosen once and stored."""
        plan = self._stored_plan(work)
        if plan is None:
            run = self._choose_run(work, manifest)
            if self.epochs is not None:
                run = override(run, {"train.epochs": self.epochs})
            timing = measure_job(
                self._training_job(work, run), device_name=self.device, threads=self.threads
            )
            plan = FitPlan(run=run, size=self._size(manifest), timing=timing)
        work.write_plan(plan.to_dict())
        self._say_plan(plan, manifest)
        return plan

    def _stored_plan(self, work: FitDir) -> FitPlan | None:
        """Return the plan of an earlier call, with the epochs of this one if there are more."""
        content = work.plan
        if content is None:
            return None
        plan = FitPlan.from_dict(content)
        before = plan.run.train.epochs
        if self.epochs is None or self.epochs == before:
            return plan
        if self.epochs < before:
            raise ArgumentError(
                "{epochs} is {0}, but {1} was begun with {2}; use {2} or more, or start over with "
                "{overwrite}",
                self.epochs,
                self.out,
                before,
            )
        return replace(plan, run=override(plan.run, {"train.epochs": self.epochs}))

    def _size(self, manifest: CorpusManifest) -> str:
        if self.base is not None:
            return self.base.name
        num_pairs = manifest.splits["train"]["pairs"]
        return self.size or choose_size(num_pairs, has_gpu=self._has_gpu)

    @property
    def _has_gpu(self) -> bool:
        return choose_device(self.device).type == "cuda"

    def _choose_run(self, work: FitDir, manifest: CorpusManifest) -> RunSpec:
        num_pairs = manifest.splits["train"]["pairs"]
        if self.base is not None:
            run = ModelDir.open(self.base).run
            _check_language(run, manifest, self.base)
            return fine_tuning_run(run, num_pairs, has_gpu=self._has_gpu)
        report = read_json_object(work.data / REPORT_FILE, max_bytes=_MAX_STATISTICS_BYTES)
        return new_run(
            find_size(self._size(manifest)),
            num_pairs,
            Lengths.of(report["statistics"]["train"]),
            is_spaced=find_language(manifest.language).is_spaced,
            has_gpu=self._has_gpu,
        )

    def _training_job(self, work: FitDir, run: RunSpec) -> TrainingJob:
        return TrainingJob(
            preset=run,
            data=work.data,
            out=work.run,
            begin_from=self.base,
            extend_vocab=0 if self.base is None else EXTENDED_WORDS,
            recover_weights=recover_weights,
        )

    def _say_plan(self, plan: FitPlan, manifest: CorpusManifest) -> None:
        spec, timing = plan.run.train, plan.timing
        device = choose_device(self.device)
        cores = "" if device.type == "cuda" else f", {pluralize(timing.threads, 'thread')}"
        kind = "fine-tuning of" if self.base is not None else "network of size"
        self._say(f"{kind} {plan.size} on {machine_name(device)}{cores}")
        self._say(
            f"at most {pluralize(spec.epochs, 'epoch')} of "
            f"{pluralize(timing.steps_per_epoch, 'update')} with {spec.batch_size} pairs; stops "
            f"early after {pluralize(spec.patience, 'epoch')} without a lower dev loss"
        )
        num_texts = NUM_CHECKED + min(manifest.splits["test"]["pairs"], MAX_TEST)
        export_s = num_texts * _EXPORT_S.get(plan.size, 0.15)
        self._say(
            f"estimate: {timing.update_s:.2g} s per update, {_minutes(timing.run_s(spec.epochs))} "
            f"of training at most, then {_minutes(export_s)} to export and evaluate; longer if "
            "other programs use the processor"
        )

    def _finish(self, work: FitDir, plan: FitPlan) -> FitResult:
        """Export, check and evaluate the model, write the report and mark the fit as finished."""
        self._say("exporting and checking the int8 graphs")
        notes = [*export_model(work, self.out), *training_notes(work)]
        self._say("evaluating")
        evaluations = evaluate_model(work, self.out, self.base)
        write_report(work, self.out, plan, evaluations, notes)
        scores = {name: quoted_scores(each) for name, each in evaluations.items()}
        work.finish({"epochs": plan.run.train.epochs, "scores": scores, "notes": notes})
        return FitResult(out=self.out, is_finished=True, scores=scores, notes=tuple(notes))

    def _say(self, line: str) -> None:
        self.console.print(line, markup=False, highlight=False, soft_wrap=True)


def _check_language(run: RunSpec, manifest: CorpusManifest, base: Path) -> None:
    if manifest.language not in (run.data.language, UNDETERMINED):
        pairs, model = (find_language(code).name for code in (manifest.language, run.data.language))
        raise ArgumentError(
            "{base}: {0} is a model of {1}, the pairs are in {2}; train a new model without "
            "{base}, or name the language with {language} if it was detected wrongly",
            base.name,
            model,
            pairs,
        )


def _describe_language(manifest: CorpusManifest, *, is_given: bool) -> str:
    if manifest.language == UNDETERMINED and not is_given:
        return "language not recognized, set it if the rules of English do not suit"
    return find_language(manifest.language).name + ("" if is_given else " (detected)")


def _describe_content(source: CorpusInput) -> str:
    """Return how an input is read, and a checksum of its content."""
    digest = sha256()
    for file in input_files(source):
        digest.update(file_checksum(file).encode())
    return f"{source.description}, SHA-256 {digest.hexdigest()[:12]}"


def _minutes(seconds: float) -> str:
    """Return a duration in words.

    >>> _minutes(20), _minutes(100), _minutes(9000)
    ('less than a minute', 'about 2 minutes', 'about 2.5 hours')
    """
    if seconds < 45:
        return "less than a minute"
    if seconds < 5400:
        return f"about {pluralize(max(round(seconds / 60), 1), 'minute')}"
    return f"about {seconds / 3600:.1f} hours"
