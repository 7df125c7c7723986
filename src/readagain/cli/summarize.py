"""`readagain summarize`: headlines for texts, files and pipes."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, TextIO, Unpack

import typer

from readagain.cli import options
from readagain.cli.inputs import STDIN, read_inputs, read_options
from readagain.cli.options import WRITING
from readagain.config.options import SummarizeOptions
from readagain.storage.bundled import DEFAULT_MODEL

if TYPE_CHECKING:
    from readagain.engine.summarizer import Summarizer
    from readagain.engine.summary import Summary
    from readagain.formats.texts import TextRecord

_UNDECODABLE = "backslashreplace"  # what is no character in an argument is written as \udc..


@options.decoding_options()
def command(
    inputs: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="TEXT|FILE",
            help="Texts, or files: .txt (one text), .jsonl, .csv, .tsv, .parquet, also .gz, .xz "
            "and .zst; - or nothing for standard input.",
            show_default=False,
        ),
    ] = None,
    *,
    model: options.Model = DEFAULT_MODEL,
    format: options.TextFormat = None,
    text_column: options.TextColumn = None,
    encoding: options.Encoding = "utf-8",
    output: Annotated[
        Path | None,
        typer.Option(
            "--output",
            "-o",
            help="Write to this file, whole or not at all.",
            rich_help_panel=WRITING,
        ),
    ] = None,
    as_json: Annotated[
        bool,
        typer.Option(
            "--json",
            help="One JSON object a line: every field of the input, and the summary.",
            rich_help_panel=WRITING,
        ),
    ] = False,
    field: options.SummaryField = "summary",
    threads: options.Threads = None,
    precision: options.Precision = None,
    **decoding: Unpack[SummarizeOptions],
) -> None:
    """Write a headline for each text."""
    from readagain.cli.output import for_terminal
    from readagain.cli.progress import counted_texts
    from readagain.engine.summarizer import Summarizer

    is_json = output is not None and _names_json(output)
    reading = read_options(format, text_column, encoding)
    records = read_inputs(inputs or [STDIN], reading, command="summarize")
    summarizer = Summarizer.load(model, threads=threads, precision=precision)  # type: ignore[arg-type]
    describe = _as_json(field) if as_json or is_json else _as_text
    with _opened(output) as file, counted_texts(to_file=output is not None) as count:
        shown = for_terminal if file.isatty() else str
        for record, summary in _summarized(summarizer, records, decoding):
            print(shown(describe(record, summary)), file=file)
            file.flush()
            count()


def _names_json(output: Path) -> bool:
    """Tell by the name of an output whether it is to hold JSON.

    Raises:
        ConfigError: for a name that promises a table or compression, which are not written here.
    """
    from readagain.errors import ConfigError
    from readagain.formats.files import plain_name
    from readagain.formats.texts import text_format

    kind = text_format(output)
    if kind in ("csv", "parquet") or plain_name(output) != output.name.lower():
        raise ConfigError(
            f"--output {output}: plain lines or JSON lines are written; name a .txt or a .jsonl "
            "file, or write tables with 'readagain batch'"
        )
    return kind == "jsonl"


def _summarized(
    summarizer: "Summarizer", records: "Iterator[TextRecord]", options: SummarizeOptions
) -> "Iterator[tuple[TextRecord, Summary]]":
    """Summarize what is there as soon as it is there; many at once where many are."""
    from readagain.engine.streams import as_they_come
    from readagain.engine.summarizer import WINDOW

    for batch in as_they_come(records, WINDOW):
        texts = [record.text for record in batch]
        yield from zip(batch, summarizer.summarize(texts, **options), strict=True)


def _as_text(record: "TextRecord", summary: "Summary") -> str:
    if not summary.alternatives:
        return summary.text
    ranked = enumerate((summary, *summary.alternatives), start=1)
    return "".join(f"{rank}\t{each.score:.4f}\t{each.text}\n" for rank, each in ranked)


def _as_json(field: str) -> "Callable[[TextRecord, Summary], str]":
    from readagain.engine.summary import add_summary
    from readagain.errors import DataError
    from readagain.formats.jsonl import to_json
    from readagain.formats.records import InvalidRecord

    def describe(record: "TextRecord", summary: "Summary") -> str:
        fields = add_summary(record, summary, field=field)
        if isinstance(fields, InvalidRecord):
            raise DataError(f"{fields.where}: {fields.reason}")
        return to_json(fields)

    return describe


@contextmanager
def _opened(output: Path | None) -> Iterator[TextIO]:
    """Open what is written to: standard output, or a file that appears when it is whole."""
    import sys

    from readagain.storage.files import write_output

    if output is None:
        sys.stdout.reconfigure(encoding="utf-8", errors=_UNDECODABLE)  # type: ignore[union-attr]
        yield sys.stdout
        return
    with (
        write_output(output) as aside,
        aside.open("w", encoding="utf-8", errors=_UNDECODABLE) as file,
    ):
        yield file
