"""Stages of a fit: prepare, plan, train, export, evaluate, write a report."""

from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from rich.console import Console

from readagain.config.override import override
from readagain.config.schema import RunSpec
from readagain.corpus.inputs import CorpusInput, TooFewPairsError
from readagain.corpus.manifest import CorpusManifest
from readagain.corpus.report import REPORT_FILE
from readagain.corpus.shards import PreparedCorpus
from readagain.errors import ArgumentError, pluralize
from readagain.export.recover import recover_weights
from readagain.fitting.pairs import (
    ProgressDisplay,
    describe_content,
    describe_pairs,
    prepare_pairs,
)
from readagain.fitting.plan import (
    MIN_PAIRS,
    NUM_ADDED_WORDS,
    FitPlan,
    choose_fine_tuning_settings,
    choose_settings,
    choose_size,
)
from readagain.fitting.results import (
    MAX_TEST_PAIRS,
    NUM_CHECK_TEXTS,
    REPORT_PAGE,
    ScoresBySystem,
    evaluate_model,
    rouge_f1,
    training_notes,
    write_model,
    write_report_page,
)
from readagain.fitting.work_dir import PLAN_FILE, RESULTS_FILE, FitDir, work_dir
from readagain.formats.records import OnError
from readagain.model_dir import ModelDir
from readagain.storage.files import read_json_object
from readagain.storage.output_dir import LocalDir
from readagain.text.language import UNDETERMINED, find_language
from readagain.training.display import print_line
from readagain.training.job import TrainingJob
from readagain.training.loop import train
from readagain.training.parallel import DeviceName, choose_device
from readagain.training.provenance import describe_device
from readagain.training.timing import measure_job

_EVALUATION_S = {"small": 0.05, "base": 0.1, "large": 0.15}
"""Seconds per headline by size of the network, on two cores; used to estimate the duration of
export and evaluation."""
_MAX_REPORT_BYTES = 256 << 20
"""Maximum size of the report of `prepare`."""


@dataclass(frozen=True, kw_only=True)
class FitResult:
    """Result of `fit`.

    Args:
        out: the model directory.
        is_finished: False if a signal stopped the training; the same call resumes it.
        scores: for `model` and each baseline, the F1 of each ROUGE measure in percent with the
            lower and upper end of its 95% interval.
        notes: warnings and hints, as sentences.
    """

    out: Path
    is_finished: bool
    scores: ScoresBySystem = field(default_factory=dict)
    notes: tuple[str, ...] = ()

    @property
    def report(self) -> Path:
        """Path of the HTML report."""
        return self.out / REPORT_PAGE


