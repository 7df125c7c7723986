"""Reader of prepared corpora: memory-mapped arrays of word ids, lexicon and raw texts."""

import json
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import accumulate, pairwise
from pathlib import Path
from tokenize import TokenError
from typing import Any

import numpy as np
from numpy.typing import NDArray

from readagain.corpus.inputs import SPLITS, Example
from readagain.corpus.lexicon import UNKNOWN_ID, Lexicon
from readagain.corpus.manifest import ADVICE, FILE_NAME, CorpusManifest
from readagain.errors import ArtifactError, first_line, quoted
from readagain.storage.manifest import check_files
from readagain.text.truecasing import CASES_FILE, Truecaser

LEXICON_FILE = "lexicon.txt"
# Exceptions that np.load raises for a damaged header, which it parses as a Python literal.
_HEADER_ERRORS = (
    ValueError, TypeError, EOFError, OverflowError, SyntaxError, TokenError, RecursionError,
    MemoryError,
)  # fmt: skip
ARRAY_TYPES = {"words": np.int32, "segments": np.int64, "pairs": np.int64, "origins": np.uint16}
"""Types of the arrays of a shard, by name."""


def shard_file(split: str, number: int, array: str) -> str:
    """Return the name of the file with one array of a shard."""
    return f"{split}-{number:05d}.{array}.npy"


def texts_file(split: str) -> str:
    """Return the name of the file with the raw texts of a split."""
    return f"{split}.texts.jsonl"


@dataclass(frozen=True, kw_only=True)
class CorpusShard:
    """Consecutive pairs of a split.

    Letters in shapes: W words, G segments (sentences and summaries), P pairs.
    """

    words: NDArray[np.int32]
    """(W,) lexicon ids or `UNKNOWN_ID`: for each pair its sentences in order, then its summary."""
    segments: NDArray[np.int64]
    """(G + 1,) start of each segment in `words`, then the end of the last segment."""
    pairs: NDArray[np.int64]
    """(P + 1,) start of each pair in `segments`, then the end of the last pair."""
    origins: NDArray[np.uint16]
    """(P,) index of each pair's source in `CorpusManifest.origins`, such as a newspaper."""

    @classmethod
    def from_lengths(
        cls,
        *,
        words: NDArray[np.int32],
        segment_lengths: NDArray[np.integer[Any]],
        pair_segments: NDArray[np.integer[Any]],
        origins: NDArray[np.uint16],
    ) -> "CorpusShard":
        """Build a shard from the length of each segment, (G,), and the segments per pair, (P,).

        `words` and `origins` are stored unchanged.
        """
        return cls(
            words=words,
            segments=_offsets(segment_lengths),
            pairs=_offsets(pair_segments),
            origins=origins,
        )

    @classmethod
    def join(cls, shards: Sequence["CorpusShard"]) -> "CorpusShard":
        """Return the pairs of shards as one shard; a single shard is not copied."""
        if len(shards) == 1:
            return shards[0]
        return cls.from_lengths(
            words=np.concatenate([shard.words for shard in shards]),
            segment_lengths=np.concatenate([shard.segment_lengths for shard in shards]),
            pair_segments=np.concatenate([shard.pair_segments for shard in shards]),
            origins=np.concatenate([shard.origins for shard in shards]),
        )

    def __len__(self) -> int:
        return len(self.pairs) - 1

    @property
    def segment_lengths(self) -> NDArray[np.int64]:
        """(G,) number of words of each segment."""
        return np.diff(self.segments)

    @property
    def pair_segments(self) -> NDArray[np.int64]:
        """(P,) number of segments of each pair."""
        return np.diff(self.pairs)

    def select(self, is_selected: NDArray[np.bool_]) -> "CorpusShard":
        """Return the pairs at which `is_selected` (P,) is True."""
        is_segment_selected = np.repeat(is_selected, self.pair_segments)  # (G,)
        return CorpusShard.from_lengths(
            words=self.words[np.repeat(is_segment_selected, self.segment_lengths)],
            segment_lengths=self.segment_lengths[is_segment_selected],
            pair_segments=self.pair_segments[is_selected],
            origins=self.origins[is_selected],
        )

    def save(self, folder: Path, split: str, number: int) -> None:
        """Write the arrays of shard `number` of a split."""
        for name in ARRAY_TYPES:
            np.save(folder / shard_file(split, number, name), getattr(self, name))

    @classmethod
    def open(cls, folder: Path, split: str, number: int) -> "CorpusShard":
        """Map the arrays of shard `number` of a split into memory, and compare their lengths."""
        paths = {name: folder / shard_file(split, number, name) for name in ARRAY_TYPES}
        shard = cls(**{name: _map_array(path, ARRAY_TYPES[name]) for name, path in paths.items()})
        validity = {
            "segments": _are_offsets(shard.segments, len(shard.words), min_length=0),
            # Each pair has at least one sentence and one summary.
            "pairs": _are_offsets(shard.pairs, len(shard.segments) - 1, min_length=2),
            "origins": len(shard.origins) == len(shard.pairs) - 1,
        }
        for name, is_valid in validity.items():
            if not is_valid:
                raise ArtifactError(f"{paths[name]}: does not match the other arrays; {ADVICE}")
        return shard

    def pair(self, index: int) -> tuple[list[NDArray[np.int32]], NDArray[np.int32]]:
        """Return the sentences and the summary of one pair, as lexicon ids."""
        starts = self.segments[self.pairs[index] : self.pairs[index + 1] + 1]
        segments = [self.words[start:end] for start, end in pairwise(starts)]
        return segments[:-1], segments[-1]


