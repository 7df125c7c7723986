"""Public functions that prepare data, train, export and evaluate models, and compute ROUGE.

The commands `prepare`, `train`, `export` and `evaluate` call these functions.
"""

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, Unpack

from readagain.config.options import SummarizeOptions
from readagain.config.schema import RunSpec
from readagain.corpus.filters import FilterLimits, choose_filters
from readagain.corpus.settings import DEFAULT_MAX_SENTENCES, PrepareSettings, SplitSize
from readagain.errors import ArgumentError, require
from readagain.formats.records import OnError
from readagain.processors import check_parallelism, num_processors, num_threads
from readagain.rouge.options import UNICODE_PROTOCOL, Protocol, find_protocol

if TYPE_CHECKING:
    from rich.console import Console

    from readagain.corpus.inputs import CorpusInput
    from readagain.corpus.manifest import CorpusManifest
    from readagain.corpus.workers import JobProgress
    from readagain.evaluation.evaluate import Evaluation
    from readagain.export.check import Check
    from readagain.model_dir import ModelDir, Precision
    from readagain.rouge.corpus import Report
    from readagain.search.model import StepModel
    from readagain.training.loop import TrainingResult

Paths = str | Path | Sequence[str | Path]
"""One file or folder, or several."""


def prepare(
    pairs: Paths,
    out: str | Path,
    *,
    dev: Paths = (),
    test: Paths = (),
    dev_pairs: int = 0,
    dev_share: float = 0.0,
    test_pairs: int = 0,
    test_share: float = 0.0,
    split_by: Literal["month"] | None = None,
    sample: int = 0,
    seed: int = 1,
    language: str | None = None,
    format: str | None = None,
    text_column: str | None = None,
    headline_column: str | None = None,
    headlines: str | Path | None = None,
    encoding: str = "utf-8",
    is_tokenized: bool | None = None,
    on_error: OnError = "skip",
    filters: str = "default",
    limits: FilterLimits | None = None,
    max_sentences: int = DEFAULT_MAX_SENTENCES,
    min_count: int = 1,
    workers: int = 0,
    overwrite: bool = False,
    on_inputs: "Callable[[Sequence[CorpusInput]], None]" = lambda inputs: None,
    progress: "Callable[[], AbstractContextManager[Callable[[JobProgress], None]]]" = lambda: (
        nullcontext(lambda progress: None)
    ),
) -> "CorpusManifest":
    """Turn (text, headline) pairs into a prepared corpus for training.

    After an interruption, the same call resumes.

    Args:
        pairs: files or folders of pairs: CSV, JSONL, Parquet, parallel text files and others.
        out: folder for the prepared corpus.
        dev: input with the pairs of the dev split.
        test: input with the pairs of the test split.
        dev_pairs: approximate number of input pairs for the dev split.
        dev_share: share of input pairs for the dev split.
        test_pairs: approximate number of input pairs for the test split.
        test_share: share of input pairs for the test split.
        split_by: split by month, with the dev and test months of Rush et al. 2015; for Annotated
            Gigaword only.
        sample: number of pairs to draw at random from the dev split, and as many from the test
            split; 0 keeps all.
        seed: random seed of `sample`.
        language: language of texts and headlines, such as en, de, fr or zh; None: detected.
        format: format of every input; None: detected.
        text_column: field or column of the text; None: detected.
        headline_column: field or column of the headline; None: detected.
        headlines: file of headlines, one for each line of the texts file.
        encoding: encoding of text, JSONL and CSV.
        is_tokenized: whether texts are tokenized as in Gigaword (lower case, # for digits) or raw;
            None: detected for parallel text and prepared corpora, else raw.
        on_error: what to do with invalid records: skip and report them, or stop at the first.
        filters: names of filters or of sets of filters, separated by commas; -NAME removes one.
        limits: limits of the filters.
        max_sentences: maximum number of sentences of a text; later ones are dropped.
        min_count: words that occur less often than this in the training texts become UNK in texts,
            and likewise for headlines.
        workers: number of processes; 0 for all processors.
        overwrite: replace an existing corpus in `out`.
        on_inputs: called with the inputs that were found.
        progress: opens a progress display.

    Returns:
        Language, counts, dropped records and checksums of the corpus.

    Raises:
        ReadAgainError: naming the input, option or folder and the problem.
    """
    from readagain.corpus.prepare import prepare as prepare_corpus
    from readagain.corpus.readers.find import CorpusReadOptions, find_inputs

    train_paths, dev_paths, test_paths = _path_names(pairs), _path_names(dev), _path_names(test)
    # ArgumentError replaces {dev} by the name of the argument, or of the command-line option.
    if dev_paths and (dev_pairs or dev_share):
        raise ArgumentError("{dev}: conflicts with {dev_pairs} and {dev_share}; use one of them")
    if test_paths and (test_pairs or test_share):
        raise ArgumentError("{test}: conflicts with {test_pairs} and {test_share}; use one of them")
    if split_by and any([dev_paths, test_paths, dev_pairs, dev_share, test_pairs, test_share]):
        raise ArgumentError(
            "{split_by}: sets the dev and test splits; remove the other options that set them"
        )
    if workers < 0:
        raise ArgumentError("{workers} is {0}; expected 0 or more", workers)
    if workers:
        check_parallelism("workers", workers)
    settings = PrepareSettings(
        language=language,
        max_sentences=max_sentences,
        filters=choose_filters(filters),
        limits=limits or FilterLimits(),
        on_error=on_error,
        dev=SplitSize(pairs=dev_pairs, share=dev_share),
        test=SplitSize(pairs=test_pairs, share=test_share),
        sample=sample,
        seed=seed,
        min_count=min_count,
    )
    read_options = CorpusReadOptions(
        format=format,
        text_column=text_column,
        headline_column=headline_column,
        headlines=None if headlines is None else Path(headlines),
        encoding=encoding,
        is_tokenized=is_tokenized,
        split_by=split_by,
    )
    other_split_paths = [Path(name) for name in dev_paths + test_paths]
    # The file of headlines belongs to the training texts.
    other_split_options = replace(read_options, headlines=None)
    inputs = [
        *find_inputs(train_paths, read_options, exclude=other_split_paths),
        *find_inputs(dev_paths, other_split_options, split="dev"),
        *find_inputs(test_paths, other_split_options, split="test"),
    ]
    on_inputs(inputs)
    with progress() as on_progress:
        return prepare_corpus(
            inputs,
            Path(out),
            settings,
            num_workers=workers or num_processors(),
            overwrite=overwrite,
            on_progress=on_progress,
        )


