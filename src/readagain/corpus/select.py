"""Which pair goes where: duplicates out, and no text on two sides of a split."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from readagain.corpus.inputs import SplitName
from readagain.corpus.settings import PrepareSettings, SplitSize

SPLITS: tuple[SplitName, ...] = ("train", "dev", "test")
TRAIN, DEV, TEST = range(3)
REASONS = {-2: "duplicate", -3: "text-in-dev", -4: "text-in-test"}
DUPLICATE, IN_DEV, IN_TEST = REASONS


@dataclass(frozen=True, kw_only=True)
class Hashes:
    """Of every pair, in input order: the hash of its text, of itself, and its given split."""

    texts: NDArray[np.uint64]
    pairs: NDArray[np.uint64]
    splits: NDArray[np.int8]


def choose_splits(hashes: Hashes, settings: PrepareSettings) -> NDArray[np.int8]:
    """Give every pair a place: TRAIN, DEV or TEST, or the negative number of a reason.

    Sets that somebody gave stay whole, so training gives way to them, and dev to test. What is
    cut from the training input by hash is cut by the hash of the text, so two headlines of one
    text never stand on two sides, and the same text falls on the same side in any corpus.

    Returns:
        (P,) int8; see `REASONS` for what is negative.
    """
    places = hashes.splits.copy()
    for split, given, reason in (
        (DEV, TEST, IN_TEST),
        (TRAIN, TEST, IN_TEST),
        (TRAIN, DEV, IN_DEV),
    ):
        taken = hashes.texts[hashes.splits == given]
        places[(places == split) & np.isin(hashes.texts, taken)] = reason
    if "duplicate" in settings.filters:
        candidates = np.flatnonzero(places == TRAIN)
        _, first = np.unique(hashes.pairs[candidates], return_index=True)
        again = np.ones(len(candidates), dtype=bool)
        again[first] = False
        places[candidates[again]] = DUPLICATE
    _cut_by_hash(places, hashes.texts, TEST, settings.test, from_above=True)
    _cut_by_hash(places, hashes.texts, DEV, settings.dev, from_above=False)
    return places


def _cut_by_hash(
    places: NDArray[np.int8],
    texts: NDArray[np.uint64],
    split: int,
    wanted: SplitSize,
    *,
    from_above: bool,
) -> None:
    """Move the texts with the smallest (or largest) hashes from training to another split."""
    if not wanted:
        return
    training = np.flatnonzero(places == TRAIN)
    keys = ~texts[training] if from_above else texts[training]
    if wanted.share:
        limit = np.uint64(min(int(wanted.share * 2.0**64), 2**64 - 1))
        chosen = keys < limit
    else:
        # Whole texts in order of their hash, as long as the number of pairs is not exceeded.
        distinct, counts = np.unique(keys, return_counts=True)
        num_texts = int(np.searchsorted(np.cumsum(counts), wanted.pairs, side="right"))
        chosen = np.isin(keys, distinct[:num_texts])
    places[training[chosen]] = split


def dropped_by_reason(places: NDArray[np.int8]) -> dict[str, int]:
    """Count the pairs that found no place, by reason."""
    counts = {name: int(np.count_nonzero(places == code)) for code, name in REASONS.items()}
    return {name: count for name, count in counts.items() if count}


def concatenate(parts: Sequence[Hashes]) -> Hashes:
    """Put the hashes of several chunks behind one another."""
    return Hashes(
        texts=np.concatenate([part.texts for part in parts]),
        pairs=np.concatenate([part.pairs for part in parts]),
        splits=np.concatenate([part.splits for part in parts]),
    )
