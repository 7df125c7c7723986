"""Runs of experiments: train a network, generate summaries, score them, write the result."""

import gc
import platform
import shutil
import time
from dataclasses import asdict, astuple
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import torch
from rich.console import Console

from readagain.config.files import spec_to_dict
from readagain.config.schema import RunSpec
from readagain.corpus.shards import PreparedCorpus
from readagain.errors import ArgumentError
from readagain.evaluation.evaluate import Evaluation, evaluate
from readagain.evaluation.systems import System, load_system
from readagain.evaluation.tuning import TUNED_MEASURE, tune
from readagain.experiments.catalog import Experiment, PlannedRun
from readagain.experiments.copying import count_oov
from readagain.experiments.corpora import DUC, Corpora, EvaluationSet
from readagain.experiments.importance import measure_importance
from readagain.experiments.options import ReproduceOptions
from readagain.experiments.paper_examples import run_paper_examples
from readagain.experiments.results import (
    DatasetResult,
    ExperimentResult,
    pack_scores,
    write_result,
)
from readagain.experiments.settings import experiment_run
from readagain.experiments.trained_model import ExperimentModel
from readagain.networks.build import count_parameters
from readagain.processors import describe_machine
from readagain.rouge.options import MEASURES, SCORE_KINDS
from readagain.search.features import FEATURE_NAMES
from readagain.storage.output_dir import LocalDir
from readagain.training.checkpoint import latest_checkpoint
from readagain.training.display import print_line
from readagain.training.job import TrainingJob
from readagain.training.loop import train
from readagain.training.metrics import read_curves
from readagain.training.parallel import choose_device
from readagain.training.provenance import describe_device, package_commit, source_hash
from readagain.training.run_dir import RunDir
from readagain.training.stop_signal import StopSignal
from readagain.version import __version__

ScoredSets = tuple[dict[str, DatasetResult], dict[str, list[str]]]
"""Scores and summaries by data set."""


class InterruptedRunError(Exception):
    """Raised when a stop signal ends a run; the same call resumes the run."""


