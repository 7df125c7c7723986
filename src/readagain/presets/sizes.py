"""Presets with decoder vocabularies of several sizes, as in Tables 1, 3 and 4."""

from collections.abc import Iterable

from readagain.config.override import override
from readagain.config.schema import RunSpec


def with_vocab_sizes(name: str, run: RunSpec, thousands: Iterable[int]) -> dict[str, RunSpec]:
    """Return copies of a run with decoder vocabularies of several sizes.

    Args:
        name: start of the names of the presets: `gru` gives `gru_15k`, `gru_69k`.
        run: the run to copy.
        thousands: sizes in thousands of words, such as 15 and 69.
    """
    return {
        f"{name}_{number}k": override(
            run, {"title": f"{run.title}, {number}k", "vocab_size": 1000 * number}
        )
        for number in thousands
    }
