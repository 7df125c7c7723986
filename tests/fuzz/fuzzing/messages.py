"""Checks of the form of an error message."""

import re

MAX_LINE = 1_200
"""Characters of a line that a person may be asked to read; paths are short here."""
_LIST = re.compile(r": \d+ problems$")


def check_message(message: str) -> None:
    """Check that a message is one line, or a line with a count and one line per problem."""
    first, *others = message.split("\n")
    assert not others or _LIST.search(first), message[:300]
    assert all(line.startswith("  ") for line in others), message[:300]
    assert max(map(len, (first, *others))) <= MAX_LINE, message[:300]
    assert all(line.isprintable() for line in (first, *others)), message[:300]
