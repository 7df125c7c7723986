"""`readagain prepare`: turn (text, headline) pairs into a prepared corpus."""

from collections import Counter
from functools import partial
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from readagain.cli import options
from readagain.cli.options import reading_option
from readagain.corpus.filters import DEFAULT_FILTERS, FILTER_SETS, FILTERS, FilterLimits
from readagain.corpus.settings import DEFAULT_MAX_SENTENCES

if TYPE_CHECKING:
    from collections.abc import Sequence

    from readagain.corpus.inputs import CorpusInput
    from readagain.corpus.manifest import CorpusManifest

_split_option = partial(typer.Option, rich_help_panel="Splits")
_filter_option = partial(typer.Option, rich_help_panel="Filters")
FILTERS_HELP = (
    f"Names of filters or of sets of filters, separated by commas; -NAME removes one. "
    f"Filters: {', '.join(FILTERS)}. Sets: {', '.join(FILTER_SETS)}. The set 'default' has "
    f"{' and '.join(DEFAULT_FILTERS)}; 'rush' adds the rules of Rush et al. 2015; 'rush2015' has "
    f"the rules of their published scripts; 'all' has all filters except those of 'rush2015'."
)

MAX_LISTED_INPUTS = 20
EXAMPLES = (
    "readagain prepare pairs.csv --dev-pairs 1000 --out data/mine",
    "readagain prepare train.jsonl --dev dev.jsonl --out data/mine --on-error stop",
)


@options.spec_options(FilterLimits(), panel="Filters")
def command(
    inputs: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="INPUT",
            help="Files or folders of pairs, or hf:NAME, a data set of Hugging Face; files may be "
            "compressed: .gz, .xz or .zst.",
        ),
    ] = None,
    *,
    out: Annotated[
        Path, typer.Option("--out", "-o", metavar="FOLDER", help="Folder for the prepared corpus.")
    ],
    dev: Annotated[
        list[str] | None,
        _split_option(metavar="INPUT", help="Input with the pairs of the dev split."),
    ] = None,
    test: Annotated[
        list[str] | None,
        _split_option(metavar="INPUT", help="Input with the pairs of the test split."),
    ] = None,
    dev_pairs: Annotated[
        int,
        _split_option(help="Approximate number of input pairs for the dev split."),
    ] = 0,
    dev_share: Annotated[
        float, _split_option(help="Share of input pairs for the dev split.")
    ] = 0.0,
    test_pairs: Annotated[
        int,
        _split_option(help="Approximate number of input pairs for the test split."),
    ] = 0,
    test_share: Annotated[
        float, _split_option(help="Share of input pairs for the test split.")
    ] = 0.0,
    split_by: Annotated[
        Literal["month"] | None,
        _split_option(
            help="Split by month, with the dev and test months of Rush et al. 2015; for Annotated "
            "Gigaword only."
        ),
    ] = None,
    sample: Annotated[
        int,
        _split_option(
            metavar="N",
            help="Number of pairs to draw at random from the dev split, and as many from the test "
            "split; 0 keeps all.",
        ),
    ] = 0,
    seed: Annotated[int, _split_option(help="Random seed of --sample.")] = 1,
    language: Annotated[
        str | None,
        reading_option(
            metavar="CODE",
            help="Language of texts and headlines, such as en, de, fr or zh.",
            show_default="detected",
        ),
    ] = None,
    format: Annotated[
        str | None,
        reading_option(help="Format of every input.", show_default="detected"),
    ] = None,
    text_column: options.TextColumn = None,
    headline_column: options.HeadlineColumn = None,
    headlines: options.Headlines = None,
    encoding: options.Encoding = "utf-8",
    tokenized: options.TokenizedOrRaw = None,
    on_error: options.OnErrorOption = "skip",
    filters: Annotated[str, _filter_option(help=FILTERS_HELP)] = "default",
    max_sentences: Annotated[
        int,
        _filter_option(help="Maximum number of sentences of a text; later ones are dropped."),
    ] = DEFAULT_MAX_SENTENCES,
    min_count: Annotated[
        int,
        _filter_option(
            metavar="N",
            help="Words that occur less often than N in the training texts become UNK in texts, "
            "and likewise for headlines.",
        ),
    ] = 1,
    workers: Annotated[
        int,
        typer.Option(
            help="Number of processes; 0 for all processors.", callback=options.check_workers
        ),
    ] = 0,
    overwrite: Annotated[
        bool, typer.Option("--overwrite", help="Replace an existing corpus in --out.")
    ] = False,
    **limits: Any,
) -> None:
    """Turn (text, headline) pairs into a prepared corpus for training.

    The same command resumes an interrupted run.
    """
    from readagain.api import prepare
    from readagain.cli.main import resumable
    from readagain.cli.progress import job_progress
    from readagain.errors import ConfigError

    if not (inputs or dev or test):
        raise ConfigError("INPUT: missing; name files or folders of pairs, or use --dev and --test")
    with resumable():
        manifest = prepare(
            inputs or (),
            out,
            dev=dev or (),
            test=test or (),
            dev_pairs=dev_pairs,
            dev_share=dev_share,
            test_pairs=test_pairs,
            test_share=test_share,
            split_by=split_by,
            sample=sample,
            seed=seed,
            language=language,
            format=format,
            text_column=text_column,
            headline_column=headline_column,
            headlines=headlines,
            encoding=encoding,
            is_tokenized=tokenized,
            on_error=on_error,
            filters=filters,
            limits=FilterLimits(**limits),
            max_sentences=max_sentences,
            min_count=min_count,
            workers=workers,
            overwrite=overwrite,
            on_inputs=_print_inputs,
            progress=partial(job_progress, "reading", "writing"),
        )
    _print_summary(manifest, out, is_detected=language is None)


