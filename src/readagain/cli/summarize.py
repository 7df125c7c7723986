"""`readagain summarize`: write a headline for each text."""

import sys
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from threading import Condition, Thread
from typing import TYPE_CHECKING, Annotated, TextIO, TypeVar, Unpack

import typer

from readagain.cli import options
from readagain.cli.inputs import STDIN, is_input, make_read_options, read_inputs
from readagain.cli.options import writing_option
from readagain.cli.output import check_new
from readagain.config.options import SummarizeOptions
from readagain.errors import ConfigError, DataError, for_terminal, one_line, pluralize
from readagain.formats.records import InvalidRecord, OnError, invalid_record_error
from readagain.storage.bundled import DEFAULT_MODEL

if TYPE_CHECKING:
    from readagain.engine.summarizer import Summarizer
    from readagain.engine.summary import Summary
    from readagain.formats.texts import TextRecord

Item = TypeVar("Item")

# Python decodes bytes of the command line that are not UTF-8 to lone surrogates, which this error
# handler writes as escapes such as \udcff.
_ENCODING_ERRORS = "backslashreplace"
_VALUE_CHARS = 16
"""Approximate memory of a number, a list or an empty field, in characters of text."""
_DOCUMENT_SUFFIXES = (".xlsx", ".xls", ".ods", ".docx", ".doc", ".odt", ".pdf", ".html", ".xml")
"""Suffixes of outputs that other programs would not recognize as plain text."""

EXAMPLES = (
    "readagain summarize article.txt",
    "readagain summarize texts.txt --format lines --max-words 8",
    "readagain summarize news.csv --text-column body --output headlines.jsonl",
    "readagain summarize abstract.txt --model papers",
)


@options.decoding_options()
def command(
    inputs: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="TEXT|FILE",
            help="Texts, or files: .txt (one text), .jsonl, .csv, .tsv or .parquet, also "
            "compressed: .gz, .xz or .zst; - or nothing for standard input.",
            show_default=False,
        ),
    ] = None,
    *,
    model: options.Model = DEFAULT_MODEL,
    format: options.TextFormat = None,
    text_column: options.TextColumn = None,
    encoding: options.Encoding = "utf-8",
    on_error: options.OnErrorOption = "skip",
    output: Annotated[
        Path | None,
        writing_option(
            "--output",
            "-o",
            metavar="FILE",
            help="Output file, or - for standard output; a file appears when it is complete. A "
            ".jsonl file is written as with --json.",
        ),
    ] = None,
    overwrite: Annotated[
        bool, writing_option("--overwrite", help="Replace an existing output file.")
    ] = False,
    as_json: Annotated[
        bool,
        writing_option(
            "--json", help="Write JSON lines with all fields of the input and the summary."
        ),
    ] = False,
    field: options.SummaryField = "summary",
    threads: options.Threads = None,
    precision: options.Precision = None,
    **decoding: Unpack[SummarizeOptions],
) -> None:
    """Write a headline for each text.

    Plain text output has one line for each text; the line of a skipped record is empty. With
    --output FILE.txt, skipped records are written to FILE.bad.jsonl.
    """
    from readagain.cli.progress import text_progress
    from readagain.engine.summarizer import Summarizer

    if output == Path(STDIN):  # as for inputs, "-" is a standard stream
        output = None
    is_json = (output is not None and _is_json_name(output)) or as_json
    if field != "summary" and not is_json:
        raise ConfigError(f"--field {field}: needs --json; add it or remove --field")
    _check_overwrite(output, inputs or (), overwrite=overwrite)
    read_options = make_read_options(format, text_column, encoding)
    records = read_inputs(inputs or [STDIN], read_options, command="summarize")
    summarizer = Summarizer.load(model, threads=threads, precision=precision)  # type: ignore[arg-type]
    has_score = decoding["n_best"] > 1
    report = _WarningReport(is_json=is_json)
    num_empty = 0  # empty lines, for skipped records, to print before the next summary
    with _open_output(output) as file, _SkippedRecords(output, on_error) as skipped:
        is_terminal = file.isatty()
        with text_progress(is_shown=not is_terminal) as count:
            for result in _summarize(summarizer, records, decoding):
                if isinstance(result, InvalidRecord):
                    skipped.add(result)
                    num_empty += not is_json
                    continue
                record, summary = result
                if is_json:
                    line = _format_json(record, summary, field=field, has_score=has_score)
                else:
                    line = _format_text(summary)
                    line = for_terminal(line) if is_terminal else line
                print("\n" * num_empty + line, file=file)
                num_empty = 0
                file.flush()
                report.add(record, summary)
                count()
        skipped.report(has_summaries=report.num_texts > 0)
        if report.num_texts == 0:
            print("readagain: no texts in the input", file=sys.stderr)
        print("\n" * num_empty, end="", file=file)
    report.print()


