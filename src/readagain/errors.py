"""Exceptions of the package, and helpers for messages.

A message has the form `<where>: <what is wrong>; <what to do>`.
"""

import errno
import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from importlib import import_module
from pathlib import Path
from string import Formatter
from types import ModuleType


class ReadAgainError(Exception):
    """Error that users can act on; the command line prints it without a traceback.

    Control characters are replaced, since a message may quote untrusted data.
    """

    def __str__(self) -> str:
        return _printable(super().__str__())


class ConfigError(ReadAgainError):
    """Invalid setting, option or argument."""


class ArgumentError(ConfigError):
    """Invalid argument, whose name depends on the interface.

    The same argument is `max_words` in Python and HTTP, and `--max-words` on the command line. In
    the message, braces contain the name of an argument or the index of a value:

    >>> error = ArgumentError("{n_best} is {0}; expected {1} or less", 5, 3)
    >>> str(error)
    'n_best is 5; expected 3 or less'
    >>> error.format_message(lambda name: "--" + name.replace("_", "-"))
    '--n-best is 5; expected 3 or less'
    """

    def __str__(self) -> str:
        return self.format_message(str)

    def format_message(self, format_name: Callable[[str], str]) -> str:
        """Return the message; `format_name` formats the names of arguments."""
        message, *values = self.args
        fields = [name for _, name, _, _ in Formatter().parse(message) if name]
        names = {name: format_name(name) for name in fields if not name.isdigit()}
        return _printable(message.format(*values, **names))


class DataError(ReadAgainError):
    """Invalid texts, pairs or prepared corpora."""


class ArtifactError(ReadAgainError):
    """Model folder or other output that is damaged or written by another program or version."""


class MissingExtraError(ReadAgainError):
    """Missing package, which an optional extra of this package installs."""


def _printable(message: str) -> str:
    """Replace control characters, including line breaks, except those before an indented line."""
    # Lists of problems have indented lines. Other line breaks may come from a file name.
    lines = re.split(r"\n(?=  )", message)
    return "\n".join(map(one_line, lines))


def one_line(text: str) -> str:
    """Replace control characters, including line breaks; names of files may contain them."""
    return "".join(c if c.isprintable() else "\N{REPLACEMENT CHARACTER}" for c in text)


_UNSAFE_IN_TERMINAL = re.compile(
    r"[\x00-\x08\x0b-\x1f\x7f-\x9f"  # control characters except tab and line feed
    r"\u2028\u2029"  # line separators
    r"\u202a-\u202e\u2066-\u2069"  # direction overrides and isolates
    r"\ud800-\udfff]"  # lone surrogates
)


def for_terminal(text: str) -> str:
    """Replace control characters, which could move the cursor, change colours or reorder text."""
    return _UNSAFE_IN_TERMINAL.sub("\N{REPLACEMENT CHARACTER}", text)


MAX_QUOTE_LENGTH = 80
DISK_FULL = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)
"""Error numbers for a full disk, an exceeded quota and a file at its maximum size."""


def quoted(value: object) -> str:
    """Return a value for a message: on one line, truncated to `MAX_QUOTE_LENGTH`."""
    text = repr(value)
    return text if len(text) <= MAX_QUOTE_LENGTH else f"{text[:MAX_QUOTE_LENGTH]}…"


def pluralize(number: int, noun: str, plural: str = "") -> str:
    """Return a number with its noun in singular or plural; the default plural ends in -s.

    >>> pluralize(1, "pair"), pluralize(1204, "pair"), pluralize(0, "summary", "summaries")
    ('1 pair', '1,204 pairs', '0 summaries')
    """
    return f"{number:,} {noun if number == 1 else plural or f'{noun}s'}"


_TYPE_NAMES: dict[type, str] = {
    type(None): "null",
    bool: "true or false",
    int: "a whole number",
    float: "a decimal number",
    str: "a string",
    list: "a list",
    dict: "an object",
}


def type_in_words(value: object) -> str:
    """Return the JSON type of a value in words, such as "a whole number", for a message."""
    return _TYPE_NAMES.get(type(value), f"a {type(value).__name__}")


def first_line(error: Exception) -> str:
    """Return the first line of the message of an error, or its type if it has no message.

    ONNX Runtime puts codes before the message, separated by " : "; they are dropped.
    """
    lines = str(error).split(" : ")[-1].strip().splitlines()
    return lines[0] if lines else type(error).__name__


@contextmanager
def os_errors(
    path: Path | str, action: str, error_type: type[ReadAgainError] = DataError, *, advice: str = ""
) -> Iterator[None]:
    """Replace an OSError raised in the `with` block by a one-line error with the path.

    Args:
        path: the file or folder that the block uses.
        action: verb for the message "cannot be ...", for example "read" or "written".
        error_type: the exception to raise instead.
        advice: what the user can do; the end of the message.
    """
    try:
        yield
    except OSError as error:
        reason = error.strerror or str(error) or type(error).__name__
        end = f"; {advice}" if advice else ""
        raise error_type(f"{path}: cannot be {action}: {reason}{end}") from error


def require(module: str, *, extra: str, purpose: str) -> ModuleType:
    """Import and return a module that an optional extra installs.

    Args:
        module: the module, for example `pyarrow.parquet`.
        extra: the extra of this package that installs it.
        purpose: what needs the module, as the start of the message: "training".

    Raises:
        MissingExtraError: if the package is not installed.
    """
    try:
        return import_module(module)
    except ModuleNotFoundError as error:
        root = module.partition(".")[0]
        if error.name is None or error.name.partition(".")[0] != root:
            raise
        raise MissingExtraError(
            f"{purpose} needs the package '{root}', which is not installed; "
            f"install readagain with the extra '{extra}' (in a clone: pip install '.[{extra}]')"
        ) from error
