"""Texts from arguments, files and pipes."""

import errno
import os
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from readagain.errors import ConfigError, DataError, one_line
from readagain.formats.records import InvalidRecord

if TYPE_CHECKING:
    from readagain.formats.texts import TextReadOptions, TextRecord

STDIN = "-"
STDIN_NAME = "standard input"


def read_inputs(
    inputs: list[str], options: "TextReadOptions", *, command: str
) -> "Iterator[TextRecord | InvalidRecord]":
    """Check that the files of all inputs exist, and return an iterator over their records.

    Args:
        inputs: texts, file names, or `STDIN`.
        options: how files are read.
        command: name of the command, for messages.
    """
    from readagain.formats.texts import TextRecord, read_stream, read_texts

    if inputs == [STDIN] and sys.stdin.isatty():
        raise ConfigError(
            f"input: missing; give a text in quotes or a file, such as: "
            f"readagain {command} article.txt"
        )
    files = {argument: _find_path(argument) for argument in inputs if argument != STDIN}

    def read() -> "Iterator[TextRecord | InvalidRecord]":
        for number, argument in enumerate(inputs, start=1):
            if argument == STDIN:
                # A new file object, since Python aborts if it exits while a thread reads sys.stdin.
                with os.fdopen(sys.stdin.fileno(), "rb", closefd=False) as stream:
                    yield from read_stream(stream, STDIN_NAME, options)
            elif (path := files[argument]) is None:
                where = "the text" if len(inputs) == 1 else f"text {number}"
                if len(argument.split()) == 1 and any(map(str.isalnum, argument)):
                    where += " (no file has this name)"  # perhaps mistyped
                yield TextRecord(argument, where, {"text": argument})
            elif path.is_file():
                yield from read_texts(path, options)
            else:  # a pipe or device, such as /dev/stdin
                with path.open("rb") as stream:
                    yield from read_stream(stream, str(path), options)

    has_hint = command == "summarize" and options.format is None
    return _with_format_hint(read()) if has_hint else read()


def is_input(path: Path, inputs: Iterable[str]) -> bool:
    """Return whether an existing file is one of the inputs, perhaps under another name."""
    files = (_find_path(argument) for argument in inputs if argument != STDIN)
    return any(file is not None and file.samefile(path) for file in files)


def _with_format_hint(
    records: "Iterator[TextRecord | InvalidRecord]",
) -> "Iterator[TextRecord | InvalidRecord]":
    """Yield records; print a hint for the first text whose lines look like separate texts."""
    has_hint = False
    for record in records:
        if not has_hint and not isinstance(record, InvalidRecord) and _has_separate_lines(record):
            has_hint = True
            lines = record.text.strip().splitlines()
            format = "jsonl" if all(line.startswith("{") for line in lines) else "lines"
            print(
                f"readagain: {one_line(record.where)}: {len(lines):,} lines were read as one text; "
                f"use '--format {format}' if each line is a text",
                file=sys.stderr,
            )
        yield record


def _has_separate_lines(record: "TextRecord") -> bool:
    """Return whether each line of standard input or of a .txt file looks like a separate text.

    Blank lines separate paragraphs of one text, and a line that starts in lower case continues the
    line before.
    """
    from readagain.formats.files import plain_name

    if record.fields.keys() != {"file"}:  # the only field of plain text
        return False
    name = record.fields["file"]
    if name != STDIN_NAME and not plain_name(Path(name)).endswith(".txt"):
        return False
    lines = record.text.strip().splitlines()
    return len(lines) > 1 and all(line.strip() and not line.lstrip()[0].islower() for line in lines)


def make_read_options(
    format: str | None, text_column: str | None, encoding: str
) -> "TextReadOptions":
    """Check the command-line options for reading files, and return them as one object."""
    from readagain.formats.lines import check_encoding
    from readagain.formats.texts import TEXT_FORMATS, TextReadOptions

    check_encoding(encoding)
    if format is not None and format not in TEXT_FORMATS:
        raise ConfigError(f"--format is '{format}'; expected one of {', '.join(TEXT_FORMATS)}")
    return TextReadOptions(format=format, text_column=text_column, encoding=encoding)


def _find_path(argument: str) -> Path | None:
    """Return the path of a file or pipe, or None if the argument is a text.

    If there is no file of this name, an argument with white space, or with neither a slash nor a
    suffix such as ".txt", is a text.
    """
    if not argument:  # Path("") would be the current folder
        return None
    try:
        path = Path(argument)
        if path.is_file() or path.is_fifo() or path.is_char_device():
            return path
        if path.is_dir():
            raise DataError(f"{path}: is a folder; name its files, such as {path}/*.txt")
        if os.path.lexists(path):
            kind = "a link without a target" if path.is_symlink() else "neither a file nor a pipe"
            raise DataError(f"{path}: {kind}; name a file")
    except ValueError:  # not a valid file name
        return None
    except OSError as error:
        if error.errno == errno.ENAMETOOLONG:
            return None
        raise DataError(f"{argument}: cannot be read: {error.strerror}") from error
    has_space = any(char.isspace() for char in argument)
    looks_like_path = bool(path.suffix) or "/" in argument
    if has_space or not looks_like_path:
        return None
    if "://" in argument:
        raise DataError(f"{argument}: is a URL; download it and name the file")
    raise DataError(f"{path}: no such file; if it is part of a text, put the whole text in quotes")
