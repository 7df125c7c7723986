"""Runs of experiments: train a network, generate summaries, score them, write the result."""

import gc
import json
import platform
import shutil
import time
from collections.abc import Callable, Mapping
from dataclasses import asdict
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import torch
from rich.console import Console

from readagain.config.files import run_to_dict
from readagain.config.parameters import count_parameters
from readagain.config.schema import RunSpec
from readagain.corpus.shards import PreparedCorpus
from readagain.errors import ArgumentError
from readagain.evaluation.evaluate import Evaluation, evaluate
from readagain.evaluation.systems import System, load_system
from readagain.evaluation.tuning import tune
from readagain.experiments.catalog import Experiment, PlannedRun
from readagain.experiments.copying import count_oov
from readagain.experiments.corpora import DUC, Corpora, EvaluationSet
from readagain.experiments.importance import measure_importance
from readagain.experiments.paper_examples import run_paper_examples
from readagain.experiments.results import (
    MEASURES,
    DatasetResult,
    ExperimentResult,
    pack_scores,
    write_result,
)
from readagain.experiments.settings import ReproduceOptions, experiment_run
from readagain.experiments.trained_model import ExperimentModel
from readagain.processors import describe_machine
from readagain.rouge.options import SCORE_KINDS
from readagain.search.features import FEATURES
from readagain.storage.output_dir import LocalDir
from readagain.text.vocab import Vocab
from readagain.training.checkpoint import latest_checkpoint
from readagain.training.job import TrainingJob
from readagain.training.loop import train
from readagain.training.parallel import choose_device
from readagain.training.provenance import device_name as name_of_device
from readagain.training.provenance import package_commit
from readagain.training.run_dir import METRICS_FILE, RunDir
from readagain.training.stop_signal import StopSignal
from readagain.version import __version__

_CURVE = ("loss", "dev_loss", "rouge_1")
_MAX_CURVE_POINTS = 100
_TUNE_OBJECTIVE = "rouge-1"
_TUNE_ROUNDS = 10


class InterruptedRunError(Exception):
    """Raised when a run stops at a stop signal; the same call resumes it."""


