"""What differs between two nested settings, leaf by leaf."""

from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple


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
