"""Last stages of a fit: export, evaluation, notes and report."""

from dataclasses import asdict
from pathlib import Path

from readagain.corpus.manifest import CorpusManifest
from readagain.corpus.readers.find import CorpusReadOptions
from readagain.errors import ArtifactError, pluralize
from readagain.evaluation.dataset import read_dataset
from readagain.evaluation.evaluate import Evaluation, evaluate
from readagain.evaluation.systems import Lead, System, load_system
from readagain.export.check import check_graphs, corpus_texts
from readagain.export.write import model_graphs, write_graphs
from readagain.fitting.page import render_report
from readagain.fitting.plan import FitPlan
from readagain.fitting.work_dir import FitDir
from readagain.model_dir import ModelDir, Precision
from readagain.networks.build import count_parameters
from readagain.processors import num_processors
from readagain.rouge.options import UNICODE_PROTOCOL
from readagain.storage.bundled import model_name
from readagain.storage.files import write_text
from readagain.storage.output_dir import LocalDir
from readagain.text.language import find_language
from readagain.training.metrics import read_curves
from readagain.training.run_dir import RunDir

REPORT_PAGE = "report.html"
MAX_TEST_PAIRS = 2000
"""Maximum number of test pairs that are scored."""
NUM_CHECK_TEXTS = 500
"""Number of texts for comparing the exported graphs with the network. With fewer texts, a single
different word could change ROUGE so much that the check fails."""
BASELINE_WORDS = 12
"""Number of words of the baseline that returns the start of the text."""

ScoresBySystem = dict[str, dict[str, tuple[float, float, float]]]
"""F1 in percent and the ends of its 95% interval, by system and by measure, such as "rouge-1"."""


def write_model(work: FitDir, out: Path) -> list[str]:
    """Write the model with int8 graphs, or with float32 graphs if int8 graphs lose too much ROUGE.

    Returns:
        A note if the graphs are float32, else an empty list.
    """
    try:
        _write_graphs(work, out, "int8")
    except ArtifactError as error:
        _write_graphs(work, out, "float32")
        return [f"The model has float32 graphs, because int8 graphs failed the check: {error}"]
    return []


def _write_graphs(work: FitDir, out: Path, precision: Precision) -> None:
    """Export graphs of one precision, compare them with the network, and write them.

    Raises:
        ArtifactError: if the graphs lose too much ROUGE; nothing is written then.
    """
    trained = ModelDir.open(work.run)
    graphs = model_graphs(trained, [precision])
    texts = corpus_texts(work.data, NUM_CHECK_TEXTS, with_train=True)
    check = check_graphs(
        trained, graphs, texts, origin="dev and training pairs", threads=num_processors()
    )
    write_graphs(trained, graphs, asdict(check), out=out)


def evaluate_model(work: FitDir, out: Path, base: Path | None) -> dict[str, Evaluation]:
    """Score the exported model and the baselines on the test pairs; the model comes first.

    `base`, the model before fine-tuning, is another baseline; None for a new network.
    """
    dataset = read_dataset(work.data, CorpusReadOptions(), split="test").sample(MAX_TEST_PAIRS)
    language = find_language(dataset.language)
    systems: dict[str, System] = {"model": load_system(str(out), UNICODE_PROTOCOL)}
    if base is not None and ModelDir.open(base).precisions:
        systems[f"{model_name(base)} before fine-tuning"] = load_system(str(base), UNICODE_PROTOCOL)
    systems["first sentence"] = Lead(language=language)
    systems[f"first {BASELINE_WORDS} words"] = Lead(max_words=BASELINE_WORDS, language=language)
    return {name: evaluate(system, dataset, UNICODE_PROTOCOL) for name, system in systems.items()}


def rouge_f1(evaluation: Evaluation) -> dict[str, tuple[float, float, float]]:
    """Return the F1 of each measure in percent with the ends of its 95% interval."""
    scores = {name: evaluation.rouge.main_score(name) for name in evaluation.rouge.scores}
    return {
        name: (100 * score.value, 100 * score.low, 100 * score.high)
        for name, score in scores.items()
    }


def training_notes(work: FitDir) -> list[str]:
    """Return a note if training ended while the dev loss was still falling, else an empty list."""
    state = RunDir(LocalDir(work.run)).finished_state()
    if state is None or not state.is_improving:
        return []
    return [
        f"Training stopped while still improving: the last epoch lowered the dev loss by "
        f"{state.last_gain:.1%}. Train for more epochs, for example {2 * state.epochs}."
    ]


def write_report_page(
    work: FitDir, out: Path, plan: FitPlan, evaluations: dict[str, Evaluation], notes: list[str]
) -> None:
    """Write the HTML report into the model directory."""
    manifest = CorpusManifest.load(work.data)
    page = render_report(
        name=out.resolve().name,
        manifest=manifest,
        curves=read_curves(work.run),
        steps_per_epoch=plan.timing.steps_per_epoch,
        evaluations=evaluations,
        notes=notes,
        details=_model_details(ModelDir.open(out), manifest, plan, evaluations["model"]),
    )
    write_text(out / REPORT_PAGE, page)


def _model_details(
    model: ModelDir, manifest: CorpusManifest, plan: FitPlan, evaluation: Evaluation
) -> dict[str, str]:
    """Return texts by label for the last section of the report."""
    run, provenance, splits = model.run, model.provenance, manifest.splits
    [precision, *_] = model.precisions
    megabytes = sum(entry.bytes for entry in model.manifest.files.values()) / 1e6
    return {
        "pairs": f"{splits['train']['pairs']:,} trained on, {splits['dev']['pairs']:,} for "
        f"validation, {splits['test']['pairs']:,} for the scores",
        "inputs": ", ".join(sorted({Path(path).name for path in manifest.origins})),
        "network": f"{plan.network_name}, {count_parameters(run):,} parameters; reads "
        f"{pluralize(run.data.max_source_words, 'word')}, writes at most "
        f"{pluralize(run.decode.max_words, 'word')}",
        "training": f"{provenance['minutes']:.1f} minutes on {provenance['device']}; the best "
        f"weights are those after epoch {provenance['step'] / plan.timing.steps_per_epoch:.3g}",
        "model": f"{megabytes:.1f} MB, {precision}",
        "speed": f"{1000 * evaluation.seconds / len(evaluation.summaries):.0f} ms per headline on "
        f"{evaluation.machine}, in batches",
        "version": f"readagain {provenance['package_version']}",
    }