class ExperimentRunner:
    """Runs experiments and writes their results.

    Args:
        stop: stop signal, checked during training, decoding and tuning. A process that shares a GPU
            must not be killed in the middle of a kernel, since this ends the other processes too.
    """

    def __init__(self, options: ReproduceOptions, console: Console, stop: StopSignal) -> None:
        self.options = options
        self.corpora = Corpora(options)
        self.device = choose_device(options.device_name)
        self.console = console
        self.stop = stop

    def run_spec(self, planned: PlannedRun) -> RunSpec:
        """Return the settings of a run that trains a network."""
        corpus = self.training_corpus(planned)
        return experiment_run(
            planned.experiment,
            scale=self.options.scale,
            # `planned.recipe`, with the type `Recipe` instead of `str`
            recipe=next(each for each in self.options.recipes if each == planned.recipe),
            seed=planned.seed,
            train_pairs=corpus.manifest.splits["train"]["pairs"],
            epochs=self.options.epochs,
            changes=self.options.changes,
        )

    def training_corpus(self, planned: PlannedRun) -> PreparedCorpus:
        """Return the corpus of a run, whose dev split is used to choose the best checkpoint.

        For the recipe `converged`, this split consists of pairs held out from the train split, so
        that the checkpoint is not chosen on the dev pairs that are scored.
        """
        return self.corpora.corpus(
            planned.experiment.min_sentences, has_selection_split=planned.recipe == "converged"
        )

    def run(self, planned: PlannedRun) -> None:
        """Run an experiment, write its result and print its scores."""
        if planned.experiment.is_trained:
            self.print(f"{planned.name}: training")
            result = self.train_and_score(planned, self.run_spec(planned))
        else:
            result = self.score_baseline(planned)
        scores = "; ".join(
            f"{name} " + " / ".join(f"{100 * value:.2f}" for value, _, _ in each.rouge.values())
            for name, each in result.sets.items()
        )
        self.print(f"{planned.name}: {result.seconds:.0f} s; {scores}")

    def score_baseline(self, planned: PlannedRun) -> ExperimentResult:
        """Score a baseline."""
        start = time.monotonic()
        name = planned.experiment.system
        vocabs = {"common": self.corpora.common_vocab}
        sets, summaries = self._score(planned, lambda protocol: load_system(name, protocol), vocabs)
        result = self._result(planned, sets, seconds=time.monotonic() - start)
        write_result(self.options.out, result, summaries)
        return result

    def train_and_score(self, planned: PlannedRun, run: RunSpec) -> ExperimentResult:
        """Train a network, or resume its training, and score it.

        Its model directory is removed at the end unless `keep_weights`.
        """
        start = time.monotonic()
        work = self.options.work / planned.dir_name
        self._train(run, self.training_corpus(planned).folder, work)
        trained_s = time.monotonic() - start
        model = ExperimentModel(work, self.device)
        training = _describe_training(work)
        if has_features(run):
            model, training["tuned"] = self._tune(planned, model)
        vocabs = {"own": model.model_dir.vocab, "common": self.corpora.common_vocab}
        sets, summaries = self._score(planned, model.system, vocabs, model)
        # The first data set is the dev split of the corpus.
        dev_set = self.corpora.tests(planned.experiment.min_sentences)[0]
        result = self._result(
            planned,
            sets,
            run=run,
            parameters=count_parameters(model.model_dir.run),
            training=training,
            importance=measure_importance(model, dev_set.data),
            examples=run_paper_examples(model),
            # Include the training time before an interruption.
            seconds=time.monotonic() - start + max(0.0, 60 * training["minutes"] - trained_s),
        )
        write_result(self.options.out, result, summaries)
        del model
        self._free_memory()
        if not self.options.keep_weights:
            shutil.rmtree(work)
        return result

    def _result(
        self,
        planned: PlannedRun,
        sets: dict[str, DatasetResult],
        *,
        run: RunSpec | None = None,
        **values: Any,
    ) -> ExperimentResult:
        corpus = self.training_corpus(planned) if run else self.corpora.main
        defaults = {"parameters": 0, "training": {}}
        return ExperimentResult(
            row=planned.experiment.name,
            recipe=planned.recipe,
            seed=planned.seed,
            scale=self.options.scale,
            run=None if run is None else run_to_dict(run),
            corpus={
                "name": corpus.folder.resolve().name,
                "fingerprint": corpus.manifest.fingerprint,
                "train_pairs": corpus.manifest.splits["train"]["pairs"],
            },
            machine=_describe_machine(self.device if run else torch.device("cpu")),
            sets=sets,
            **{**defaults, **values},
        )

    def _train(self, run: RunSpec, corpus: Path, work: Path) -> None:
        work.parent.mkdir(parents=True, exist_ok=True)
        job = TrainingJob(preset=run, data=corpus, out=work)
        ended = train(
            job,
            device_name="cuda" if self.device.type == "cuda" else "cpu",
            threads=self.options.threads,
            console=self.console,
            stop=self.stop,
            max_minutes=self.options.max_minutes,
        )
        self._free_memory()
        if ended is None or ended.is_finished:
            return
        if self.options.max_minutes is None or self.stop.is_set:
            raise InterruptedRunError
        if ended.state.best is None:
            raise ArgumentError(
                "{0}: no validation within the {1:g} minutes of training; choose a larger "
                "{max_minutes}, and the run resumes",
                work,
                self.options.max_minutes,
            )

    def _tune(
        self, planned: PlannedRun, model: ExperimentModel
    ) -> tuple[ExperimentModel, dict[str, Any] | None]:
        """Tune the extractive features on the first data set with several references.

        ABS+ is tuned on DUC 2003 in its paper.
        """
        tests = self.corpora.tests(planned.experiment.min_sentences)
        test = next((each for each in tests if each.protocol == DUC), None)
        if test is None:
            self.print(
                f"{planned.name}: not tuned: no data set with several references; the weights of "
                "the preset are used"
            )
            return model, None
        system = model.system(test.protocol)
        options: dict[str, Any] = {"measure": _TUNE_OBJECTIVE, "max_rounds": _TUNE_ROUNDS}
        rounds = list(tune(system, test.data, test.protocol, on_summary=self.check_stop, **options))
        best = max(rounds, key=lambda each: each.value)
        weights = " ".join(f"{name} {value:g}" for name, value in best.weights_by_name.items())
        self.print(f"{planned.name}: tuned on {test.name}: {weights}")
        return model.with_decode(best.settings), {
            "set": test.name,
            "objective": _TUNE_OBJECTIVE,
            "weights": best.weights_by_name,
            "rounds": [each.value for each in rounds],
        }

    def _score(
        self,
        planned: PlannedRun,
        system: Callable[[str], System],
        vocabs: Mapping[str, Vocab],
        model: ExperimentModel | None = None,
    ) -> tuple[dict[str, DatasetResult], dict[str, list[str]]]:
        """Return the scores and the summaries by data set.

        `system` returns the system for a protocol. Words outside each of `vocabs` are counted. If
        there is a `model`, it is scored a second time with the decoding of its own paper.
        """
        sets, summaries = {}, {}
        for test in self.corpora.tests(planned.experiment.min_sentences):
            result = self._evaluate(system(test.protocol), test)
            own = None
            if model is not None:
                words = result.reference_stats.words
                own = self._score_own_decoding(planned.experiment, model, test, words)
            sets[test.name] = DatasetResult(
                protocol=result.protocol,
                figure=result.rouge.protocol.main_score,  # "f1" or "recall"
                fingerprint=result.data.fingerprint,
                habits=asdict(result.stats),  # statistics, such as the mean length
                unknown={name: count_oov(result, vocab) for name, vocab in vocabs.items()},
                seconds=result.seconds,
                own=own,
                **_rouge(result),
            )
            summaries[test.name] = [summary.text for summary in result.summaries]
        return sets, summaries

    def _score_own_decoding(
        self, experiment: Experiment, model: ExperimentModel, test: EvaluationSet, words: float
    ) -> dict[str, Any] | None:
        """Return `DatasetResult.own`: scores with the decoding of the system's own paper.

        `words` is the mean length of the references.
        """
        decode = own_decoding(experiment, test.protocol, words)
        allow_unk = experiment.generates_unk and not model.can_copy
        if not decode and not allow_unk:
            return None
        result = self._evaluate(model.system(test.protocol, decode, allow_unk=allow_unk), test)
        return {
            "decode": decode,
            "allow_unk": allow_unk,
            **_rouge(result),
            "words": result.stats.words,
            "summaries_with_unk": result.summaries_with_unk,
        }

    def _evaluate(self, system: System, test: EvaluationSet) -> Evaluation:
        return evaluate(system, test.data, test.protocol, on_summary=self.check_stop)

    def check_stop(self) -> None:
        """Raise `InterruptedRunError` after a stop signal, when the GPU is idle."""
        if self.stop.is_set:
            self._free_memory()
            raise InterruptedRunError

    def _free_memory(self) -> None:
        """Wait for the GPU, then destroy unused networks and CUDA graphs and free their memory."""
        if self.device.type == "cuda":
            torch.cuda.synchronize()
        gc.collect()
        if self.device.type == "cuda":
            torch.cuda.empty_cache()

    def print(self, line: str) -> None:
        """Print a line without markup."""
        self.console.print(line, highlight=False, markup=False, soft_wrap=True)


