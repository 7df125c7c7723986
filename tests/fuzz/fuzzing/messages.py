"""Checks of the form of an error message."""

import re
from collections.abc import Iterator
from contextlib import contextmanager

from readagain.errors import ReadAgainError

MAX_LINE_CHARS = 1_200
"""Maximum length of a line; the paths in messages of these tests are short."""
_NUM_PROBLEMS = re.compile(r": \d+ problems$")


def check_message(message: str) -> None:
    """Check that a message is one line, or a line with a count and one line per problem."""
    first, *others = message.split("\n")
    assert not others or _NUM_PROBLEMS.search(first), message[:300]
    assert all(line.startswith("  ") for line in others), message[:300]
    assert max(map(len, (first, *others))) <= MAX_LINE_CHARS, message[:300]
    assert all(line.isprintable() for line in (first, *others)), message[:300]


@contextmanager
def checked_errors() -> Iterator[None]:
    """Suppress a `ReadAgainError` after checking its message."""
    try:
        yield
    except ReadAgainError as error:
        check_message(str(error))
