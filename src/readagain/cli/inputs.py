"""What commands are given to read: texts on the command line, files, and pipes."""

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from readagain.formats.texts import TextReadOptions, TextRecord

STDIN = "-"


def read_inputs(
    inputs: list[str], options: "TextReadOptions", *, command: str
) -> "Iterator[TextRecord]":
    """Yield the texts of all inputs in order; missing files are found out before any work.

    Args:
        inputs: texts, names of files, or `STDIN`.
        options: how files are read.
        command: what the person typed, for messages.

    Raises:
        ConfigError: when there is nothing to read.
        DataError: for what can only be meant as a file, and is none.
    """
    import os
    import sys

    from readagain.errors import ConfigError
    from readagain.formats.texts import TextRecord, read_stream

    if inputs == [STDIN] and sys.stdin.isatty():
        raise ConfigError(
            f"nothing to {command}; give a text in quotes, a file, or pipe a text in: "
            f"readagain {command} article.txt"
        )
    files = {argument: _file(argument) for argument in inputs if argument != STDIN}

    def read() -> Iterator[TextRecord]:
        for argument in inputs:
            if argument == STDIN:
                # Not sys.stdin itself: Python aborts when it ends while a thread waits for that.
                with os.fdopen(sys.stdin.fileno(), "rb", closefd=False) as stream:
                    yield from read_stream(stream, "standard input", options)
            elif (path := files[argument]) is None:
                yield TextRecord(argument, "the text", {"text": argument})
            else:
                yield from read_path(path, options)

    return read()


def read_path(path: Path, options: "TextReadOptions") -> "Iterator[TextRecord]":
    """Yield the texts of a file, or of a pipe that has a name, such as /dev/stdin."""
    from readagain.formats.texts import read_stream, read_texts

    if path.is_file():
        yield from read_texts(path, options)
        return
    with path.open("rb") as stream:
        yield from read_stream(stream, str(path), options)


def read_options(format: str | None, text_column: str | None, encoding: str) -> "TextReadOptions":
    """Check and gather what was said about how files are read.

    Raises:
        ConfigError: for a format or an encoding that there is not.
    """
    from readagain.errors import ConfigError
    from readagain.formats.lines import check_encoding
    from readagain.formats.texts import TEXT_FORMATS, TextReadOptions

    check_encoding(encoding)
    if format is not None and format not in TEXT_FORMATS:
        raise ConfigError(f"no format '{format}'; expected one of {', '.join(TEXT_FORMATS)}")
    return TextReadOptions(format=format, text_column=text_column, encoding=encoding)


def is_readable(path: Path) -> bool:
    """Say whether there is a file or a pipe."""
    return path.is_file() or path.is_fifo() or path.is_char_device()


def _file(argument: str) -> Path | None:
    """Return the file or pipe that an argument names, or None for a text.

    Raises:
        DataError: for what can only be meant as a file, and is none.
    """
    from readagain.errors import DataError

    if not argument:  # which Path would take for the folder at hand
        return None
    looks_like_text = any(c.isspace() for c in argument)
    try:
        path = Path(argument)
        if is_readable(path):
            return path
        if path.is_dir():
            raise DataError(f"{path}: a folder; name the files in it, as in {path}/*.txt")
    except (OSError, ValueError):  # too long for a name, or no name at all
        return None
    if looks_like_text or not (path.suffix or "/" in argument):
        return None
    if "://" in argument:
        raise DataError(f"{argument}: an address, and nothing is fetched; save it as a file first")
    raise DataError(f"{path}: no such file; a text is given in quotes, with spaces in it")