class _WarningReport:
    """Warnings of all summaries; prints the messages for one text, or counts for several.

    Args:
        is_json: whether the output has the warnings of each text.
    """

    def __init__(self, *, is_json: bool) -> None:
        self.num_texts = self._num_warned = 0
        self._is_json = is_json
        self._counts: Counter[str] = Counter()
        self._first_where = self._first_messages = ""

    def add(self, record: "TextRecord", summary: "Summary") -> None:
        """Count the warnings of a summary."""
        self.num_texts += 1
        if not summary.warnings:
            return
        self._num_warned += 1
        self._counts.update(warning.code for warning in summary.warnings)
        if self._num_warned == 1:
            self._first_where = record.where
            self._first_messages = "; ".join(warning.message for warning in summary.warnings)

    def print(self) -> None:
        """Print one line if there are warnings."""
        if not self._counts:
            return
        line = f"{self._first_where}: {self._first_messages}"
        if self.num_texts > 1:
            counts = ", ".join(f"{code} {count}" for code, count in self._counts.most_common())
            line = (
                f"{self._num_warned} of {pluralize(self.num_texts, 'text')}: {counts}; "
                f"the first is {self._first_where}"
            )
            if not self._is_json:
                line += "; use --json to see all"
        print(f"readagain: warnings: {one_line(line)}", file=sys.stderr)


class _SkippedRecords(ExitStack):
    """Skipped records: all are written to a file next to the output, the first ones are printed.

    It is a context manager; the file gets its final name if the `with` block ends without an error.

    Args:
        output: the output file; None for standard output.
        on_error: whether to skip invalid records.
    """

    MAX_PRINTED = 5

    def __init__(self, output: Path | None, on_error: OnError) -> None:
        super().__init__()
        self._path = _bad_path(output)
        self._on_error = on_error
        self._first_records: list[InvalidRecord] = []
        self._num_records = 0
        self._file: TextIO | None = None

    def add(self, record: InvalidRecord) -> None:
        """Count a record and write it to the file, or raise it if records are not skipped."""
        from readagain.formats.jsonl import to_json
        from readagain.storage.files import write_output

        if self._on_error == "stop":
            raise invalid_record_error(record)
        self._num_records += 1
        if self._num_records <= self.MAX_PRINTED:
            self._first_records.append(record)
        if self._path is None:
            return
        if self._file is None:
            temporary = self.enter_context(write_output(self._path))
            self._file = self.enter_context(temporary.open("w", encoding="utf-8"))
        print(to_json(record.as_row()), file=self._file)

    def report(self, *, has_summaries: bool) -> None:
        """Print the first skipped records and the number of all; fail if no record was valid."""
        if not self._first_records:
            if self._path is not None:  # delete the skipped records of the output that is replaced
                self._path.unlink(missing_ok=True)
            return
        if not has_summaries:
            others = "; no other record is valid" if self._num_records > 1 else ""
            raise invalid_record_error(self._first_records[0], others)
        for record in self._first_records:
            line = one_line(f"{record.where}: {record.format_reason(options.as_option)}")
            print(f"readagain: skipped {line}", file=sys.stderr)
        location = "" if self._path is None else f", written to {self._path}"
        num_records = pluralize(self._num_records, "invalid record")
        print(f"readagain: skipped {num_records}{one_line(location)}", file=sys.stderr)


def _bad_path(output: Path | None) -> Path | None:
    """Return the path for skipped records, next to an output file; None for pipes and devices."""
    if output is None or (output.exists() and not output.is_file()):
        return None
    return output.with_name(f"{output.stem}.bad.jsonl")


def _check_overwrite(output: Path | None, inputs: Sequence[str], *, overwrite: bool) -> None:
    """Check that an existing file is replaced only with --overwrite, and that it is no input.

    An existing pipe or device is allowed, since it is not replaced.
    """
    if overwrite and output is None:
        raise ConfigError("--overwrite: needs --output; name a file to write")
    for path in (output, _bad_path(output)):
        if path is None or not path.is_file():
            continue
        if is_input(path, inputs):
            raise ConfigError(f"{path}: is an input and would be replaced; choose another --output")
        if not overwrite:
            check_new(path)