def own_decoding(experiment: Experiment, protocol: str, words: float) -> dict[str, int]:
    """Return the settings in which a system's own paper differs from those of all experiments.

    If that paper generates summaries of a fixed length, the length is `words`, the mean length of
    the references. By the DUC protocol it is not set here: all experiments generate 15 words.
    """
    decode = dict(experiment.own_decode)
    if experiment.has_fixed_length and protocol != DUC:
        decode["min_words"] = decode["max_words"] = max(1, round(words))
    return decode


def has_features(run: RunSpec) -> bool:
    """Return whether the search uses extractive features, as ABS+ does."""
    return any(getattr(run.decode, f"{name}_bonus") for name in FEATURES)


def _rouge(result: Evaluation) -> dict[str, Any]:
    """Return the scores of an evaluation, and the packed scores of every text."""
    report = result.rouge
    kind = SCORE_KINDS.index(report.protocol.main_score)
    columns = [list(report.scores).index(measure) for measure in MEASURES]
    scores = {measure: report.main_score(measure) for measure in MEASURES}
    return {
        "rouge": {name: [each.value, each.low, each.high] for name, each in scores.items()},
        "item_scores": pack_scores(report.item_scores[:, columns, kind]),
    }


def _describe_training(work: Path) -> dict[str, Any]:
    """Return the duration, the selected checkpoint and the learning curve of a training."""
    run_dir = RunDir(LocalDir(work))
    progress = run_dir.finished_state()
    ended_by = "epochs"
    if progress is None:
        checkpoint = latest_checkpoint(run_dir.checkpoints)
        assert checkpoint is not None
        progress, ended_by = checkpoint.state, "time limit"
    elif progress.has_stopped_early:
        ended_by = "patience"
    curve: dict[str, list[list[float]]] = {name: [] for name in _CURVE}
    for line in (work / METRICS_FILE).read_text(encoding="utf-8").splitlines():
        record = json.loads(line)
        for name in _CURVE:
            if name in record:
                curve[name].append([round(record["epoch"], 3), round(record[name], 4)])
    return {
        "minutes": round(progress.minutes, 3),
        "updates": progress.step,
        "ended_by": ended_by,
        "best": None if progress.best is None else asdict(progress.best),
        "curve": {
            name: points[:: 1 + len(points) // _MAX_CURVE_POINTS] for name, points in curve.items()
        },
    }


def _describe_machine(device: torch.device) -> dict[str, Any]:
    return {
        "device_type": device.type,
        "device": name_of_device(device),
        "processor": describe_machine(),
        "python": platform.python_version(),
        "torch": torch.__version__,
        "readagain": __version__,
        "commit": package_commit(),
        "date": datetime.now(UTC).date().isoformat(),
    }
