"""`readagain prepare`: turn any pile of (text, headline) pairs into a prepared corpus."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from readagain.cli import options
from readagain.cli.options import READING
from readagain.corpus.filters import DEFAULT_FILTERS, FILTER_SETS, FILTERS, FilterLimits
from readagain.corpus.settings import DEFAULT_MAX_SENTENCES

if TYPE_CHECKING:
    from readagain.corpus.inputs import CorpusInput
    from readagain.corpus.manifest import CorpusManifest

CHOOSING, SPLITTING = "What to keep", "Splits"
LIMITS = FilterLimits()
FILTERS_HELP = (
    f"Filters and sets of them, separated by commas; -NAME takes one away. "
    f"Filters: {', '.join(FILTERS)}. Sets: {', '.join(FILTER_SETS)} "
    f"(default: {' and '.join(DEFAULT_FILTERS)}; rush: the paper's rules beside those)."
)


def command(
    inputs: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="INPUT",
            help="Files, folders or hf:NAME, of one format or several; "
            ".gz, .xz and .zst are read as they are.",
        ),
    ] = None,
    *,
    out: Annotated[Path, typer.Option("--out", "-o", metavar="FOLDER", help="Folder to make.")],
    dev: Annotated[
        list[str] | None,
        typer.Option(
            metavar="INPUT", help="Pairs of the dev split, kept whole.", rich_help_panel=SPLITTING
        ),
    ] = None,
    test: Annotated[
        list[str] | None,
        typer.Option(
            metavar="INPUT", help="Pairs of the test split, kept whole.", rich_help_panel=SPLITTING
        ),
    ] = None,
    dev_pairs: Annotated[
        int,
        typer.Option(help="Cut about so many pairs off for dev.", rich_help_panel=SPLITTING),
    ] = 0,
    dev_share: Annotated[
        float, typer.Option(help="Cut this share off for dev.", rich_help_panel=SPLITTING)
    ] = 0.0,
    test_pairs: Annotated[
        int,
        typer.Option(help="Cut about so many pairs off for test.", rich_help_panel=SPLITTING),
    ] = 0,
    test_share: Annotated[
        float, typer.Option(help="Cut this share off for test.", rich_help_panel=SPLITTING)
    ] = 0.0,
    format: Annotated[
        str | None,
        typer.Option(help="Format of every input; else recognised.", rich_help_panel=READING),
    ] = None,
    text_column: options.TextColumn = None,
    headline_column: options.HeadlineColumn = None,
    headlines: options.Headlines = None,
    encoding: options.Encoding = "utf-8",
    tokenized: options.TokenizedOrRaw = None,
    skip_bad: Annotated[
        bool,
        typer.Option(
            "--skip-bad",
            help="Leave out records that cannot be read, counted and listed in skipped.jsonl.",
            rich_help_panel=READING,
        ),
    ] = False,
    filters: Annotated[str, typer.Option(help=FILTERS_HELP, rich_help_panel=CHOOSING)] = "default",
    max_sentences: Annotated[
        int,
        typer.Option(help="Sentences kept of a text, each apart.", rich_help_panel=CHOOSING),
    ] = DEFAULT_MAX_SENTENCES,
    min_text_words: Annotated[
        int, typer.Option(help="Filter 'length'.", rich_help_panel=CHOOSING)
    ] = LIMITS.min_text_words,
    max_text_words: Annotated[
        int, typer.Option(help="Filter 'length'.", rich_help_panel=CHOOSING)
    ] = LIMITS.max_text_words,
    min_headline_words: Annotated[
        int, typer.Option(help="Filter 'length'.", rich_help_panel=CHOOSING)
    ] = LIMITS.min_headline_words,
    max_headline_words: Annotated[
        int, typer.Option(help="Filter 'length'.", rich_help_panel=CHOOSING)
    ] = LIMITS.max_headline_words,
    min_overlap: Annotated[
        float,
        typer.Option(
            help="Filter 'low-overlap': share of the headline's content words in the text.",
            rich_help_panel=CHOOSING,
        ),
    ] = LIMITS.min_overlap,
    workers: Annotated[
        int,
        typer.Option(
            help="Processes; 0 takes as many as there are processors.",
            callback=options.check_workers,
        ),
    ] = 0,
    overwrite: Annotated[
        bool, typer.Option("--overwrite", help="Replace a prepared corpus that is already there.")
    ] = False,
) -> None:
    """Turn (text, headline) pairs into a corpus that training reads without parsing.

    Interrupted, it goes on where it stopped when the same command is given again.
    """
    import sys
    from dataclasses import replace

    from readagain.cli.main import EXIT_INTERRUPTED
    from readagain.cli.progress import shown_progress
    from readagain.corpus.filters import choose_filters
    from readagain.corpus.prepare import prepare
    from readagain.corpus.readers.find import CorpusReadOptions, find_inputs
    from readagain.corpus.settings import PrepareSettings, Share
    from readagain.errors import ConfigError
    from readagain.processors import num_processors

    if not (inputs or dev or test):
        raise ConfigError("no input; name files or folders of pairs, or --dev and --test sets")
    if (dev and (dev_pairs or dev_share)) or (test and (test_pairs or test_share)):
        raise ConfigError("a split is either given or cut off by hash; leave one of the two away")
    if workers < 0:
        raise ConfigError(f"--workers is {workers}; expected 0 or more")
    settings = PrepareSettings(
        max_sentences=max_sentences,
        filters=choose_filters(filters),
        limits=FilterLimits(
            min_text_words=min_text_words,
            max_text_words=max_text_words,
            min_headline_words=min_headline_words,
            max_headline_words=max_headline_words,
            min_overlap=min_overlap,
        ),
        skip_bad=skip_bad,
        dev=Share(pairs=dev_pairs, share=dev_share),
        test=Share(pairs=test_pairs, share=test_share),
    )
    reading = CorpusReadOptions(
        format=format,
        text_column=text_column,
        headline_column=headline_column,
        headlines=headlines,
        encoding=encoding,
        is_tokenized=tokenized,
    )
    given = [Path(argument) for argument in [*(dev or []), *(test or [])]]
    sources = [
        *find_inputs(inputs or [], reading, exclude=given),
        *find_inputs(dev or [], replace(reading, headlines=None), split="dev"),
        *find_inputs(test or [], replace(reading, headlines=None), split="test"),
    ]
    for source in sources:
        print(_describe(source), file=sys.stderr)
    try:
        with shown_progress("reading", "writing") as on_progress:
            manifest = prepare(
                sources,
                out,
                settings,
                num_workers=workers or num_processors(),
                overwrite=overwrite,
                on_progress=on_progress,
            )
    except KeyboardInterrupt as interruption:
        print("readagain: interrupted; the same command goes on where it stopped", file=sys.stderr)
        raise typer.Exit(EXIT_INTERRUPTED) from interruption
    _print_summary(manifest, out)


def _describe(source: "CorpusInput") -> str:
    """Say how an input was understood, so that a wrong guess is seen at once."""
    parts = [f"{source.path}: {source.format}"]
    if source.columns:
        parts.append(f"'{source.columns.text}' and '{source.columns.headline}'")
    if source.is_text_tokenized:
        parts.append("in Gigaword form")
    return ", ".join([*parts, f"for {source.split}"])


def _print_summary(manifest: "CorpusManifest", out: Path) -> None:
    """Say what was kept, what was dropped and why, and where the rest is written down."""
    from readagain.corpus.filters import FILTERS
    from readagain.corpus.prepare import SKIPPED_FILE
    from readagain.corpus.report import dropped_in_total
    from readagain.counts import counted

    for split, counts in manifest.splits.items():
        if counts["pairs"]:
            pairs = counted(counts["pairs"], "pair")
            print(f"{split:<6}{pairs:>18} {counted(counts['words'], 'word'):>20}")
    dropped = dropped_in_total(manifest)
    meanings = {
        "empty": "text or headline without a word",
        "bad": f"records that cannot be read, listed in {SKIPPED_FILE}",
        "text-in-dev": "texts that stand in the dev split",
        "text-in-test": "texts that stand in the test split",
        **{name: rule.drops for name, rule in FILTERS.items()},
    }
    records = sum(entry["records"] for entry in manifest.inputs)
    print(f"dropped {sum(dropped.values()):,} of {counted(records, 'record')}")
    for reason, count in sorted(dropped.items(), key=lambda item: -item[1]):
        print(f"  {reason:<16}{count:>10,}  {meanings[reason]}")
    num_words = counted(manifest.num_words, "distinct word")
    print(f"{num_words}; fingerprint {manifest.fingerprint[:16]}")
    print(f"{out}: ready, see report.md in it")