@dataclass(frozen=True, kw_only=True)
class FitJob:
    """One call of `fit`; each stage skips or resumes what an earlier call has stored."""

    out: Path
    inputs: list[CorpusInput]
    size: str | None
    base: Path | None
    epochs: int | None
    language: str | None
    on_error: OnError
    device: DeviceName
    threads: int
    console: Console
    progress: ProgressDisplay

    @property
    def work(self) -> FitDir:
        """Working directory, with the results of the stages."""
        return FitDir(LocalDir(work_dir(self.out)))

    @property
    def identity(self) -> dict[str, Any]:
        """Inputs and options that determine the model, except the number of epochs."""
        return {
            **{str(source.path): describe_content(source) for source in self.inputs},
            "size": self.size,
            "base": None if self.base is None else str(self.base),
            "language": self.language,
        }

    def run(self) -> FitResult:
        """Run all stages and return the result."""
        result = self._load_result()
        if result is not None:
            self._print(f"{self.out}: finished already")
            return result
        manifest = self._prepare()
        plan = self._load_plan() or self._make_plan(manifest)
        self.work.write_json(PLAN_FILE, plan.to_dict())
        self._print_plan(plan, manifest)
        job = self._make_job(plan.run)
        training = train(
            job, device_name=self.device, threads=plan.timing.threads, console=self.console
        )
        if training is not None and not training.is_finished:
            return FitResult(
                out=self.out,
                is_finished=False,
                notes=(
                    f"stopped and saved at step {training.state.step:,} of "
                    f"{training.total_steps:,}; run the same command to resume",
                ),
            )
        return self._finish(plan)

    def _load_result(self) -> FitResult | None:
        """Return the result of an earlier call, or None if there is still work to do."""
        content, plan = self.work.read_json(RESULTS_FILE), self._load_plan()
        if content is None or plan is None or not (self.out / REPORT_PAGE).exists():
            return None
        if content["epochs"] < plan.run.train.epochs:  # this call asks for more epochs
            return None
        return FitResult(
            out=self.out,
            is_finished=True,
            scores={
                name: {measure: tuple(values) for measure, values in scores.items()}
                for name, scores in content["scores"].items()
            },
            notes=tuple(content["notes"]),
        )

    def _prepare(self) -> CorpusManifest:
        """Prepare the corpus unless it exists, print what it contains, and return its manifest.

        Raises:
            TooFewPairsError: if there are fewer than `MIN_PAIRS` training pairs.
        """
        for source in self.inputs:
            self._print(source.description)
        if not self.work.data.exists():
            try:
                prepare_pairs(
                    self.inputs,
                    self.work.data,
                    language=self.language,
                    on_error=self.on_error,
                    progress=self.progress,
                )
            except TooFewPairsError as error:  # it advises options that only `prepare` has
                dropped = f" (dropped: {error.dropped})" if error.dropped else ""
                raise self._too_few_error(f"too few pairs{dropped}") from error
        manifest = PreparedCorpus.open(self.work.data).manifest
        for line in describe_pairs(manifest, is_language_set=self.language is not None):
            self._print(line)
        num_pairs = manifest.splits["train"]["pairs"]
        if num_pairs < MIN_PAIRS:
            raise self._too_few_error(f"only {pluralize(num_pairs, 'pair')} to train on")
        return manifest

    def _too_few_error(self, problem: str) -> TooFewPairsError:
        return TooFewPairsError(
            "{0}: {1}; give at least {2}, or some thousands for good headlines",
            self.inputs[0].path,
            problem,
            MIN_PAIRS,
        )

    def _load_plan(self) -> FitPlan | None:
        """Return the plan of an earlier call, or None if there is none.

        If this call has more epochs, the plan gets these.

        Raises:
            ArgumentError: if this call has fewer epochs.
        """
        content = self.work.read_json(PLAN_FILE)
        if content is None:
            return None
        plan = FitPlan.from_dict(content)
        stored_epochs = plan.run.train.epochs
        if self.epochs is None or self.epochs == stored_epochs:
            return plan
        if self.epochs < stored_epochs:
            raise ArgumentError(
                "{epochs} is {0}, but {1} was started with {2}; use {2} or more, or start over "
                "with {overwrite}",
                self.epochs,
                self.out,
                stored_epochs,
            )
        return replace(plan, run=override(plan.run, {"train.epochs": self.epochs}))

    def _make_plan(self, manifest: CorpusManifest) -> FitPlan:
        """Choose the settings of network, training and decoding; measure a few updates."""
        num_pairs = manifest.splits["train"]["pairs"]
        has_gpu = choose_device(self.device).type == "cuda"
        if self.base is not None:
            network_name, base_run = self.base.name, ModelDir.open(self.base).run
            _check_language(base_run, manifest, self.base)
            run = choose_fine_tuning_settings(base_run, num_pairs, has_gpu=has_gpu)
        else:
            network_name = self.size or choose_size(num_pairs, has_gpu=has_gpu)
            report = read_json_object(self.work.data / REPORT_FILE, max_bytes=_MAX_REPORT_BYTES)
            run = choose_settings(
                network_name,
                num_pairs,
                report["statistics"]["train"],
                is_spaced=find_language(manifest.language).is_spaced,
                has_gpu=has_gpu,
            )
        if self.epochs is not None:
            run = override(run, {"train.epochs": self.epochs})
        self._print("measuring the speed of training")
        timing = measure_job(self._make_job(run), device_name=self.device, threads=self.threads)
        return FitPlan(run=run, network_name=network_name, timing=timing)

    def _make_job(self, run: RunSpec) -> TrainingJob:
        return TrainingJob(
            preset=run,
            data=self.work.data,
            out=self.work.run,
            begin_from=self.base,
            extend_vocab=0 if self.base is None else NUM_ADDED_WORDS,
            recover_weights=recover_weights,
        )

    def _print_plan(self, plan: FitPlan, manifest: CorpusManifest) -> None:
        """Print the network, the device, the number of epochs and the estimated duration."""
        spec, timing = plan.run.train, plan.timing
        device = choose_device(self.device)
        threads = "" if device.type == "cuda" else f", {pluralize(timing.threads, 'thread')}"
        network = "fine-tuning of" if self.base is not None else "network of size"
        self._print(f"{network} {plan.network_name} on {describe_device(device)}{threads}")
        limit, early_stop = "", ""
        if spec.patience < spec.epochs:
            limit = "at most "
            patience = pluralize(spec.patience, "epoch")
            early_stop = f"; stops early after {patience} without a lower dev loss"
        self._print(
            f"{limit}{pluralize(spec.epochs, 'epoch')} of "
            f"{pluralize(timing.steps_per_epoch, 'update')} with {spec.batch_size} pairs"
            f"{early_stop}"
        )
        num_texts = NUM_CHECK_TEXTS + min(manifest.splits["test"]["pairs"], MAX_TEST_PAIRS)
        export_s = num_texts * _EVALUATION_S.get(plan.network_name, _EVALUATION_S["large"])
        training_time = _format_duration(timing.run_s(spec.epochs))
        self._print(
            f"estimate: {timing.update_s:.2g} s per update, {training_time} of training at most, "
            f"then {_format_duration(export_s)} to export and evaluate; longer if other programs "
            "use the processor"
        )

    def _finish(self, plan: FitPlan) -> FitResult:
        """Export and evaluate the model, write the report, and mark the fit as finished."""
        self._print("exporting and checking the int8 graphs")
        notes = [*write_model(self.work, self.out), *training_notes(self.work)]
        self._print("evaluating")
        evaluations = evaluate_model(self.work, self.out, self.base)
        write_report_page(self.work, self.out, plan, evaluations, notes)
        scores = {name: rouge_f1(evaluation) for name, evaluation in evaluations.items()}
        self.work.write_json(
            RESULTS_FILE, {"epochs": plan.run.train.epochs, "scores": scores, "notes": notes}
        )
        return FitResult(out=self.out, is_finished=True, scores=scores, notes=tuple(notes))

    def _print(self, line: str) -> None:
        print_line(self.console, line)


def _check_language(run: RunSpec, manifest: CorpusManifest, base: Path) -> None:
    """Raise an error if the pairs and the model to fine-tune have different languages."""
    if manifest.language not in (run.data.language, UNDETERMINED):
        raise ArgumentError(
            "{base}: {0} is a model for {1}, but the pairs are in {2}; train a new model without "
            "{base}, or set {language} if the language was detected wrongly",
            base.name,
            find_language(run.data.language).name,
            find_language(manifest.language).name,
        )


def _format_duration(seconds: float) -> str:
    """Return a duration in words.

    >>> _format_duration(20), _format_duration(100), _format_duration(9000)
    ('less than a minute', 'about 2 minutes', 'about 2.5 hours')
    """
    if seconds < 45:
        return "less than a minute"
    if seconds < 5400:
        return f"about {pluralize(max(round(seconds / 60), 1), 'minute')}"
    return f"about {seconds / 3600:.1f} hours"