def _offsets(lengths: NDArray[np.integer[Any]]) -> NDArray[np.int64]:
    """Return the starts of consecutive items with these lengths, then the end of the last item."""
    return np.concatenate([np.zeros(1, np.int64), np.cumsum(lengths, dtype=np.int64)])


def _map_array(path: Path, dtype: type) -> NDArray[Any]:
    """Map the one-dimensional array of type `dtype` in a file into memory."""
    try:
        if path.exists() and not path.is_file():
            raise ValueError("not a regular file")  # opening a named pipe would block
        array: NDArray[Any] = np.load(path, mmap_mode="r", allow_pickle=False)
    except (OSError, *_HEADER_ERRORS) as error:
        reason = first_line(error)[:200]
        raise ArtifactError(f"{path}: cannot be mapped ({reason}); {ADVICE}") from error
    if array.dtype != dtype or array.ndim != 1:
        raise ArtifactError(
            f"{path}: an array of {array.dtype} with {array.ndim} dimensions; expected one "
            f"dimension of {np.dtype(dtype)}, so {ADVICE}"
        )
    return array


def _are_offsets(starts: NDArray[np.int64], total: int, *, min_length: int) -> bool:
    """Return whether `starts` increases from 0 to `total` in steps of at least `min_length`."""
    return bool(
        len(starts) > 0
        and starts[0] == 0
        and starts[-1] == total
        and (np.diff(starts) >= min_length).all()
    )


class CorpusSplit:
    """All pairs of a split; the index of a pair counts through all shards."""

    def __init__(self, name: str, shards: tuple[CorpusShard, ...]) -> None:
        self.name = name
        self.shards = shards
        self._starts = list(accumulate(map(len, shards), initial=0))

    def __len__(self) -> int:
        return self._starts[-1]

    def __getitem__(self, index: int) -> tuple[list[NDArray[np.int32]], NDArray[np.int32]]:
        """Return the sentences and the summary of a pair, as lexicon ids."""
        if not -len(self) <= index < len(self):
            raise IndexError(f"pair {index} of a {self.name} split of {len(self)} pairs")
        index %= len(self)
        shard = bisect_right(self._starts, index) - 1
        return self.shards[shard].pair(index - self._starts[shard])


class PreparedCorpus:
    """A folder written by `readagain prepare`."""

    def __init__(self, folder: Path, manifest: CorpusManifest) -> None:
        self.folder = folder
        self.manifest = manifest

    @classmethod
    def open(cls, folder: Path, *, checksums: bool = False) -> "PreparedCorpus":
        """Open a prepared corpus and check its files.

        With `checksums`, the checksums of all files are verified, which reads them completely.

        Raises:
            ArtifactError: when a file is missing, truncated, changed or of a newer version.
        """
        manifest = CorpusManifest.load(folder)
        names = manifest.files if checksums else ()
        check_files(folder, manifest.files, manifest=FILE_NAME, checksums=names, advice=ADVICE)
        return cls(folder, manifest)

    @cached_property
    def lexicon(self) -> Lexicon:
        """The lexicon, which has the words by id."""
        lexicon = Lexicon.load(self.folder / LEXICON_FILE)
        if len(lexicon) != self.manifest.num_words:
            raise ArtifactError(
                f"{self.folder / LEXICON_FILE}: {len(lexicon):,} words, the manifest lists "
                f"{quoted(self.manifest.num_words)}; {ADVICE}"
            )
        return lexicon

    @cached_property
    def truecaser(self) -> Truecaser:
        """Truecaser of the corpus; empty if an older version of readagain prepared the corpus."""
        has_cases = CASES_FILE in self.manifest.files
        return Truecaser.load(self.folder / CASES_FILE) if has_cases else Truecaser()

    @property
    def is_tokenized(self) -> bool:
        """Whether all texts of the corpus were tokenized as in Gigaword."""
        return all(bool(entry["is_text_tokenized"]) for entry in self.manifest.inputs)

    def split(self, name: str) -> CorpusSplit:
        """Map a split into memory; the split may be empty.

        Raises:
            ArtifactError: when a file is damaged or does not match the others.
        """
        if name not in SPLITS:
            raise ArtifactError(f"no split '{name}'; expected one of {', '.join(SPLITS)}")
        counts = self.manifest.splits[name]
        shards = []
        for number in range(counts["shards"]):
            shard = CorpusShard.open(self.folder, name, number)
            ids = shard.words
            if len(ids) and not (ids.min() >= UNKNOWN_ID and ids.max() < self.manifest.num_words):
                raise ArtifactError(
                    f"{self.folder / shard_file(name, number, 'words')}: contains words "
                    f"that are not in the lexicon; {ADVICE}"
                )
            shards.append(shard)
        split = CorpusSplit(name, tuple(shards))
        if len(split) != counts["pairs"]:
            raise ArtifactError(
                f"{self.folder}: {len(split):,} pairs for {name}, the manifest lists "
                f"{counts['pairs']:,}; {ADVICE}"
            )
        return split

    def texts(self, name: str) -> Iterator[Example]:
        """Yield the examples of the dev or test split with raw text, in the order of its shards."""
        path = self.folder / texts_file(name)
        if not path.is_file():
            raise ArtifactError(
                f"{path}: missing, since raw texts are kept for dev and test splits only; use the "
                "file that the corpus was prepared from"
            )
        with path.open(encoding="utf-8", newline="\n") as lines:
            for number, line in enumerate(lines, start=1):
                try:
                    record = json.loads(line)
                    references = tuple(record.get("references", ()))
                    example = Example(record["text"], record["headline"], references)
                except (ValueError, KeyError, AttributeError, TypeError, RecursionError) as error:
                    raise ArtifactError(
                        f"{path}:{number}: no text and headline in this line; {ADVICE}"
                    ) from error
                yield example