def train(
    preset: str | RunSpec | None = None,
    *,
    data: str | Path,
    out: str | Path,
    changes: Sequence[str] = (),
    seed: int | None = None,
    begin_from: str | Path | None = None,
    extend_vocab: int = 0,
    device: Literal["auto", "cpu", "cuda"] = "auto",
    threads: int = 0,
    overwrite: bool = False,
    console: "Console | None" = None,
) -> "TrainingResult | None":
    """Train a network on a prepared corpus, and write its best weights to a model folder.

    After an interruption, the same call resumes; with more epochs it continues a finished run.

    Args:
        preset: name of a preset, path of a .toml run file, or a `RunSpec`; optional with
            `begin_from`.
        data: prepared corpus to train on.
        out: folder for the run and the trained model.
        changes: settings to override, such as train.epochs=20.
        seed: random seed; None: from the preset.
        begin_from: bundled model or model folder to fine-tune.
        extend_vocab: with `begin_from`: number of words of this corpus to add to each vocabulary.
        device: device; auto uses a GPU if there is one.
        threads: number of CPU threads; 0 chooses by the size of the network.
        overwrite: replace another run in `out`.
        console: where progress is printed.

    Returns:
        The final state of the training, or None if an earlier call had finished the run.

    Raises:
        ReadAgainError: for invalid settings, and if training diverges.
    """
    if threads:
        check_parallelism("threads", threads)
    require("torch", extra="train", purpose="training")
    from rich.console import Console

    from readagain.export.recover import recover_weights
    from readagain.training.job import TrainingJob
    from readagain.training.loop import train as run_training

    job = TrainingJob(
        preset=preset,
        data=Path(data),
        out=Path(out),
        changes=tuple(changes),
        seed=seed,
        begin_from=begin_from,
        extend_vocab=extend_vocab,
        overwrite=overwrite,
        recover_weights=recover_weights,
    )
    return run_training(job, device_name=device, threads=threads, console=console or Console())


