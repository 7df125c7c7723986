"""Run one row: train it, summarize, score, measure, and keep what the tables need."""

import gc
import json
import platform
import shutil
import time
from collections.abc import Mapping, Sequence
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
from readagain.evaluation.evaluate import Evaluation, evaluate
from readagain.evaluation.machine import describe_machine
from readagain.evaluation.systems import load_system
from readagain.experiments.copied import count_unknown
from readagain.experiments.corpora import Corpora, DevSet
from readagain.experiments.importance import measure_importance
from readagain.experiments.plan import PlannedRun
from readagain.experiments.results import MEASURES, ExperimentResult, SetResult, pack, write_result
from readagain.experiments.torch_system import TrainedRow
from readagain.experiments.tuned import has_features, tune_row
from readagain.rouge.options import FIGURES
from readagain.storage.output_dir import LocalDir
from readagain.text.vocab import Vocab
from readagain.training.job import TrainingJob
from readagain.training.loop import train
from readagain.training.parallel import DeviceName
from readagain.training.provenance import device_name as name_of_device
from readagain.training.provenance import package_commit
from readagain.training.run_dir import METRICS_FILE, RunDir
from readagain.version import __version__

_CURVE = ("loss", "dev_loss", "rouge_1")
_MOST_POINTS = 100  # of a curve; more show nothing


class InterruptedRunError(Exception):
    """Somebody asked to stop; the state is saved."""


def run_untrained(
    planned: PlannedRun, corpora: Corpora, out: Path, *, scale: str
) -> ExperimentResult:
    """Score a system that needs no training."""
    began = time.monotonic()
    vocab = corpora.common_vocab
    sets, summaries = {}, {}
    for test in corpora.tests(planned.row.min_sentences):
        found = evaluate(load_system(planned.row.system, test.protocol), test.data, test.protocol)
        sets[test.name] = _set_result(found, {"common": vocab})
        summaries[test.name] = [summary.text for summary in found.summaries]
    result = ExperimentResult(
        row=planned.row.name,
        recipe=planned.recipe,
        seed=planned.seed,
        scale=scale,
        run=None,
        corpus=_describe_corpus(corpora.main),
        parameters=0,
        training={},
        machine=_machine(torch.device("cpu")),
        seconds=time.monotonic() - began,
        sets=sets,
    )
    write_result(out, result, summaries)
    return result


def run_trained(
    planned: PlannedRun,
    run: RunSpec,
    corpora: Corpora,
    out: Path,
    *,
    scale: str,
    work: Path,
    device: torch.device,
    threads: int,
    keep_weights: bool,
    console: Console,
) -> ExperimentResult:
    """Train a row, or go on with it, then score it; its weights go unless they are to be kept.

    Raises:
        InterruptedRunError: when it was asked to stop; the same call goes on from there.
    """
    began = time.monotonic()
    corpus = corpora.corpus(planned.row.min_sentences)
    _train(run, corpus, work, device, threads, console)
    trained_s = time.monotonic() - began
    row = TrainedRow(work, device)
    tests = corpora.tests(planned.row.min_sentences)
    training = _training_facts(work)
    if has_features(run):
        row, training["tuned"] = _tune(row, tests, planned.name, console)
    sets, summaries = _score(row, tests, corpora.common_vocab)
    result = ExperimentResult(
        row=planned.row.name,
        recipe=planned.recipe,
        seed=planned.seed,
        scale=scale,
        run=run_to_dict(run),
        corpus=_describe_corpus(corpus),
        parameters=count_parameters(row.folder.run),
        training=training,
        machine=_machine(device),
        # What was trained before an interruption counts too.
        seconds=time.monotonic() - began + max(0.0, 60 * training["minutes"] - trained_s),
        sets=sets,
        importance=measure_importance(row, tests[0].data),
    )
    write_result(out, result, summaries)
    del row
    _free(device)
    if not keep_weights:
        shutil.rmtree(work)
    return result