def _is_json_name(output: Path) -> bool:
    """Return whether the output is written as JSONL, by the name of the file."""
    from readagain.formats.files import plain_name
    from readagain.formats.texts import text_format

    format = text_format(output)
    is_compressed = plain_name(output) != output.name.lower()
    is_document = output.suffix.lower() in _DOCUMENT_SUFFIXES
    if format in ("csv", "parquet") or is_compressed or is_document:
        raise ConfigError(
            f"--output {output}: not supported; name a .txt or .jsonl file, or write tables with "
            "'readagain batch'"
        )
    return format == "jsonl"


def _summarize(
    summarizer: "Summarizer",
    records: "Iterator[TextRecord | InvalidRecord]",
    options: SummarizeOptions,
) -> "Iterator[tuple[TextRecord, Summary] | InvalidRecord]":
    """Summarize texts as soon as they arrive, in batches if several are waiting.

    Invalid records keep their position.
    """
    from readagain.engine.summarizer import WINDOW, WINDOW_CHARS

    for batch in available_batches(records, WINDOW, _num_chars, WINDOW_CHARS):
        texts = [record.text for record in batch if not isinstance(record, InvalidRecord)]
        summaries = iter(summarizer.summarize(texts, **options))
        for record in batch:
            yield record if isinstance(record, InvalidRecord) else (record, next(summaries))


def _num_chars(record: "TextRecord | InvalidRecord") -> int:
    """Return the number of characters in a record, plus `_VALUE_CHARS` for each value."""
    num_chars = 0
    values = [record.content if isinstance(record, InvalidRecord) else record.fields]
    while values:
        value = values.pop()
        num_chars += _VALUE_CHARS
        if isinstance(value, str | bytes):
            num_chars += len(value)
        elif isinstance(value, dict):
            values.extend(value.values())
        elif isinstance(value, list):
            values.extend(value)
    return num_chars


def available_batches(
    items: Iterable[Item],
    max_items: int,
    size: Callable[[Item], int] = lambda item: 0,
    max_size: int = 0,
) -> Iterator[list[Item]]:
    """Yield lists of the items that have arrived, each of 1 to `max_items` items.

    A thread reads up to `max_items` ahead, and stops earlier when the items together have a `size`
    of `max_size`. Items that arrive fast come in full lists, items that arrive slowly come one by
    one. An exception of `items` is raised after the items before it.
    """
    waiting: list[Item] = []
    waiting_size = 0
    is_ended = False
    errors: list[BaseException] = []
    changed = Condition()

    def has_room() -> bool:
        return not waiting or (len(waiting) < max_items and waiting_size <= max_size)

    def read() -> None:
        nonlocal waiting_size, is_ended
        try:
            for item in items:
                with changed:
                    changed.wait_for(has_room)
                    waiting.append(item)
                    waiting_size += size(item)
                    changed.notify_all()
        except BaseException as error:  # raised below, in the thread of the caller
            errors.append(error)
        with changed:
            is_ended = True
            changed.notify_all()

    Thread(target=read, daemon=True).start()
    while True:
        with changed:
            changed.wait_for(lambda: waiting or is_ended)
            batch = waiting.copy()
            waiting.clear()
            waiting_size = 0
            changed.notify_all()
        if not batch:
            break
        yield batch
    if errors:
        raise errors[0]


def _format_text(summary: "Summary") -> str:
    if not summary.alternatives:
        return summary.text
    n_best = enumerate((summary, *summary.alternatives), start=1)
    return "".join(f"{rank}\t{item.score:.4f}\t{item.text}\n" for rank, item in n_best)


def _format_json(record: "TextRecord", summary: "Summary", *, field: str, has_score: bool) -> str:
    from readagain.engine.summary import add_summary
    from readagain.formats.jsonl import printable_json

    fields = add_summary(record, summary, field=field, has_score=has_score, has_confidence=True)
    if isinstance(fields, InvalidRecord):
        raise DataError(f"{fields.where}: {fields.reason}")
    return printable_json(fields)


@contextmanager
def _open_output(output: Path | None) -> Iterator[TextIO]:
    """Open standard output, or a file that gets its name when it is complete."""
    from readagain.storage.files import write_output

    if output is None:
        sys.stdout.reconfigure(encoding="utf-8", errors=_ENCODING_ERRORS)  # type: ignore[union-attr]
        yield sys.stdout
        return
    with (
        write_output(output) as temporary,
        temporary.open("w", encoding="utf-8", errors=_ENCODING_ERRORS) as file,
    ):
        yield file
