"""Chunks: the parsed, filtered and tokenized pairs of one block of an input, saved in a file.

A preparation that was interrupted resumes with the chunks that it has saved.
"""

import io
import json
from collections import Counter, defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from hashlib import blake2b, sha256
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from readagain.corpus.filters import FILTERS, FilterInput
from readagain.corpus.inputs import CorpusInput, Example
from readagain.corpus.readers.formats import FORMATS
from readagain.corpus.settings import PrepareSettings
from readagain.errors import ArtifactError
from readagain.formats.records import Block, InvalidRecord, valid_records
from readagain.storage.files import atomic_write
from readagain.text.document import headline_tokens, sentence_tokens
from readagain.text.language import UNDETERMINED, Language, find_language
from readagain.text.normalization import normalize_tokens, restore_digits
from readagain.text.truecasing import has_informative_case
from readagain.text.vocab import SPECIAL_TOKENS, UNK

CHUNK_FORMAT = 5
"""Version of the file format; a chunk of another version is not used when resuming."""
UNKNOWN_WORD = ""
"""The word in a chunk that represents UNK, which replaces OOV words in Gigaword files."""
UNKNOWN_SPELLINGS = ("UNK", "unk", "<UNK>", SPECIAL_TOKENS[UNK])
"""Spellings of UNK in public copies of Gigaword."""
NO_CASE = -1
"""Surface id of a token whose case is not informative, as at the start of a sentence."""
LOWER_CASE = 0
"""Surface id of a token that equals its norm."""

_UNKNOWN_TOKENS = frozenset({*UNKNOWN_SPELLINGS, *SPECIAL_TOKENS})
_CHECKSUM_BYTES = 32
_ARRAYS = (
    "ids", "surface_ids", "segment_lengths", "pair_segments", "records", "text_hashes",
    "pair_hashes",
)  # fmt: skip
"""Fields of `Chunk` that are arrays."""


@dataclass(frozen=True, kw_only=True)
class Chunk:
    """Pairs of one block that passed the filters.

    Letters in shapes: W words, G segments (sentences and headlines), P pairs.
    """

    words: list[str]
    """The distinct normalized words of the chunk; the id of a word is its index."""
    ids: NDArray[np.int32]
    """(W,) word ids of all pairs: for each pair its sentences in order, then its headline."""
    surfaces: list[str]
    """The distinct spellings with capitals; the surface id of a spelling is its index plus 1."""
    surface_ids: NDArray[np.int32]
    """(W,) surface id of each word, or `NO_CASE` or `LOWER_CASE`."""
    segment_lengths: NDArray[np.int32]
    """(G,) number of words in each sentence and headline."""
    pair_segments: NDArray[np.int32]
    """(P,) number of sentences of each pair, plus 1 for the headline."""
    records: NDArray[np.int32]
    """(P,) index of each pair's record in the block."""
    text_hashes: NDArray[np.uint64]
    """(P,) hash of each text, without its digits."""
    pair_hashes: NDArray[np.uint64]
    """(P,) hash of each text with its headline, with their digits."""
    num_records: int
    """Number of records of the block, including dropped and invalid ones."""
    dropped: dict[str, int]
    """Number of dropped records by reason."""
    invalid: list[InvalidRecord]
    """Skipped invalid records."""

    def headline_word_mask(self) -> NDArray[np.bool_]:
        """Return (W,) True at words of headlines."""
        return np.repeat(headline_segment_mask(self.pair_segments), self.segment_lengths)

    def save(self, path: Path) -> None:
        """Write the chunk atomically, with a checksum."""
        metadata = {
            "num_records": self.num_records,
            "dropped": self.dropped,
            "invalid": [[record.where, record.reason, record.content] for record in self.invalid],
        }
        content = io.BytesIO()
        np.savez(
            content,
            words=_to_array("\n".join(self.words)),
            surfaces=_to_array("\n".join(self.surfaces)),
            metadata=_to_array(json.dumps(metadata, default=str)),
            **{name: getattr(self, name) for name in _ARRAYS},
        )
        with atomic_write(path) as temporary, temporary.open("wb") as file:
            file.write(_checksum(path, content.getbuffer()))
            file.write(content.getbuffer())

    @classmethod
    def load(cls, path: Path) -> "Chunk":
        """Read a saved chunk.

        Raises:
            ArtifactError: when the file is missing or damaged.
        """
        saved = path.read_bytes() if path.exists() else b""
        checksum, content = saved[:_CHECKSUM_BYTES], saved[_CHECKSUM_BYTES:]
        if checksum != _checksum(path, content):
            raise ArtifactError(
                f"{path}: changed since it was written; remove it and run the same command again"
            )
        with np.load(io.BytesIO(content)) as arrays:
            metadata = json.loads(arrays["metadata"].tobytes())
            return cls(
                words=arrays["words"].tobytes().decode().split("\n"),
                surfaces=arrays["surfaces"].tobytes().decode().split("\n"),
                num_records=metadata["num_records"],
                dropped=metadata["dropped"],
                invalid=[InvalidRecord(*record) for record in metadata["invalid"]],
                **{name: arrays[name] for name in _ARRAYS},
            )