@dataclass(frozen=True, kw_only=True)
class ExportResult:
    """Result of `export_model`.

    Args:
        path: the model folder with the graphs.
        num_bytes: size of the graphs by precision.
        check: comparison of the graphs with the network.
    """

    path: Path
    num_bytes: "dict[Precision, int]"
    check: "Check"


def export_model(
    run: str | Path,
    out: str | Path | None = None,
    *,
    precision: Literal["int8", "float32", "both"] = "both",
    shortlist: int | None = None,
    check_on: str | Path | None = None,
    check_texts: int | None = None,
    threads: int | None = None,
) -> ExportResult:
    """Export a trained model to ONNX graphs, which are first compared with its network.

    Args:
        run: output folder of `train`.
        out: new model folder for inference only, without weights; None: graphs are added to
            `run`.
        precision: number format of the graphs.
        shortlist: number of output words to score for each text: its own words and the most
            frequent other ones. Fewer are faster. Needs `out` and `check_on`; None: all words.
        check_on: prepared corpus, on whose dev pairs the graphs are compared with the network;
            None: compare on random words.
        check_texts: number of texts to compare; None: 1,000 of a corpus, 100 of random words.
        threads: number of threads; None: all processors.

    Raises:
        ReadAgainError: if the graphs differ from the network; nothing is written then.
    """
    if precision not in ("int8", "float32", "both"):
        raise ArgumentError("{precision} is {0!r}; expected int8, float32 or both", precision)
    if check_texts is not None and check_texts < 1:
        raise ArgumentError("{check_texts} is {0}; expected 1 or more", check_texts)
    if shortlist is not None and out is None:
        raise ArgumentError(
            "{shortlist} is {0}, which needs a new model folder; name one with {out}", shortlist
        )
    if shortlist is not None and check_on is None:
        raise ArgumentError(
            "{shortlist}: its effect must be measured on real headlines; name a prepared corpus "
            "with {check_on}"
        )
    threads = num_threads(threads)
    for module in ("onnx", "torch"):
        require(module, extra="train", purpose="exporting")
    from readagain.export.check import check_graphs, corpus_texts, random_texts
    from readagain.export.write import model_graphs, with_shortlist, write_graphs
    from readagain.model_dir import PRECISIONS, ModelDir

    model_dir = ModelDir.open(Path(run))
    full_vocab_model = None
    if shortlist is not None:
        full_vocab_model = model_dir
        model_dir = with_shortlist(model_dir, shortlist)
    graphs = model_graphs(model_dir, [name for name in PRECISIONS if precision in (name, "both")])
    if check_on is None:
        origin, texts = "random words", random_texts(model_dir, check_texts or 100)
    else:
        corpus = Path(check_on)
        origin, texts = f"dev pairs of {corpus.name}", corpus_texts(corpus, check_texts or 1000)
    check = check_graphs(
        model_dir,
        graphs,
        texts,
        origin=origin,
        threads=threads,
        full_vocab_model=full_vocab_model,
    )
    path = write_graphs(model_dir, graphs, asdict(check), out=None if out is None else Path(out))
    num_bytes = {name: sum(map(len, contents)) for name, contents in graphs.items()}
    return ExportResult(path=path, num_bytes=num_bytes, check=check)


