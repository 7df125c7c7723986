"""Assignment of pairs to the train, dev and test splits; no text is in two splits."""

import random
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from readagain.corpus.chunks import Chunk
from readagain.corpus.inputs import SPLITS, CorpusInput, TooFewPairsError
from readagain.corpus.readers.find import input_bytes
from readagain.corpus.settings import PrepareSettings, SplitSize
from readagain.formats.records import InvalidRecord

# Codes of the splits, and of the reasons why a pair is in no split.
TRAIN, DEV, TEST = range(len(SPLITS))
DROP_REASONS = {-2: "duplicate", -3: "text-in-dev", -4: "text-in-test", -5: "not-sampled"}
DUPLICATE, IN_DEV, IN_TEST, NOT_SAMPLED = DROP_REASONS


@dataclass(frozen=True, kw_only=True)
class SplitChunk:
    """A chunk file with the split of each of its pairs."""

    path: Path
    splits: NDArray[np.int8]
    """(P,) TRAIN, DEV or TEST; a key of `DROP_REASONS` for a dropped pair."""
    origin_index: int
    """Index of the input's origin in `CorpusManifest.origins`."""


def assign_splits(
    sources: Sequence[CorpusInput], chunks: Sequence[Sequence[Path]], settings: PrepareSettings
) -> tuple[list[list[SplitChunk]], list[dict[str, Any]], list[InvalidRecord]]:
    """Remove duplicates and assign all pairs to splits.

    `chunks` has the chunk files of each input.

    Returns:
        For each input its chunks with the splits of their pairs, and its entry in the manifest; the
        skipped invalid records of all inputs.

    Raises:
        TooFewPairsError: when a requested split has no pairs.
    """
    entries: list[dict[str, Any]] = []
    invalid: list[InvalidRecord] = []
    text_hashes, pair_hashes, input_splits = [], [], []  # an array for each chunk
    for source, paths in zip(sources, chunks, strict=True):
        split = SPLITS.index(source.split)
        num_records, dropped = 0, Counter[str]()
        for chunk in map(Chunk.load, paths):
            text_hashes.append(chunk.text_hashes)
            pair_hashes.append(chunk.pair_hashes)
            input_splits.append(np.full(len(chunk.records), split, dtype=np.int8))
            num_records += chunk.num_records
            dropped.update(chunk.dropped)
            if chunk.invalid:
                dropped["bad"] += len(chunk.invalid)
                invalid += chunk.invalid
        entries.append(
            {
                **asdict(source),
                "paths": [str(path) for path in source.paths],
                "bytes": input_bytes(source),
                "records": num_records,
                "dropped": dropped,
            }
        )
    splits = choose_splits(
        np.concatenate(text_hashes),
        np.concatenate(pair_hashes),
        np.concatenate(input_splits),
        settings,
    )
    chunk_ends = np.cumsum([len(hashes) for hashes in text_hashes])
    splits_of_chunks = iter(np.split(splits, chunk_ends[:-1]))
    origins = origins_of(entries)
    split_chunks: list[list[SplitChunk]] = []
    for paths, entry in zip(chunks, entries, strict=True):
        origin_index = origins.index(entry["origin"])
        input_chunks = [
            SplitChunk(path=path, splits=next(splits_of_chunks), origin_index=origin_index)
            for path in paths
        ]
        for split_chunk in input_chunks:
            entry["dropped"].update(count_dropped(split_chunk.splits))
        entry["kept"] = entry["records"] - entry["dropped"].total()
        entry["dropped"] = dict(sorted(entry["dropped"].items()))
        split_chunks.append(input_chunks)
    held_out = [name for name, size in (("dev", settings.dev), ("test", settings.test)) if size]
    for name in dict.fromkeys([*(source.split for source in sources), *held_out]):
        if not (splits == SPLITS.index(name)).any():
            raise _empty_split_error(name, entries, settings)
    return split_chunks, entries, invalid


