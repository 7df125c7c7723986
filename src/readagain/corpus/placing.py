"""Assignment of pairs to splits, with counts for each input."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Any

import numpy as np

from readagain.corpus.chunk import Chunk, SplitChunk
from readagain.corpus.inputs import CorpusInput, SplitName
from readagain.corpus.select import (
    SPLITS,
    Hashes,
    choose_splits,
    concatenate,
    dropped_by_reason,
)
from readagain.corpus.settings import PrepareSettings, SplitSize
from readagain.corpus.work_dir import input_bytes
from readagain.corpus.workers import ChunkFiles
from readagain.errors import DataError


def assign_splits(
    chunks: Sequence[ChunkFiles], settings: PrepareSettings
) -> tuple[list[list[SplitChunk]], list[dict[str, Any]]]:
    """Remove duplicates and assign all pairs to splits.

    Returns:
        For each input its chunks with the places of their pairs, and its entry in the manifest.

    Raises:
        DataError: when a requested split has no pairs.
    """
    inputs: list[dict[str, Any]] = []
    hashes: list[Hashes] = []
    for files in chunks:
        entry, own = _read(files)
        inputs.append(entry)
        hashes += own
    places = choose_splits(concatenate(hashes), settings)
    ends = np.cumsum([len(part.texts) for part in hashes])
    parts = iter(np.split(places, ends[:-1]))
    origins = origins_of(inputs)
    placed: list[list[SplitChunk]] = []
    for files, entry in zip(chunks, inputs, strict=True):
        origin = origins.index(files.source.origin)
        own_chunks = [
            SplitChunk(path=path, places=next(parts), origin=origin) for path in files.paths
        ]
        for chunk in own_chunks:
            entry["dropped"].update(dropped_by_reason(chunk.places))
        entry["kept"] = entry["records"] - entry["dropped"].total()
        entry["dropped"] = dict(sorted(entry["dropped"].items()))
        placed.append(own_chunks)
    cut_off = [split for split, wanted in _wanted(settings).items() if wanted]
    for split in dict.fromkeys([*(files.source.split for files in chunks), *cut_off]):
        if not (places == SPLITS.index(split)).any():
            raise DataError(_why_empty(split, inputs, settings))
    return placed, inputs


def _read(files: ChunkFiles) -> tuple[dict[str, Any], list[Hashes]]:
    """Gather the hashes of an input's chunks, and its counts so far."""
    given = SPLITS.index(files.source.split)
    hashes = []
    num_records, dropped = 0, Counter[str]()
    for path in files.paths:
        chunk = Chunk.load(path)
        splits = np.full(len(chunk.records), given, dtype=np.int8)
        hashes.append(Hashes(texts=chunk.text_hashes, pairs=chunk.pair_hashes, splits=splits))
        num_records += chunk.num_records
        dropped.update(chunk.dropped)
        if chunk.bad:
            dropped["bad"] += len(chunk.bad)
    return {**_describe(files.source), "records": num_records, "dropped": dropped}, hashes


def _describe(source: CorpusInput) -> dict[str, Any]:
    paths = [str(path) for path in source.paths]
    return {**asdict(source), "paths": paths, "bytes": input_bytes(source)}


def origins_of(inputs: Sequence[Mapping[str, Any]]) -> list[str]:
    """Return the arguments that named the inputs, each once, in order."""
    return list(dict.fromkeys(entry["origin"] for entry in inputs))


def _wanted(settings: PrepareSettings) -> dict[SplitName, SplitSize]:
    """Say how much is cut off for each split but that of training."""
    return {"dev": settings.dev, "test": settings.test}


def _why_empty(
    split: SplitName, inputs: Sequence[Mapping[str, Any]], settings: PrepareSettings
) -> str:
    """Say where all pairs of a split went."""
    if _wanted(settings).get(split):
        return f"no text falls into the {split} split; increase {split}_pairs or {split}_share"
    total = sum((Counter(entry["dropped"]) for entry in inputs), Counter[str]())
    reasons = ", ".join(f"{name} {count:,}" for name, count in total.most_common())
    if split == "train" and (settings.dev or settings.test):
        return (
            f"no pair is left to train on (dropped: {reasons or 'none'}); "
            "use less for dev and test, or other filters"
        )
    return f"no pair is left for {split} (dropped: {reasons}); use other filters or inputs"
