"""`readagain prepare`: turn (text, headline) pairs into a prepared corpus."""

import sys
from collections import Counter
from collections.abc import Sequence
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from readagain.api import prepare
from readagain.cli import options
from readagain.cli.main import resumable
from readagain.config.fields import spec_fields
from readagain.corpus.filters import DEFAULT_FILTERS, FILTER_SETS, FILTERS, FilterLimits
from readagain.errors import ConfigError, one_line, pluralize
from readagain.text.language import LANGUAGES, UNDETERMINED

if TYPE_CHECKING:
    from readagain.corpus.inputs import CorpusInput
    from readagain.corpus.manifest import CorpusManifest

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


@options.argument_options(
    prepare,
    out={"short": "-o", "metavar": "FOLDER"},
    workers={},
    overwrite={},
)
@options.spec_options(FilterLimits(), panel="Filters")
@options.argument_options(
    prepare,
    panel="Filters",
    filters={"help": FILTERS_HELP},
    max_sentences={},
    min_count={"metavar": "N"},
)
@options.argument_options(
    prepare,
    panel="Splits",
    dev={"metavar": "INPUT"},
    test={"metavar": "INPUT"},
    dev_pairs={},
    dev_share={},
    test_pairs={},
    test_share={},
    split_by={},
    sample={"metavar": "N"},
    seed={},
)
@options.argument_options(
    prepare,
    panel="Reading",
    language={"metavar": "CODE"},
    format={},
    text_column={},
    headline_column={},
    headlines={"metavar": "FILE"},
    encoding={},
    is_tokenized={},
    on_error={},
)
def command(
    inputs: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="INPUT",
            help="Files or folders of pairs, or hf:NAME, a data set of Hugging Face; files may be "
            "compressed: .gz, .xz or .zst.",
        ),
    ] = None,
    **arguments: Any,
) -> None:
    """Turn (text, headline) pairs into a prepared corpus for training.

    The same command resumes an interrupted run.
    """
    from readagain.cli.progress import job_progress

    if not (inputs or arguments["dev"] or arguments["test"]):
        raise ConfigError("INPUT: missing; name files or folders of pairs, or use --dev and --test")
    limits = FilterLimits(**{name: arguments.pop(name) for name in spec_fields(FilterLimits)})
    with resumable():
        manifest = prepare(
            inputs or (),
            limits=limits,
            on_inputs=_print_inputs,
            progress=job_progress,
            **arguments,
        )
    _print_summary(manifest, Path(arguments["out"]), is_detected=arguments["language"] is None)


def _print_inputs(sources: "Sequence[CorpusInput]") -> None:
    """Print a line for each input; a folder with more than `MAX_LISTED_INPUTS` has one line."""
    by_origin = groupby(sources, key=lambda source: (source.origin, source.format))
    for (origin, format), sources_of_origin in by_origin:
        inputs = list(sources_of_origin)
        lines = [source.description for source in inputs]
        if len(inputs) > MAX_LISTED_INPUTS:
            counts = Counter(source.split for source in inputs)
            splits = ", ".join(f"{count:,} for {split}" for split, count in counts.items())
            lines = [f"{origin}: {format}, {len(inputs):,} files: {splits}"]
        print(*map(one_line, lines), sep="\n", file=sys.stderr)


def _print_summary(manifest: "CorpusManifest", out: Path, *, is_detected: bool) -> None:
    """Print the language, the size of each split, and the dropped records by reason."""
    from readagain.corpus.report import describe_dropped

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