def headline_segment_mask(pair_segments: NDArray[np.integer[Any]]) -> NDArray[np.bool_]:
    """Return (G,) True at headlines; the headline is the last segment of each pair."""
    is_headline = np.zeros(int(pair_segments.sum()), dtype=bool)
    is_headline[np.cumsum(pair_segments) - 1] = True
    return is_headline


def num_saved_records(path: Path) -> int | None:
    """Return the number of records of a saved chunk, or None if it is missing or damaged."""
    try:
        return Chunk.load(path).num_records
    except ArtifactError:
        return None


def _checksum(path: Path, content: bytes | memoryview) -> bytes:
    """Return a checksum of content and path; the path detects a renamed chunk."""
    return sha256(f"{path.parent.name}/{path.name}\n".encode() + content).digest()


def _to_array(text: str) -> NDArray[np.uint8]:
    """Return the UTF-8 bytes of a text."""
    return np.frombuffer(text.encode(), dtype=np.uint8)


def save_chunk(source: CorpusInput, block: Block, settings: PrepareSettings, path: Path) -> int:
    """Make the chunk of a block, write it to `path` and return its number of records."""
    chunk = make_chunk(source, block, settings)
    chunk.save(path)
    return chunk.num_records


def make_chunk(source: CorpusInput, block: Block, settings: PrepareSettings) -> Chunk:
    """Parse, filter and tokenize one block.

    Pairs of a dev or test input are not filtered, because scores must not depend on the filters.
    Pairs without words are always dropped.
    """
    filters = settings.filters if source.split == "train" else ()
    language = find_language(settings.language or UNDETERMINED)
    builder = _ChunkBuilder()
    records = FORMATS[source.format].parse_block(source, block)
    for example in valid_records(records, settings.on_error, builder.invalid.append):
        sentences, headline = _tokenize(example, source, settings.max_sentences, language)
        if not sentences or not headline.norms:
            builder.dropped["empty"] += 1
            continue
        full_headline = normalize_tokens(example.full_headline.split()) or headline.norms
        norms = [sentence.norms for sentence in sentences]
        pair = FilterInput(norms, full_headline, settings.limits, language)
        reason = next((name for name in filters if FILTERS[name].should_drop(pair)), None)
        if reason is not None:
            builder.dropped[reason] += 1
        else:
            builder.add_pair(sentences, headline)
    return builder.build(has_headline_case=language.has_headline_case)


@dataclass(frozen=True)
class _Segment:
    """A sentence or headline."""

    tokens: list[str]
    """Tokens as they are spelled in the input."""
    norms: list[str]
    """Normalized tokens."""
    has_case: bool
    """False if the input is in lower case, because it is tokenized as in Gigaword."""


def _new_ids() -> defaultdict[str, int]:
    """Return a mapping that gives each new key the next id, starting at 0."""
    ids: defaultdict[str, int] = defaultdict()
    ids.default_factory = ids.__len__
    return ids


