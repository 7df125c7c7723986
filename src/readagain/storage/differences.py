"""Differences between two nested dictionaries of settings, for messages."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

MAX_LISTED = 3
"""Maximum number of differences listed in a message; the others are only counted."""


class Difference(NamedTuple):
    """A setting whose values differ; None means that the setting is missing."""

    name: str
    before: Any
    now: Any


def differences(
    before: Mapping[str, Any], now: Mapping[str, Any], prefix: str = ""
) -> Iterator[Difference]:
    """Yield every setting that differs, with its dotted name.

    >>> list(differences({"a": {"b": 1, "c": 2}}, {"a": {"b": 1, "c": 3}}))
    [Difference(name='a.c', before=2, now=3)]
    """
    for name in dict.fromkeys([*before, *now]):
        old, new = before.get(name), now.get(name)
        if isinstance(old, Mapping) and isinstance(new, Mapping):
            yield from differences(old, new, f"{prefix}{name}.")
        elif old != new:
            yield Difference(f"{prefix}{name}", old, new)


def join_first(descriptions: Sequence[str]) -> str:
    """Join the first descriptions of differences for a message, and count the others.

    >>> join_first(["a was 1", "b was 2", "c was 3", "d was 4"])
    'a was 1; b was 2; c was 3; 1 more'
    """
    parts = list(descriptions[:MAX_LISTED])
    if len(descriptions) > MAX_LISTED:
        parts.append(f"{len(descriptions) - MAX_LISTED} more")
    return "; ".join(parts)