def evaluate(
    model: str | Path,
    data: str | Path,
    *,
    protocol: str = UNICODE_PROTOCOL,
    split: str | None = None,
    limit: int | None = None,
    sample: int | None = None,
    seed: int = 1,
    format: str | None = None,
    text_column: str | None = None,
    headline_column: str | None = None,
    headlines: str | Path | None = None,
    encoding: str = "utf-8",
    is_tokenized: bool | None = None,
    on_error: OnError = "stop",
    threads: int | None = None,
    precision: str | None = None,
    progress: "Callable[[int], AbstractContextManager[Callable[[], None]]]" = lambda total: (
        nullcontext(lambda: None)
    ),
    **decoding: Unpack[SummarizeOptions],
) -> "Evaluation":
    """Summarize a data set with a model and score the summaries with ROUGE.

    If invalid records are skipped, the scores are not comparable with those of the whole data set.

    Args:
        model: bundled model, model folder, or baseline: prefix, lead or topiary.
        data: texts with references: a prepared corpus, a folder in the layout of Gigaword or DUC,
            or a file in any format of 'readagain prepare'.
        protocol: protocol, which sets decoding and the kind of ROUGE.
        split: split of a folder with several splits: train, dev or test; None: dev for a prepared
            corpus.
        limit: maximum number of rows; None: all.
        sample: size of a random sample of the rows; None: all rows.
        seed: random seed of `sample`.
        format: format of the data; None: detected.
        text_column: field or column of the text; None: detected.
        headline_column: field or column of the headline; None: detected.
        headlines: file of headlines, one for each line of the texts file.
        encoding: encoding of text, JSONL and CSV.
        is_tokenized: whether texts are tokenized as in Gigaword (lower case, # for digits) or raw;
            None: detected for parallel text and prepared corpora, else raw.
        on_error: what to do with invalid records: skip and report them, or stop at the first.
        threads: number of threads; None: all processors.
        precision: precision of the ONNX graphs; None: int8 if available.
        progress: opens a progress display for a number of texts; the `with` block gets a function
            to call after each text.
        decoding: decoding options of `Summarizer.summarize`, instead of those of the protocol.

    Returns:
        Scores with confidence intervals, summaries and statistics.

    Raises:
        ReadAgainError: naming the data, option or model and the problem.
    """
    from readagain.corpus.readers.find import CorpusReadOptions
    from readagain.evaluation.dataset import read_dataset
    from readagain.evaluation.evaluate import evaluate as evaluate_system
    from readagain.evaluation.systems import find_system, load_system

    # Checked before the data set is read, which may take long.
    find_system(str(model))
    find_protocol(protocol)
    num_threads(threads)
    read_options = CorpusReadOptions(
        format=format,
        text_column=text_column,
        headline_column=headline_column,
        headlines=None if headlines is None else Path(headlines),
        encoding=encoding,
        is_tokenized=is_tokenized,
    )
    dataset = read_dataset(Path(data), read_options, split=split, on_error=on_error)
    dataset = dataset.first(limit).sample(sample, seed=seed)
    system = load_system(
        str(model),
        protocol,
        decoding=decoding,
        threads=threads,
        precision=precision,
        language=dataset.language,
        load_weights=_load_weights,
    )
    with progress(len(dataset.rows)) as on_summary:
        return evaluate_system(system, dataset, protocol, on_summary=on_summary)


def compute_rouge(
    summaries: Sequence[str],
    references: Sequence[str | Sequence[str]],
    protocol: str | Protocol = UNICODE_PROTOCOL,
) -> "Report":
    """Score summaries against references with ROUGE.

    Args:
        summaries: one text per item.
        references: one text, or several, per item.
        protocol: name of a protocol: "unicode" for ROUGE over Unicode words, "gigaword", "duc2003"
            or "duc2004" for ROUGE-1.5.5 as in the paper.

    >>> report = compute_rouge(["the cat sat"], ["a cat sat down"], "gigaword")
    >>> report["rouge-1"].recall.value
    0.5
    """
    from readagain.rouge.corpus import score_corpus

    groups = [[texts] if isinstance(texts, str) else list(texts) for texts in references]
    return score_corpus(summaries, groups, protocol)


def _path_names(paths: Paths) -> list[str]:
    return [str(paths)] if isinstance(paths, str | Path) else [str(path) for path in paths]


def _load_weights(model_dir: "ModelDir") -> "StepModel[Any]":
    """Load the torch network of a model folder that has weights but no graphs."""
    require("torch", extra="train", purpose="evaluating a model without graphs")
    from readagain.networks.build import load_network
    from readagain.networks.step_model import TorchStepModel

    return TorchStepModel(load_network(model_dir, purpose="evaluating"))