def _train(
    run: RunSpec,
    corpus: PreparedCorpus,
    work: Path,
    device: torch.device,
    threads: int,
    console: Console,
) -> None:
    work.parent.mkdir(parents=True, exist_ok=True)
    kind: DeviceName = "cuda" if device.type == "cuda" else "cpu"
    job = TrainingJob(preset=run, data=corpus.folder, out=work)
    outcome = train(job, device_name=kind, threads=threads, console=console)
    _free(device)
    if outcome is not None and not outcome.is_finished:
        raise InterruptedRunError


def _tune(
    row: TrainedRow, tests: Sequence[DevSet], name: str, console: Console
) -> tuple[TrainedRow, dict[str, Any] | None]:
    """Tune the features of a search; without a set for it the preset's weights stay."""
    tuned = tune_row(row, tests)
    if tuned is None:
        line = f"{name}: no set with several references to tune on; the preset's weights stay"
    else:
        weights = " ".join(f"{each} {value:g}" for each, value in tuned.facts["weights"].items())
        line = f"{name}: tuned on {tuned.facts['set']}: {weights}"
    console.print(line, highlight=False, markup=False, soft_wrap=True)
    return (row, None) if tuned is None else (tuned.row, tuned.facts)


def _score(
    row: TrainedRow, tests: Sequence[DevSet], common: Vocab
) -> tuple[dict[str, SetResult], dict[str, list[str]]]:
    sets, summaries = {}, {}
    for test in tests:
        found = evaluate(row.system(test.protocol), test.data, test.protocol)
        sets[test.name] = _set_result(found, {"own": row.folder.vocab, "common": common})
        summaries[test.name] = [summary.text for summary in found.summaries]
    return sets, summaries


def _set_result(found: Evaluation, vocabs: Mapping[str, Vocab]) -> SetResult:
    report = found.rouge
    figure = FIGURES.index(report.protocol.headline)
    columns = [list(report.scores).index(measure) for measure in MEASURES]
    quoted = {measure: report.headline(measure) for measure in MEASURES}
    return SetResult(
        protocol=found.protocol,
        figure=report.protocol.headline,
        fingerprint=found.data.fingerprint,
        rouge={name: [each.value, each.low, each.high] for name, each in quoted.items()},
        item_scores=pack(report.item_scores[:, columns, figure]),
        habits=asdict(found.habits),
        unknown={name: count_unknown(found, vocab).as_dict() for name, vocab in vocabs.items()},
        seconds=found.seconds,
    )


def _training_facts(work: Path) -> dict[str, Any]:
    """Say how training went: time, updates, what was kept, and the curves."""
    progress = RunDir(LocalDir(work)).finished_state()
    assert progress is not None
    curve: dict[str, list[list[float]]] = {name: [] for name in _CURVE}
    for line in (work / METRICS_FILE).read_text(encoding="utf-8").splitlines():
        record = json.loads(line)
        for name in _CURVE:
            if name in record:
                curve[name].append([round(record["epoch"], 3), round(record[name], 4)])
    curve = {name: points[:: 1 + len(points) // _MOST_POINTS] for name, points in curve.items()}
    return {
        "minutes": round(progress.minutes, 3),
        "updates": progress.step,
        "best": None if progress.best is None else asdict(progress.best),
        "curve": curve,
    }


def _describe_corpus(corpus: PreparedCorpus) -> dict[str, Any]:
    manifest = corpus.manifest
    return {
        "name": corpus.folder.resolve().name,
        "fingerprint": manifest.fingerprint,
        "train_pairs": manifest.splits["train"]["pairs"],
    }


def _machine(device: torch.device) -> dict[str, Any]:
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


def _free(device: torch.device) -> None:
    """Give the memory of one row back before the next begins."""
    gc.collect()
    if device.type == "cuda":
        torch.cuda.empty_cache()
