"""What differs between two nested settings, leaf by leaf, and in a few words."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

MOST_NAMED = 3
"""So many differences are named in a message; the others are counted."""


class Difference(NamedTuple):
    """One setting that has two values; None where it is missing."""

    name: str
    before: Any
    now: Any


def differences(
    before: Mapping[str, Any], now: Mapping[str, Any], at: str = ""
) -> Iterator[Difference]:
    """Yield every leaf that differs, by its dotted name.

    >>> list(differences({"a": {"b": 1, "c": 2}}, {"a": {"b": 1, "c": 3}}))
    [Difference(name='a.c', before=2, now=3)]
    """
    for name in dict.fromkeys([*before, *now]):
        old, new = before.get(name), now.get(name)
        if isinstance(old, Mapping) and isinstance(new, Mapping):
            yield from differences(old, new, f"{at}{name}.")
        elif old != new:
            yield Difference(f"{at}{name}", old, new)


def first_few(described: Sequence[str]) -> str:
    """Join the first differences for a message, and count the others.

    >>> first_few(["a was 1", "b was 2", "c was 3", "d was 4"])
    'a was 1; b was 2; c was 3; 1 more'
    """
    more = len(described) - MOST_NAMED
    return "; ".join([*described[:MOST_NAMED], *([f"{more} more"] if more > 0 else [])])