class _ChunkBuilder:
    """Builder of a chunk, record by record."""

    def __init__(self) -> None:
        self._id_of_token = _new_ids()
        self._token_ids: list[int] = []
        self._segment_has_case: list[bool] = []
        self._segment_lengths: list[int] = []
        self._pair_segments: list[int] = []
        self._records: list[int] = []
        self._text_hashes: list[int] = []
        self._pair_hashes: list[int] = []
        self.dropped: Counter[str] = Counter()
        self.invalid: list[InvalidRecord] = []

    @property
    def _num_records(self) -> int:
        return len(self._records) + self.dropped.total() + len(self.invalid)

    def add_pair(self, sentences: list[_Segment], headline: _Segment) -> None:
        """Add a pair that passed the filters."""
        for segment in (*sentences, headline):
            self._token_ids.extend(map(self._id_of_token.__getitem__, segment.tokens))
            self._segment_has_case.append(segment.has_case)
            self._segment_lengths.append(len(segment.tokens))
        self._pair_segments.append(len(sentences) + 1)
        # Models read # instead of digits, so texts that differ only in digits must be in the same
        # split, but they are not duplicates.
        self._text_hashes.append(_hash_lines(sentence.norms for sentence in sentences))
        self._pair_hashes.append(
            _hash_lines(restore_digits(each.tokens, each.norms) for each in (*sentences, headline))
        )
        self._records.append(self._num_records)

    def build(self, *, has_headline_case: bool) -> Chunk:
        """Return the chunk of all added records."""
        tokens = list(self._id_of_token)  # distinct tokens
        token_ids = np.array(self._token_ids, dtype=np.int64)  # (W,)
        lengths = np.array(self._segment_lengths, dtype=np.int32)  # (G,)
        norms = normalize_tokens(tokens)
        id_of_word = _new_ids()
        word_id_of_token = np.array([id_of_word[norm] for norm in norms], dtype=np.int32)
        surfaces, surface_id_of_token = _number_surfaces(tokens, norms)
        has_case = has_informative_case(
            tokens,
            token_ids,
            lengths.astype(np.int64),
            has_headline_case=has_headline_case,
        )  # (W,)
        has_case &= np.repeat(np.array(self._segment_has_case, dtype=bool), lengths)
        return Chunk(
            words=list(id_of_word),
            ids=word_id_of_token[token_ids],
            surfaces=surfaces,
            surface_ids=np.where(has_case, surface_id_of_token[token_ids], np.int32(NO_CASE)),
            segment_lengths=lengths,
            pair_segments=np.array(self._pair_segments, dtype=np.int32),
            records=np.array(self._records, dtype=np.int32),
            text_hashes=np.array(self._text_hashes, dtype=np.uint64),
            pair_hashes=np.array(self._pair_hashes, dtype=np.uint64),
            num_records=self._num_records,
            dropped=dict(self.dropped),
            invalid=self.invalid,
        )


def _number_surfaces(tokens: list[str], norms: list[str]) -> tuple[list[str], NDArray[np.int32]]:
    """Return the spellings with capitals, and the surface id of each token."""
    surfaces: list[str] = []
    ids = np.full(len(tokens), NO_CASE, dtype=np.int32)
    for index, (token, norm) in enumerate(zip(tokens, norms, strict=True)):
        if token == norm:
            ids[index] = LOWER_CASE
        elif token.lower() == norm:  # false if the norm replaces digits or accents
            surfaces.append(token)
            ids[index] = len(surfaces)
    return surfaces, ids


def _tokenize(
    example: Example, source: CorpusInput, max_sentences: int, language: Language
) -> tuple[list[_Segment], _Segment]:
    """Return the first sentences of a text, and its headline."""
    if source.is_text_tokenized:
        lines = map(_split_tokenized, example.text.split("\n"))
        sentences = list(islice(filter(None, lines), max_sentences))
    else:
        sentences = list(
            sentence_tokens(example.text, max_sentences=max_sentences, language=language)
        )
    if source.is_headline_tokenized:
        headline = _split_tokenized(example.headline)
    else:
        headline = headline_tokens(example.headline, language)
    has_case = not source.is_text_tokenized
    return (
        [_Segment(tokens, normalize_tokens(tokens), has_case=has_case) for tokens in sentences],
        _Segment(headline, normalize_tokens(headline), has_case=not source.is_headline_tokenized),
    )


def _split_tokenized(line: str) -> list[str]:
    """Return the tokens of a line of tokenized text, with `UNKNOWN_WORD` for UNK."""
    return [UNKNOWN_WORD if word in _UNKNOWN_TOKENS else word for word in line.split()]


def _hash_lines(lines: Iterable[list[str]]) -> int:
    """Return a 64-bit hash of the words of lines."""
    content = "\n".join(map(" ".join, lines)).encode()
    return int.from_bytes(blake2b(content, digest_size=8).digest(), "little")
