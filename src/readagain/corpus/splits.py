"""Assignment of pairs to train, dev and test splits; no text is in two splits."""

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
    """Index into the manifest's `origins`, the arguments that name the inputs."""


@dataclass(frozen=True, kw_only=True)
class Hashes:
    """(P,) arrays: hash of the text, hash of the pair, and split of the input of each pair."""

    texts: NDArray[np.uint64]
    pairs: NDArray[np.uint64]
    splits: NDArray[np.int8]


def assign_splits(
    chunks: Sequence[ChunkFiles], settings: PrepareSettings
) -> tuple[list[list[SplitChunk]], list[dict[str, Any]]]:
    """Remove duplicates and assign all pairs to splits.

    Returns:
        For each input its chunks with the splits of their pairs, and its entry in the manifest.

    Raises:
        DataError: when a requested split has no pairs.
    """
    inputs: list[dict[str, Any]] = []
    texts, pairs, input_splits = [], [], []
    for files in chunks:
        num_records, dropped = 0, Counter[str]()
        split = SPLITS.index(files.source.split)
        for chunk in map(Chunk.load, files.paths):
            texts.append(chunk.text_hashes)
            pairs.append(chunk.pair_hashes)
            input_splits.append(np.full(len(chunk.records), split, dtype=np.int8))
            num_records += chunk.num_records
            dropped.update(chunk.dropped)
            if chunk.invalid:
                dropped["bad"] += len(chunk.invalid)
        paths = [str(path) for path in files.source.paths]
        inputs.append(
            {
                **asdict(files.source),
                "paths": paths,
                "bytes": input_bytes(files.source),
                "records": num_records,
                "dropped": dropped,
            }
        )
    hashes = Hashes(
        texts=np.concatenate(texts),
        pairs=np.concatenate(pairs),
        splits=np.concatenate(input_splits),
    )
    splits = choose_splits(hashes, settings)
    # Divide the splits of all pairs among the chunks again, in the same order.
    splits_of_chunks = iter(np.split(splits, np.cumsum([len(each) for each in texts])[:-1]))
    origins = origins_of(inputs)
    split_chunks: list[list[SplitChunk]] = []
    for files, entry in zip(chunks, inputs, strict=True):
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
            raise _empty_split_error(name, inputs, settings)
    return split_chunks, inputs


def choose_splits(hashes: Hashes, settings: PrepareSettings) -> NDArray[np.int8]:
    """Return the split of every pair, or the reason why it is dropped.

    A text that occurs in several inputs stays in one split: test takes precedence over dev, and dev
    over training. Pairs for a held-out split are chosen from the training input by the hash of the
    text, so all headlines of a text are in the same split. If the size is a share of the pairs
    (`SplitSize.share`), the split of a text does not depend on the rest of the corpus.

    Returns:
        (P,) int8: TRAIN, DEV, TEST, or a key of `DROP_REASONS`.
    """
    splits = hashes.splits.copy()
    for split, other, reason in (
        (DEV, TEST, IN_TEST),
        (TRAIN, TEST, IN_TEST),
        (TRAIN, DEV, IN_DEV),
    ):
        texts = hashes.texts[hashes.splits == other]
        splits[(splits == split) & np.isin(hashes.texts, texts)] = reason
    if "duplicate" in settings.filters:
        training = np.flatnonzero(splits == TRAIN)
        _, first = np.unique(hashes.pairs[training], return_index=True)
        splits[np.delete(training, first)] = DUPLICATE
    _hold_out(splits, hashes.texts, TEST, settings.test)
    _hold_out(splits, hashes.texts, DEV, settings.dev)
    if settings.sample:
        for split in (DEV, TEST):
            pairs = np.flatnonzero(splits == split)
            if len(pairs) > settings.sample:
                chosen = random.Random(settings.seed).sample(range(len(pairs)), settings.sample)
                splits[np.delete(pairs, chosen)] = NOT_SAMPLED
    return splits


def _hold_out(
    splits: NDArray[np.int8], texts: NDArray[np.uint64], split: int, size: SplitSize
) -> None:
    """Move some training pairs to `split`, in place.

    The texts with the smallest hashes are moved to DEV, those with the largest to TEST, so that the
    two splits do not compete for the same texts.
    """
    if not size:
        return
    training = np.flatnonzero(splits == TRAIN)
    keys = ~texts[training] if split == TEST else texts[training]
    if size.share:
        is_chosen = keys < np.uint64(min(int(size.share * 2.0**64), 2**64 - 1))
    else:
        # Take texts in the order of their hash, each with all its pairs, up to the number of pairs.
        distinct, counts = np.unique(keys, return_counts=True)
        num_pairs = min(size.pairs, max(int(size.max_share * len(keys)), 1))
        num_texts = int(np.searchsorted(np.cumsum(counts), num_pairs, side="right"))
        is_chosen = np.isin(keys, distinct[:num_texts])
    splits[training[is_chosen]] = split


def count_dropped(splits: NDArray[np.int8]) -> dict[str, int]:
    """Count the dropped pairs by reason."""
    counts = {name: int(np.count_nonzero(splits == code)) for code, name in DROP_REASONS.items()}
    return {name: count for name, count in counts.items() if count}


def origins_of(inputs: Sequence[Mapping[str, Any]]) -> list[str]:
    """Return the distinct arguments that name the inputs, in order."""
    return list(dict.fromkeys(entry["origin"] for entry in inputs))


def _held_out_sizes(settings: PrepareSettings) -> dict[str, SplitSize]:
    """Return the sizes of the splits that are taken from the training input."""
    return {"dev": settings.dev, "test": settings.test}


def _empty_split_error(
    split: str, inputs: Sequence[Mapping[str, Any]], settings: PrepareSettings
) -> Exception:
    """Return the error for a split without pairs."""
    if _held_out_sizes(settings).get(split):
        return ArgumentError(
            f"no text falls into the {split} split; increase {{{split}_pairs}} or {{{split}_share}}"
        )
    total = sum((Counter(entry["dropped"]) for entry in inputs), Counter[str]())
    reasons = ", ".join(f"{name} {count:,}" for name, count in total.most_common()) or "none"
    if split == "train" and (settings.dev or settings.test):
        return DataError(
            f"no pair is left to train on (dropped: {reasons}); "
            "reduce the dev and test splits, or use fewer filters"
        )
    return DataError(
        f"no pair is left for {split} (dropped: {reasons}); use fewer filters or other inputs"
    )
