"""One small family of exceptions, and the sentence for a missing extra.

A message says where, what was found, what would have been right, and what to do next.
"""

from importlib import import_module
from types import ModuleType


class ReadAgainError(Exception):
    """What users can act on; the command line prints it on one line.

    What a message quotes may be a stranger's, and what a terminal obeys is not for strangers to
    write: signs that cannot be seen are replaced.
    """

    def __str__(self) -> str:
        message = super().__str__()
        if message.isprintable():
            return message
        return "".join(
            c if c.isprintable() or c == "\n" else "\N{REPLACEMENT CHARACTER}" for c in message
        )


class ConfigError(ReadAgainError):
    """A setting, an option or an argument that cannot be honoured."""


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


LONGEST_QUOTE = 80


def quoted(found: object) -> str:
    """Spell what was found in a file for a message: on one line, and not longer than that."""
    spelled = repr(found)
    return spelled if len(spelled) <= LONGEST_QUOTE else f"{spelled[:LONGEST_QUOTE]}…"


def first_line(error: Exception) -> str:
    """Return the first line of what a library says; its kind of error where it says nothing."""
    lines = str(error).split(" : ")[-1].strip().splitlines()
    return lines[0] if lines else type(error).__name__


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
