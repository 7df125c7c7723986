"""The raw texts of dev and test pairs, found again in the inputs."""

import json
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from pathlib import Path

import numpy as np

from readagain.corpus.chunk import Chunk, SplitChunk
from readagain.corpus.inputs import CorpusInput, Example
from readagain.corpus.readers.formats import FORMATS
from readagain.corpus.select import SPLITS, TRAIN
from readagain.corpus.shards import texts_file
from readagain.errors import DataError
from readagain.formats.records import InvalidRecord


def write_texts(
    sources: Sequence[CorpusInput], placed: Sequence[Sequence[SplitChunk]], folder: Path
) -> None:
    """Write dev.texts.jsonl and test.texts.jsonl, pair by pair in the order of the shards.

    Chunks hold words, not texts, and which pairs are cut off for dev is only known when all
    hashes are. Reading some inputs twice is cheaper than keeping every text until then.
    """
    with ExitStack() as files:
        streams = {}
        for code, split in list(enumerate(SPLITS))[TRAIN + 1 :]:
            if any((chunk.places == code).any() for chunks in placed for chunk in chunks):
                path = folder / texts_file(split)
                streams[code] = files.enter_context(path.open("w", encoding="utf-8", newline="\n"))
        for source, chunks in zip(sources, placed, strict=True):
            for place, pair in _placed_pairs(source, chunks):
                streams[place].write(_line(pair))


def _placed_pairs(
    source: CorpusInput, chunks: Sequence[SplitChunk]
) -> Iterator[tuple[int, Example]]:
    """Yield the pairs of a source that do not go to training, with their places."""
    if not any((chunk.places > TRAIN).any() for chunk in chunks):
        return
    format = FORMATS[source.format]
    for placed, block in zip(chunks, format.read_blocks(source), strict=True):
        wanted = np.flatnonzero(placed.places > TRAIN)
        if len(wanted) == 0:
            continue
        numbers = Chunk.load(placed.path).records[wanted].tolist()
        place_of = dict(zip(numbers, placed.places[wanted].tolist(), strict=True))
        for number, record in enumerate(format.parse_block(source, block)):
            if number in place_of:
                if isinstance(record, InvalidRecord):
                    raise DataError(f"{source.path}: changed while it was read; start again")
                yield place_of[number], record


def _line(pair: Example) -> str:
    record: dict[str, object] = {"text": pair.text, "headline": pair.headline}
    if pair.references:
        record["references"] = pair.references
    return json.dumps(record, ensure_ascii=False) + "\n"
