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
from readagain.corpus.inputs import SPLITS
from readagain.corpus.settings import PrepareSettings, SplitSize
from readagain.corpus.work_dir import input_bytes
from readagain.corpus.workers import ChunkFiles
from readagain.errors import ArgumentError, DataError

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


@dataclass(frozen=True, kw_only=True)
class PairHashes:
    """Hashes of pairs, and the split of the input of each pair."""

    texts: NDArray[np.uint64]
    """(P,) hash of each text (see `Chunk.text_hashes`)."""
    pairs: NDArray[np.uint64]
    """(P,) hash of each text with its headline (see `Chunk.pair_hashes`)."""
    splits: NDArray[np.int8]
    """(P,) TRAIN, DEV or TEST."""


def assign_splits(
    chunks: Sequence[ChunkFiles], settings: PrepareSettings
) -> tuple[list[list[SplitChunk]], list[dict[str, Any]]]:
    """Remove duplicates and assign all pairs to splits.

    Returns:
        For each input its chunks with the splits of their pairs, and its entry in the manifest.

    Raises:
        DataError: when a requested split has no pairs.
    """
    entries: list[dict[str, Any]] = []
    hashes_of_chunks: list[PairHashes] = []
    for files in chunks:
        entry, hashes = _read_chunks(files)
        entries.append(entry)
        hashes_of_chunks += hashes
    splits = choose_splits(
        PairHashes(
            texts=np.concatenate([hashes.texts for hashes in hashes_of_chunks]),
            pairs=np.concatenate([hashes.pairs for hashes in hashes_of_chunks]),
            splits=np.concatenate([hashes.splits for hashes in hashes_of_chunks]),
        ),
        settings,
    )
    ends_of_chunks = np.cumsum([len(hashes.texts) for hashes in hashes_of_chunks])
    splits_of_chunks = iter(np.split(splits, ends_of_chunks[:-1]))
    origins = origins_of(entries)
    split_chunks: list[list[SplitChunk]] = []
    for files, entry in zip(chunks, entries, strict=True):
        origin_index = origins.index(files.source.origin)
        input_chunks = [
            SplitChunk(path=path, splits=next(splits_of_chunks), origin_index=origin_index)
            for path in files.paths
        ]
        for split_chunk in input_chunks:
            entry["dropped"].update(count_dropped(split_chunk.splits))
        entry["kept"] = entry["records"] - entry["dropped"].total()
        entry["dropped"] = dict(sorted(entry["dropped"].items()))
        split_chunks.append(input_chunks)
    held_out = [name for name, size in _held_out_sizes(settings).items() if size]
    for name in dict.fromkeys([*(files.source.split for files in chunks), *held_out]):
        if not (splits == SPLITS.index(name)).any():
            raise _empty_split_error(name, entries, settings)
    return split_chunks, entries


def _read_chunks(files: ChunkFiles) -> tuple[dict[str, Any], list[PairHashes]]:
    """Read the chunks of an input.

    Returns:
        The entry of the input in the manifest, without the pairs that `choose_splits` drops, and
        the hashes of each chunk.
    """
    source = files.source
    split = SPLITS.index(source.split)
    num_records, dropped = 0, Counter[str]()
    hashes = []
    for chunk in map(Chunk.load, files.paths):
        input_splits = np.full(len(chunk.records), split, dtype=np.int8)
        hashes.append(
            PairHashes(texts=chunk.text_hashes, pairs=chunk.pair_hashes, splits=input_splits)
        )
        num_records += chunk.num_records
        dropped.update(chunk.dropped)
        if chunk.invalid:
            dropped["bad"] += len(chunk.invalid)
    entry = {
        **asdict(source),
        "paths": [str(path) for path in source.paths],
        "bytes": input_bytes(source),
        "records": num_records,
        "dropped": dropped,
    }
    return entry, hashes


def choose_splits(hashes: PairHashes, settings: PrepareSettings) -> NDArray[np.int8]:
    """Return the split of every pair, or the reason why it is dropped.

    A text that occurs in inputs of several splits stays in one of them: in test if possible, else
    in dev. A dev or test split that is taken from the training input is chosen by the hashes of the
    texts, so all headlines of a text are in the same split. If its size is a share of the pairs
    (`SplitSize.share`), the split of a text does not depend on the other texts.

    Returns:
        (P,) int8: TRAIN, DEV, TEST, or a key of `DROP_REASONS`.
    """
    splits = hashes.splits.copy()
    for split, preferred_split, reason in (
        (DEV, TEST, IN_TEST),
        (TRAIN, TEST, IN_TEST),
        (TRAIN, DEV, IN_DEV),
    ):
        preferred_texts = hashes.texts[hashes.splits == preferred_split]
        splits[(splits == split) & np.isin(hashes.texts, preferred_texts)] = reason
    if "duplicate" in settings.filters:
        train_indices = np.flatnonzero(splits == TRAIN)
        _, first_occurrences = np.unique(hashes.pairs[train_indices], return_index=True)
        splits[np.delete(train_indices, first_occurrences)] = DUPLICATE
    _hold_out(splits, hashes.texts, TEST, settings.test)
    _hold_out(splits, hashes.texts, DEV, settings.dev)
    if settings.sample:
        for split in (DEV, TEST):
            indices = np.flatnonzero(splits == split)
            if len(indices) > settings.sample:
                sample = random.Random(settings.seed).sample(range(len(indices)), settings.sample)
                splits[np.delete(indices, sample)] = NOT_SAMPLED
    return splits


def _hold_out(
    splits: NDArray[np.int8], texts: NDArray[np.uint64], split: int, size: SplitSize
) -> None:
    """Move some training pairs to `split`, in place.

    The texts with the smallest hashes are moved to DEV, and those with the largest hashes to TEST.
    So the two splits take different texts.

    Args:
        splits: (P,) the split of each pair, or the reason why it is dropped.
        texts: (P,) the hash of each text.
        split: DEV or TEST.
        size: the size of the split.
    """
    if not size:
        return
    train_indices = np.flatnonzero(splits == TRAIN)
    hashes = texts[train_indices]
    keys = ~hashes if split == TEST else hashes  # the smallest keys are moved
    if size.share:
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


def _held_out_sizes(settings: PrepareSettings) -> dict[str, SplitSize]:
    """Return the sizes of the splits that are taken from the training input."""
    return {"dev": settings.dev, "test": settings.test}


def _empty_split_error(
    split: str, entries: Sequence[Mapping[str, Any]], settings: PrepareSettings
) -> Exception:
    """Return the error for a split without pairs."""
    if _held_out_sizes(settings).get(split):
        return ArgumentError(
            f"no text falls into the {split} split; increase {{{split}_pairs}} or {{{split}_share}}"
        )
    counts = sum((Counter(entry["dropped"]) for entry in entries), Counter[str]())
    reasons = ", ".join(f"{name} {count:,}" for name, count in counts.most_common()) or "none"
    if split == "train" and (settings.dev or settings.test):
        return DataError(
            f"no pair is left to train on (dropped: {reasons}); "
            "reduce the dev and test splits, or use fewer filters"
        )
    return DataError(
        f"no pair is left for {split} (dropped: {reasons}); use fewer filters or other inputs"
    )