def _print_inputs(sources: "Sequence[CorpusInput]") -> None:
    """Print a line for each input; a folder with more than `MAX_LISTED_INPUTS` has one line."""
    import sys

    by_origin = groupby(sources, key=lambda source: (source.origin, source.format))
    for (origin, format), sources_of_origin in by_origin:
        inputs = list(sources_of_origin)
        lines = [source.description for source in inputs]
        if len(inputs) > MAX_LISTED_INPUTS:
            counts = Counter(source.split for source in inputs)
            splits = ", ".join(f"{count:,} for {split}" for split, count in counts.items())
            lines = [f"{origin}: {format}, {len(inputs):,} files: {splits}"]
        print(*lines, sep="\n", file=sys.stderr)


def _print_summary(manifest: "CorpusManifest", out: Path, *, is_detected: bool) -> None:
    """Print the language, the size of each split, and the dropped records by reason."""
    from readagain.corpus.report import describe_dropped
    from readagain.counts import pluralize
    from readagain.text.language import LANGUAGES, UNDETERMINED

    origin = ", detected" if is_detected else ""
    if is_detected and manifest.language == UNDETERMINED:
        origin = ": not detected; set --language if it is not English"
    print(f"language {LANGUAGES[manifest.language].name} ({manifest.language}){origin}")
    for split, counts in manifest.splits.items():
        if counts["pairs"]:
            pairs = pluralize(counts["pairs"], "pair")
            print(f"{split:<6}{pairs:>18} {pluralize(counts['words'], 'word'):>20}")
    dropped = describe_dropped(manifest)
    records = sum(entry["records"] for entry in manifest.inputs)
    num_dropped = sum(count for _, count, _ in dropped)
    print(f"dropped {num_dropped:,} of {pluralize(records, 'record')}")
    for reason, count, meaning in dropped:
        print(f"  {reason:<16}{count:>10,}  {meaning}")
    num_words = pluralize(manifest.num_words, "distinct word")
    print(f"{num_words}; fingerprint {manifest.fingerprint[:16]}")
    print(f"{out}: ready, see report.md in it")
