"""Runs with decoder vocabularies of several sizes, as in Tables 1, 3 and 4."""

from collections.abc import Iterable

from readagain.config.override import override
from readagain.config.schema import RunSpec


def at_sizes(name: str, run: RunSpec, thousands: Iterable[int]) -> dict[str, RunSpec]:
    """Return `run` with vocabularies of several thousand words, by name: `name_15k`, ..."""
    return {
        f"{name}_{size}k": override(
            run, {"title": f"{run.title}, {size}k", "vocab_size": 1000 * size}
        )
        for size in thousands
    }
