"""Presets with decoder vocabularies of several sizes, as in Tables 1, 3 and 4."""

from collections.abc import Iterable

from readagain.config.override import override
from readagain.config.schema import RunSpec


def with_vocab_sizes(name: str, run: RunSpec, thousands: Iterable[int]) -> dict[str, RunSpec]:
    """Return copies of a run with decoder vocabularies of several sizes, in thousands of words.

    With `name` `gru` and sizes 15 and 69 the presets are `gru_15k` and `gru_69k`.
    """
    return {
        f"{name}_{number}k": override(
            run, {"title": f"{run.title}, {number}k", "vocab_size": 1000 * number}
        )
        for number in thousands
    }
