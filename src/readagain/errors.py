"""One small family of exceptions, and the sentence for a missing extra.

A message says where, what was found, what would have been right, and what to do next.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from importlib import import_module
from pathlib import Path
from string import Formatter
from types import ModuleType


class ReadAgainError(Exception):
    """What users can act on; the command line prints it on one line.

    What a message quotes may be a stranger's, and what a terminal obeys is not for strangers to
    write: signs that cannot be seen are replaced.
    """

    def __str__(self) -> str:
        return _visible(super().__str__())


class ConfigError(ReadAgainError):
    """A setting, an option or an argument that cannot be honoured."""


class ArgumentError(ConfigError):
    """An argument that cannot be honoured, told by the name that each user knows it by.

    What Python and requests call max_words is --max-words on the command line. The message is
    written once, with names in braces and numbers in the place of what was found:

    >>> error = ArgumentError("{n_best} is {0}; expected {1} or less", 5, 3)
    >>> str(error)
    'n_best is 5; expected 3 or less'
    >>> error.told(as_option)
    '--n-best is 5; expected 3 or less'

    Args:
        message: with arguments by name, and values by number, in braces.
        values: the values.
    """

    def __init__(self, message: str, *values: object) -> None:
        super().__init__(message, *values)

    def __str__(self) -> str:
        return self.told(str)

    def told(self, spell: Callable[[str], str]) -> str:
        """Return the message with every argument as `spell` writes its name."""
        message, *values = self.args
        fields = [name for _, name, _, _ in Formatter().parse(message) if name]
        names = {name: spell(name) for name in fields if not name.isdigit()}
        return _visible(message.format(*values, **names))


def as_option(name: str) -> str:
    """Write the name of an argument as the command line does."""
    return "--" + name.replace("_", "-")


class DataError(ReadAgainError):
    """Texts, pairs or prepared corpora that cannot be used as they are."""


class ArtifactError(ReadAgainError):
    """A model folder or another written result that is damaged, foreign or too new."""


class ShapeError(ReadAgainError):
    """Arrays whose sizes do not belong together."""


class RequestError(ReadAgainError):
    """A request to the server that cannot be answered."""


class MissingExtraError(ReadAgainError):
    """A part of the package that needs something the base install leaves out."""


def _visible(message: str) -> str:
    if message.isprintable():
        return message
    return "".join(
        c if c.isprintable() or c == "\n" else "\N{REPLACEMENT CHARACTER}" for c in message
    )


LONGEST_QUOTE = 80


def quoted(found: object) -> str:
    """Spell what was found in a file for a message: on one line, and not longer than that."""
    spelled = repr(found)
    return spelled if len(spelled) <= LONGEST_QUOTE else f"{spelled[:LONGEST_QUOTE]}…"


_KINDS: dict[type, str] = {
    type(None): "null",
    bool: "true or false",
    int: "a whole number",
    float: "a fraction",
    str: "a string",
    list: "a list",
    dict: "an object",
}


def type_in_words(found: object) -> str:
    """Say in words of JSON what was found where something else belongs, and not its content."""
    return _KINDS.get(type(found), f"a {type(found).__name__}")


def first_line(error: Exception) -> str:
    """Return the first line of what a library says; its kind of error where it says nothing."""
    lines = str(error).split(" : ")[-1].strip().splitlines()
    return lines[0] if lines else type(error).__name__


@contextmanager
def os_errors(
    path: Path | str, action: str, error_type: type[ReadAgainError] = DataError, *, advice: str = ""
) -> Iterator[None]:
    """Turn an OSError of the block into a one-line error with the path.

    Args:
        path: the file or folder that the block uses.
        action: what cannot be done with it, as a participle: "read", "written".
        error_type: the exception to raise instead.
        advice: what to do, for the end of the message.
    """
    try:
        yield
    except OSError as error:
        reason = error.strerror or str(error) or type(error).__name__
        end = f"; {advice}" if advice else ""
        raise error_type(f"{path}: cannot be {action}: {reason}{end}") from error


def require(module: str, *, extra: str, purpose: str) -> ModuleType:
    """Import a module of an extra, or say which `pip install` brings it.

    Args:
        module: what to import, for example `pyarrow.parquet`.
        extra: the extra of this package that installs it.
        purpose: what it is needed for, as the beginning of a sentence.

    Raises:
        MissingExtraError: with the exact command to type.
    """
    try:
        return import_module(module)
    except ModuleNotFoundError as error:
        root = module.partition(".")[0]
        if error.name is None or error.name.partition(".")[0] != root:
            raise
        raise MissingExtraError(
            f"{purpose} needs the package '{root}', which is not installed; "
            f"type: pip install 'readagain[{extra}]'"
        ) from error
