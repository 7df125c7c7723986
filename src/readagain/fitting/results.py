"""Results of a trained run: exported model, scores, notes and report."""

from dataclasses import asdict
from pathlib import Path

from readagain.config.parameters import count_parameters
from readagain.corpus.manifest import CorpusManifest
from readagain.corpus.readers.find import CorpusReadOptions
from readagain.counts import pluralize
from readagain.errors import ArtifactError
from readagain.evaluation.dataset import read_dataset
from readagain.evaluation.evaluate import Evaluation, evaluate
from readagain.evaluation.report import write_text
from readagain.evaluation.systems import Lead, System, load_system
from readagain.export.check import check_graphs, corpus_texts
from readagain.export.write import describe_export, model_graphs, write_graphs
from readagain.fitting.page import FitReport, render_report
from readagain.fitting.plan import FitPlan
from readagain.fitting.work_dir import FitDir
from readagain.model_dir import ModelDir, Precision
from readagain.processors import num_threads
from readagain.rouge.options import UNICODE
from readagain.rouge.significance import compare_reports
from readagain.storage.bundled import model_name
from readagain.storage.output_dir import LocalDir
from readagain.text.language import find_language
from readagain.training.curves import read_curves
from readagain.training.run_dir import RunDir

REPORT_PAGE = "report.html"
PROTOCOL = UNICODE
MAX_TEST = 2000
"""Test pairs that are scored."""
NUM_CHECKED = 500
"""Texts that the graphs are compared on; with a few dev texts one other word looks like a loss."""
BASELINE_WORDS = 12

Scores = dict[str, dict[str, tuple[float, float, float]]]


def export_model(work: FitDir, out: Path) -> list[str]:
    """Write int8 graphs, or float32 ones if int8 loses too much; return a note on the latter."""
    try:
        _write_graphs(work, out, "int8")
    except ArtifactError as error:
        _write_graphs(work, out, "float32")
        return [f"int8 graphs were refused, so the model has float32 graphs: {error}"]
    return []


def _write_graphs(work: FitDir, out: Path, precision: Precision) -> None:
    trained = ModelDir.open(work.run)
    graphs = model_graphs(trained, [precision])
    texts = corpus_texts(work.data, NUM_CHECKED, with_train=True)
    check = check_graphs(
        trained, graphs, texts, origin="dev and training pairs", threads=num_threads(None)
    )
    write_graphs(trained, graphs, describe_export(graphs, asdict(check)), out=out)


def evaluate_model(work: FitDir, out: Path, base: Path | None) -> dict[str, Evaluation]:
    """Score the exported model, then the baselines, on the test pairs; return them by name.

    The model that was fine-tuned, if there is one, is a baseline too.
    """
    dataset = read_dataset(work.data, CorpusReadOptions(), split="test").sample(MAX_TEST)
    language = find_language(dataset.language)
    systems: dict[str, System] = {"model": _load(out)}
    if base is not None and ModelDir.open(base).precisions:
        systems[f"{model_name(base)} before"] = _load(base)
    systems["first sentence"] = Lead(language=language)
    systems[f"first {BASELINE_WORDS} words"] = Lead(max_words=BASELINE_WORDS, language=language)
    return {name: evaluate(system, dataset, PROTOCOL) for name, system in systems.items()}


def _load(model: Path) -> System:
    return load_system(str(model), PROTOCOL, threads=num_threads(None))


def quoted_scores(evaluation: Evaluation) -> dict[str, tuple[float, float, float]]:
    """Return F1 of each measure in percent with the ends of its interval."""
    quoted = ((name, evaluation.rouge.headline(name)) for name in evaluation.rouge.scores)
    return {name: (100 * score.value, 100 * score.low, 100 * score.high) for name, score in quoted}


def training_notes(work: FitDir) -> list[str]:
    """Return a note if training stopped while the dev loss still fell."""
    state = RunDir(LocalDir(work.run)).finished_state()
    if state is None or not state.is_improving:
        return []
    return [
        f"Training stopped while still improving: the last epoch lowered the dev loss by "
        f"{state.last_gain:.1%}. More epochs, such as {2 * state.epochs}, continue it."
    ]


def write_report(
    work: FitDir, out: Path, plan: FitPlan, evaluations: dict[str, Evaluation], notes: list[str]
) -> None:
    """Write the report of a model into its directory."""
    manifest = CorpusManifest.load(work.data)
    model, *baselines = evaluations
    rouge_1 = {name: evaluations[name].rouge["rouge-1"].f1.value for name in baselines}
    best = max(baselines, key=lambda name: rouge_1[name])
    comparisons = compare_reports(evaluations[model].rouge, evaluations[best].rouge)
    report = FitReport(
        name=out.resolve().name,
        manifest=manifest,
        curves=read_curves(work.run),
        steps_per_epoch=plan.timing.steps_per_epoch,
        evaluations=evaluations,
        best_baseline=best,
        comparison=comparisons["rouge-1"],
        notes=tuple(notes),
        facts=_facts(ModelDir.open(out), manifest, plan, evaluations[model]),
    )
    write_text(out / REPORT_PAGE, render_report(report))


def _facts(
    model: ModelDir, manifest: CorpusManifest, plan: FitPlan, evaluation: Evaluation
) -> dict[str, str]:
    """Return facts about the model for the report."""
    run, origin, splits = model.run, model.provenance, manifest.splits
    [precision, *_] = model.precisions
    megabytes = sum(entry.bytes for entry in model.manifest.files.values()) / 1e6
    return {
        "pairs": f"{splits['train']['pairs']:,} trained on, {splits['dev']['pairs']:,} for "
        f"validation, {splits['test']['pairs']:,} for the scores",
        "inputs": ", ".join(sorted({Path(each).name for each in manifest.origins})),
        "network": f"{plan.size}, {count_parameters(run):,} parameters; reads "
        f"{pluralize(run.data.max_source_words, 'word')}, writes at most "
        f"{pluralize(run.decode.max_words, 'word')}",
        "training": f"{origin['minutes']:.1f} minutes on {origin['device']}; the best weights are "
        f"those after epoch {origin['step'] / plan.timing.steps_per_epoch:.3g}",
        "model": f"{megabytes:.1f} MB, {precision}",
        "speed": f"{1000 * evaluation.seconds / len(evaluation.summaries):.0f} ms per headline on "
        f"{evaluation.machine}, in batches",
        "version": f"readagain {origin['package_version']}",
    }