def choose_splits(
    text_hashes: NDArray[np.uint64],
    pair_hashes: NDArray[np.uint64],
    input_splits: NDArray[np.int8],
    settings: PrepareSettings,
) -> NDArray[np.int8]:
    """Return the split of every pair, or the reason why it is dropped.

    A text that occurs in inputs of several splits stays in one of them: in test if possible, else
    in dev. A dev or test split that is taken from the training input is chosen by the hashes of the
    texts, so all headlines of a text are in the same split. If its size is a share of the pairs
    (`SplitSize.share`), the split of a text does not depend on the other texts.

    Args:
        text_hashes: (P,) hash of each text (see `Chunk`).
        pair_hashes: (P,) hash of each text with its headline (see `Chunk`).
        input_splits: (P,) split of the input of each pair: TRAIN, DEV or TEST.
        settings: filters, sizes of the splits, and sample.

    Returns:
        (P,) int8: TRAIN, DEV, TEST, or a key of `DROP_REASONS`.
    """
    splits = input_splits.copy()
    for split, preferred_split, reason in (
        (DEV, TEST, IN_TEST),
        (TRAIN, TEST, IN_TEST),
        (TRAIN, DEV, IN_DEV),
    ):
        preferred_texts = text_hashes[input_splits == preferred_split]
        splits[(splits == split) & np.isin(text_hashes, preferred_texts)] = reason
    if "duplicate" in settings.filters:
        train_indices = np.flatnonzero(splits == TRAIN)
        _, first_occurrences = np.unique(pair_hashes[train_indices], return_index=True)
        splits[np.delete(train_indices, first_occurrences)] = DUPLICATE
    _hold_out(splits, text_hashes, TEST, settings.test)
    _hold_out(splits, text_hashes, DEV, settings.dev)
    if settings.sample:
        for split in (DEV, TEST):
            indices = np.flatnonzero(splits == split)
            if len(indices) > settings.sample:
                sample = random.Random(settings.seed).sample(range(len(indices)), settings.sample)
                splits[np.delete(indices, sample)] = NOT_SAMPLED
    return splits


def _hold_out(
    splits: NDArray[np.int8], text_hashes: NDArray[np.uint64], split: int, size: SplitSize
) -> None:
    """Move some training pairs to `split`, in place.

    The texts with the smallest hashes are moved to DEV, and those with the largest hashes to TEST.
    So the two splits take different texts. The arrays are those of `choose_splits`.
    """
    if not size:
        return
    train_indices = np.flatnonzero(splits == TRAIN)
    hashes = text_hashes[train_indices]
    keys = ~hashes if split == TEST else hashes  # the smallest keys are moved
    if size.share:
        # Hashes are evenly distributed, so a share of the texts has hashes below this bound.
        is_moved = keys < np.uint64(min(int(size.share * 2.0**64), 2**64 - 1))
    else:
        # Move whole texts in the order of their keys, as long as they have at most `num_pairs`
        # pairs together.
        distinct_keys, counts = np.unique(keys, return_counts=True)
        num_pairs = min(size.pairs, max(int(size.max_share * len(keys)), 1))
        num_texts = int(np.searchsorted(np.cumsum(counts), num_pairs, side="right"))
        is_moved = np.isin(keys, distinct_keys[:num_texts])
    splits[train_indices[is_moved]] = split


def count_dropped(splits: NDArray[np.int8]) -> dict[str, int]:
    """Count the dropped pairs by reason."""
    counts = {name: int(np.count_nonzero(splits == code)) for code, name in DROP_REASONS.items()}
    return {name: count for name, count in counts.items() if count}


def origins_of(entries: Sequence[Mapping[str, Any]]) -> list[str]:
    """Return the distinct origins of the inputs, in order."""
    return list(dict.fromkeys(entry["origin"] for entry in entries))


def _empty_split_error(
    split: str, entries: Sequence[Mapping[str, Any]], settings: PrepareSettings
) -> TooFewPairsError:
    """Return the error for a split without pairs."""
    counts = sum((Counter(entry["dropped"]) for entry in entries), Counter[str]())
    dropped = ", ".join(f"{name} {count:,}" for name, count in counts.most_common())
    if split != "train" and getattr(settings, split):
        message = (
            f"no text falls into the {split} split; increase {{{split}_pairs}} or {{{split}_share}}"
        )
    elif split == "train" and (settings.dev or settings.test):
        message = (
            f"no pair is left to train on (dropped: {dropped or 'none'}); "
            "reduce the dev and test splits, or use fewer filters"
        )
    else:
        message = (
            f"no pair is left for {split} (dropped: {dropped or 'none'}); "
            "use fewer filters or other inputs"
        )
    return TooFewPairsError(message, dropped=dropped)