class ExperimentRunner:
    """Runs experiments and writes their results.

    Args:
        options: options of the reproduction.
        console: console for progress messages.
        stop: stop signal, checked during training, decoding and tuning. Killing a process in the
            middle of a GPU kernel would also end the other processes that share the GPU.
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
            recipe=planned.recipe,
            seed=planned.seed,
            train_pairs=corpus.manifest.splits["train"]["pairs"],
            epochs=self.options.epochs,
            changes=self.options.changes,
        )

    def training_corpus(self, planned: PlannedRun) -> PreparedCorpus:
        """Return the corpus of a run. The best checkpoint is chosen on its dev split.

        For the recipe `converged`, this dev split has pairs that are held out from the train split,
        so the checkpoint is not chosen on the dev pairs that are scored. A baseline, which is not
        trained, has the whole corpus.
        """
        return self.corpora.corpus(
            planned.experiment.min_sentences, has_selection_split=planned.recipe == "converged"
        )

    def run(self, planned: PlannedRun) -> None:
        """Run an experiment, write its result and print its scores."""
        if planned.experiment.is_trained:
            result = self.train_and_score(planned, self.run_spec(planned))
        else:
            result = self.score_baseline(planned)
        scores = "; ".join(
            f"{name} "
            + " / ".join(f"{100 * value:.2f}" for value, _, _ in dataset_result.rouge.values())
            for name, dataset_result in result.sets.items()
        )
        self.print(f"{planned.name}: {result.seconds:.0f} s; ROUGE-1 / 2 / L: {scores}")

    def score_baseline(self, planned: PlannedRun) -> ExperimentResult:
        """Score a baseline and write the result."""
        start = time.monotonic()
        scored = self._score(planned, None)
        return self._write_result(planned, scored, seconds=time.monotonic() - start)

    def train_and_score(self, planned: PlannedRun, run: RunSpec) -> ExperimentResult:
        """Train a network, or resume its training, then score it and write the result.

        The model directory is removed at the end unless `options.keep_weights`.
        """
        start = time.monotonic()
        model_path = self.options.work / planned.dir_name
        self._train(run, self.training_corpus(planned).folder, model_path)
        trained_s = time.monotonic() - start
        model = ExperimentModel(model_path, self.device)
        training = _describe_training(model_path)
        if has_features(run):
            model, training["tuned"] = self._tune(planned, model)
        scored = self._score(planned, model)
        # The first data set is the dev split of the corpus.
        dev_set = self.corpora.tests(planned.experiment.min_sentences)[0]
        # A resumed training took longer than in this call.
        earlier_training_s = max(0.0, 60 * training["minutes"] - trained_s)
        result = self._write_result(
            planned,
            scored,
            run=spec_to_dict(run),
            parameters=count_parameters(model.model_dir.run),
            training=training,
            importance=measure_importance(model, dev_set.data),
            examples=run_paper_examples(model),
            seconds=time.monotonic() - start + earlier_training_s,
        )
        del model
        self._free_memory()
        if not self.options.keep_weights:
            shutil.rmtree(model_path)
        return result

    def _write_result(
        self, planned: PlannedRun, scored: ScoredSets, **fields: Any
    ) -> ExperimentResult:
        """Write and return a result; `fields` are other fields of `ExperimentResult`."""
        corpus, (sets, summaries) = self.training_corpus(planned), scored
        device = self.device if planned.experiment.is_trained else torch.device("cpu")
        result = ExperimentResult(
            row=planned.experiment.name,
            recipe=planned.recipe,
            seed=planned.seed,
            scale=self.options.scale,
            corpus={
                "name": corpus.folder.resolve().name,
                "fingerprint": corpus.manifest.fingerprint,
                "train_pairs": corpus.manifest.splits["train"]["pairs"],
            },
            machine=_describe_machine(device),
            sets=sets,
            **fields,
        )
        write_result(self.options.out, result, summaries)
        return result

    def _train(self, run: RunSpec, corpus: Path, model_path: Path) -> None:
        """Train a network to the end or the time limit.

        Raises:
            InterruptedRunError: after a stop signal.
            ArgumentError: if the time limit came before the first validation.
        """
        model_path.parent.mkdir(parents=True, exist_ok=True)
        job = TrainingJob(preset=run, data=corpus, out=model_path)
        result = train(
            job,
            device_name="cuda" if self.device.type == "cuda" else "cpu",
            threads=self.options.threads,
            console=self.console,
            stop=self.stop,
            max_minutes=self.options.max_minutes,
        )
        self._free_memory()
        if result is None or result.is_finished:  # None if the training was finished before
            return
        if self.options.max_minutes is None or self.stop.is_set:
            raise InterruptedRunError
        if result.state.best is None:
            raise ArgumentError(
                "{0}: no validation within the {1:g} minutes of training; choose a larger "
                "{max_minutes}, and the run resumes",
                model_path,
                self.options.max_minutes,
            )

    def _tune(
        self, planned: PlannedRun, model: ExperimentModel
    ) -> tuple[ExperimentModel, dict[str, Any] | None]:
        """Tune the weights of the extractive features, as the paper of ABS+ does on DUC 2003.

        The data set is the first with several references.

        Returns:
            The model with the tuned weights, and a record of the tuning; the unchanged model and
            None if there is no such data set.
        """
        tests = self.corpora.tests(planned.experiment.min_sentences)
        duc_test = next((test for test in tests if test.protocol == DUC), None)
        if duc_test is None:
            self.print(
                f"{planned.name}: not tuned: no data set with several references; the weights of "
                "the preset are used"
            )
            return model, None
        rounds = list(
            tune(
                model.system(duc_test.protocol),
                duc_test.data,
                duc_test.protocol,
                on_summary=self.check_stop,
            )
        )
        best = max(rounds, key=lambda round_: round_.value)
        weights = " ".join(f"{name} {value:g}" for name, value in best.weights_by_name.items())
        self.print(f"{planned.name}: tuned on {duc_test.name}: {weights}")
        return model.with_decode(best.settings), {
            "set": duc_test.name,
            "objective": TUNED_MEASURE,
            "weights": best.weights_by_name,
            "rounds": [round_.value for round_ in rounds],
        }

    def _score(self, planned: PlannedRun, model: ExperimentModel | None) -> ScoredSets:
        """Score a system on all data sets.

        A network is also scored with the decoding settings of its own paper. `model` is None for a
        baseline.
        """
        sets, summaries = {}, {}
        for test in self.corpora.tests(planned.experiment.min_sentences):
            own = None
            if model is None:
                system = load_system(planned.experiment.system, test.protocol)
                result = self._evaluate(system, test)
            else:
                result = self._evaluate(model.system(test.protocol), test)
                reference_words = result.reference_stats.words
                own = self._score_own_decoding(planned.experiment, model, test, reference_words)
            sets[test.name] = DatasetResult(
                protocol=result.protocol,
                figure=result.rouge.protocol.main_score,
                fingerprint=result.data.fingerprint,
                habits=asdict(result.stats),
                unknown={"common": count_oov(result, self.corpora.common_vocab)},
                seconds=result.seconds,
                own=own,
                **_rouge_fields(result),
            )
            summaries[test.name] = [summary.text for summary in result.summaries]
        return sets, summaries

    def _score_own_decoding(
        self,
        experiment: Experiment,
        model: ExperimentModel,
        test: EvaluationSet,
        reference_words: float,
    ) -> dict[str, Any] | None:
        """Return `DatasetResult.own`: scores with the decoding settings of the system's own paper.

        `reference_words` is the mean length of the references.
        """
        decode = own_decode_settings(experiment, test.protocol, reference_words)
        allow_unk = experiment.generates_unk and not model.can_copy
        if not decode and not allow_unk:
            return None
        result = self._evaluate(model.system(test.protocol, decode, allow_unk=allow_unk), test)
        return {
            "decode": decode,
            "allow_unk": allow_unk,
            **_rouge_fields(result),
            "words": result.stats.words,
            "summaries_with_unk": result.summaries_with_unk,
        }

    def _evaluate(self, system: System, test: EvaluationSet) -> Evaluation:
        return evaluate(system, test.data, test.protocol, on_summary=self.check_stop)

    def check_stop(self) -> None:
        """After a stop signal, wait until the GPU is idle and raise `InterruptedRunError`."""
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
        """Print a line."""
        print_line(self.console, line)


def own_decode_settings(
    experiment: Experiment, protocol: str, reference_words: float
) -> dict[str, int]:
    """Return the decoding settings of the system's own paper that are different here.

    If the paper generates summaries of a fixed length, that length is the mean length of the
    references. With the DUC protocol, all experiments generate 15 words, so it needs no setting.
    """
    decode = dict(experiment.own_decode)
    if experiment.has_fixed_length and protocol != DUC:
        decode["min_words"] = decode["max_words"] = max(1, round(reference_words))
    return decode


def has_features(run: RunSpec) -> bool:
    """Return whether the search uses extractive features, as ABS+ does."""
    return any(getattr(run.decode, f"{name}_bonus") for name in FEATURE_NAMES)


def _rouge_fields(result: Evaluation) -> dict[str, Any]:
    """Return the fields `rouge` and `item_scores` of a `DatasetResult`."""
    report = result.rouge
    kind = SCORE_KINDS.index(report.protocol.main_score)
    columns = [list(report.scores).index(measure) for measure in MEASURES]
    return {
        "rouge": {measure: list(astuple(report.main_score(measure))) for measure in MEASURES},
        "item_scores": pack_scores(report.item_scores[:, columns, kind]),
    }


def _describe_training(model_path: Path) -> dict[str, Any]:
    """Return `ExperimentResult.training`: duration, selected checkpoint and validation losses."""
    run_dir = RunDir(LocalDir(model_path))
    state = run_dir.finished_state()
    if state is None:
        checkpoint = latest_checkpoint(run_dir.checkpoints)
        assert checkpoint is not None
        state, ended_by = checkpoint.state, "time limit"
    else:
        ended_by = "patience" if state.has_stopped_early else "epochs"
    curves = read_curves(model_path)
    epoch_by_step = dict(curves["epoch"])
    losses = [
        [round(epoch_by_step[step], 3), round(loss, 4)] for step, loss in curves.get("dev_loss", ())
    ]
    return {
        "minutes": round(state.minutes, 3),
        "updates": state.step,
        "ended_by": ended_by,
        "best": None if state.best is None else asdict(state.best),
        "curve": {"dev_loss": losses},
    }


def _describe_machine(device: torch.device) -> dict[str, Any]:
    return {
        "device_type": device.type,
        "device": describe_device(device),
        "processor": describe_machine(),
        "python": platform.python_version(),
        "torch": torch.__version__,
        "readagain": __version__,
        "commit": package_commit() or source_hash(),
        "date": datetime.now(UTC).date().isoformat(),
    }
