"""Chunks: files with parsed, filtered and tokenized blocks of records.

An interrupted preparation keeps its chunks, so that it can resume.
"""

import io
import json
from collections import Counter, defaultdict
from dataclasses import dataclass
from hashlib import blake2b, sha256
from itertools import islice
from pathlib import Path

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
from readagain.text.normalization import normalize_tokens
from readagain.text.truecasing import has_informative_case
from readagain.text.vocab import SPECIAL_TOKENS, UNK

CHUNK_FORMAT = 5
"""Version of the file format; chunks of another version are created again."""
UNKNOWN_WORD = ""
"""Word of a chunk for an unknown word of the input (UNK in Gigaword files)."""
UNKNOWN_SPELLINGS = ("UNK", "unk", "<UNK>", SPECIAL_TOKENS[UNK])
"""Spellings of unknown words in public copies of Gigaword."""
NO_CASE = -1
"""Surface id where the case is not informative, as at the start of a sentence."""
LOWER_CASE = 0
"""Surface id of a token that equals its norm."""

_UNKNOWN_TOKENS = frozenset({*UNKNOWN_SPELLINGS, *SPECIAL_TOKENS})
_CHECKSUM_BYTES = 32
_ARRAYS = (
    "ids", "surface_ids", "segment_lengths", "pair_segments", "records", "text_hashes",
    "pair_hashes",
)  # fmt: skip


@dataclass(frozen=True, kw_only=True)
class Chunk:
    """Pairs of one block that passed the filters.

    Letters in shapes: W words, G segments (sentences and headlines), P pairs.
    """

    words: list[str]
    """The distinct normalized words of this chunk; a word's id is its index."""
    ids: NDArray[np.int32]
    """(W,) word ids of all pairs: the sentences in order, then the headline."""
    surfaces: list[str]
    """The distinct spellings with capitals; the id of a spelling is its index plus 1."""
    surface_ids: NDArray[np.int32]
    """(W,) surface id of each word, or `NO_CASE` or `LOWER_CASE`."""
    segment_lengths: NDArray[np.int32]
    """(G,) number of words in each sentence and headline."""
    pair_segments: NDArray[np.int32]
    """(P,) number of sentences of each pair, plus 1 for the headline."""
    records: NDArray[np.int32]
    """(P,) index of each pair's record in the block."""
    text_hashes: NDArray[np.uint64]
    """(P,) hash of each text; see `_hash_pair`."""
    pair_hashes: NDArray[np.uint64]
    """(P,) hash of each pair of text and headline."""
    num_records: int
    """Number of records of the block, including dropped and invalid ones."""
    dropped: dict[str, int]
    """Number of dropped records by reason."""
    invalid: list[InvalidRecord]
    """Skipped invalid records."""

    def headline_mask(self) -> NDArray[np.bool_]:
        """Return (W,) True at words of headlines."""
        return np.repeat(are_headlines(self.pair_segments), self.segment_lengths)

    def save(self, path: Path) -> None:
        """Write the chunk atomically, with a checksum of its content and path."""
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
        content = path.read_bytes() if path.exists() else b""
        checksum, content = content[:_CHECKSUM_BYTES], content[_CHECKSUM_BYTES:]
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


def are_headlines(pair_segments: NDArray[np.int32]) -> NDArray[np.bool_]:
    """Return (G,) True at headlines; the headline is the last segment of each pair."""
    is_headline = np.zeros(int(pair_segments.sum()), dtype=bool)
    is_headline[np.cumsum(pair_segments) - 1] = True
    return is_headline


def num_saved_records(path: Path) -> int | None:
    """Return the number of records of a saved chunk; None if it is missing or damaged."""
    try:
        return Chunk.load(path).num_records
    except ArtifactError:
        return None


def _checksum(path: Path, arrays: bytes | memoryview) -> bytes:
    """Return a checksum of content and path, so that a renamed chunk is detected."""
    return sha256(f"{path.parent.name}/{path.name}\n".encode() + arrays).digest()


def _to_array(text: str) -> NDArray[np.uint8]:
    return np.frombuffer(text.encode(), dtype=np.uint8)


def save_chunk(source: CorpusInput, block: Block, settings: PrepareSettings, path: Path) -> int:
    """Create the chunk of a block, write it to `path` and return its number of records."""
    chunk = make_chunk(source, block, settings)
    chunk.save(path)
    return chunk.num_records


def make_chunk(source: CorpusInput, block: Block, settings: PrepareSettings) -> Chunk:
    """Parse, filter and tokenize one block.

    Pairs of a dev or test input are not filtered, so that scores do not depend on the filters; only
    pairs without words are dropped.

    Raises:
        InvalidRecordError: at the first invalid record, unless such records are skipped.
    """
    names = settings.filters if source.split == "train" else ()
    # The filter 'duplicate' compares all pairs; `assign_splits` applies it later.
    filters = [(name, test) for name in names if (test := FILTERS[name].is_unwanted) is not None]
    language = find_language(settings.language or UNDETERMINED)
    builder = _ChunkBuilder(has_headline_case=language.has_headline_case)
    records = FORMATS[source.format].parse_block(source, block)
    for record in valid_records(records, settings.on_error, builder.skip):
        *sentences, headline = _tokenize(record, source, settings.max_sentences, language)
        norms = [sentence.norms for sentence in sentences]
        if not norms or not headline.norms:
            builder.drop("empty")
            continue
        full_headline = normalize_tokens(record.full_headline.split()) or headline.norms
        pair = FilterInput(norms, full_headline, settings.limits, language)
        for name, is_unwanted in filters:
            if is_unwanted(pair):
                builder.drop(name)
                break
        else:
            builder.keep(sentences, headline)
    return builder.build()


@dataclass(frozen=True)
class _Segment:
    """Tokens of a sentence or headline, as in the input and normalized."""

    tokens: list[str]
    norms: list[str]
    has_case: bool


def _new_ids() -> defaultdict[str, int]:
    """Return a mapping that numbers words in order of their first lookup."""
    ids: defaultdict[str, int] = defaultdict()
    ids.default_factory = ids.__len__
    return ids


class _ChunkBuilder:
    """Builder of a chunk, record by record."""

    def __init__(self, *, has_headline_case: bool) -> None:
        self._has_headline_case = has_headline_case
        self._token_ids = _new_ids()
        self._tokens: list[int] = []
        self._has_case: list[bool] = []
        self._segment_lengths: list[int] = []
        self._pair_segments: list[int] = []
        self._records: list[int] = []
        self._hashes: list[bytes] = []
        self._num_records = 0
        self._dropped: Counter[str] = Counter()
        self._invalid: list[InvalidRecord] = []

    def skip(self, record: InvalidRecord) -> None:
        """Add an invalid record."""
        self._invalid.append(record)
        self._num_records += 1

    def drop(self, reason: str) -> None:
        """Count a dropped record."""
        self._dropped[reason] += 1
        self._num_records += 1

    def keep(self, sentences: list[_Segment], headline: _Segment) -> None:
        """Add the tokens of a pair."""
        for segment in (*sentences, headline):
            self._tokens.extend(map(self._token_ids.__getitem__, segment.tokens))
            self._has_case.append(segment.has_case)
            self._segment_lengths.append(len(segment.tokens))
        self._pair_segments.append(len(sentences) + 1)
        self._hashes.append(_hash_pair(sentences, headline))
        self._records.append(self._num_records)
        self._num_records += 1

    def build(self) -> Chunk:
        """Return the chunk."""
        word_ids = _new_ids()
        distinct, tokens = list(self._token_ids), np.array(self._tokens, dtype=np.int64)
        norms = normalize_tokens(distinct)
        norm_ids = np.array([word_ids[norm] for norm in norms], dtype=np.int32)
        lengths = np.array(self._segment_lengths, dtype=np.int32)
        has_case = has_informative_case(
            distinct,
            tokens,
            lengths.astype(np.int64),
            has_headline_case=self._has_headline_case,
        )
        has_case &= np.repeat(np.array(self._has_case, dtype=bool), lengths)
        surfaces, surface_ids = _number_surfaces(distinct, norms)
        hashes = np.frombuffer(b"".join(self._hashes), dtype="<u8").reshape(-1, 2)
        return Chunk(
            words=list(word_ids),
            ids=norm_ids[tokens],
            surfaces=surfaces,
            surface_ids=np.where(has_case, surface_ids[tokens], np.int32(NO_CASE)),
            segment_lengths=lengths,
            pair_segments=np.array(self._pair_segments, dtype=np.int32),
            records=np.array(self._records, dtype=np.int32),
            text_hashes=hashes[:, 0].astype(np.uint64),
            pair_hashes=hashes[:, 1].astype(np.uint64),
            num_records=self._num_records,
            dropped=dict(self._dropped),
            invalid=self._invalid,
        )


def _number_surfaces(tokens: list[str], norms: list[str]) -> tuple[list[str], NDArray[np.int32]]:
    """Return the spellings with capitals, and the surface id of each token."""
    surfaces: list[str] = []
    ids = np.full(len(tokens), NO_CASE, dtype=np.int32)
    for index, (token, norm) in enumerate(zip(tokens, norms, strict=True)):
        if token == norm:
            ids[index] = LOWER_CASE
        elif token.lower() == norm:  # false with digits or combining accents
            surfaces.append(token)
            ids[index] = len(surfaces)
    return surfaces, ids


def _tokenize(
    pair: Example, source: CorpusInput, max_sentences: int, language: Language
) -> list[_Segment]:
    """Return the sentences of a text, then its headline."""
    if source.is_text_tokenized:
        lines = map(_split_tokenized, pair.text.split("\n"))
        sentences = list(islice(filter(None, lines), max_sentences))
    else:
        sentences = list(sentence_tokens(pair.text, max_sentences=max_sentences, language=language))
    if source.is_headline_tokenized:
        headline = _split_tokenized(pair.headline)
    else:
        headline = headline_tokens(pair.headline, language)
    # Text tokenized as in Gigaword is in lower case.
    have_case = [not source.is_text_tokenized] * len(sentences) + [not source.is_headline_tokenized]
    return [
        _Segment(tokens, normalize_tokens(tokens), has_case=has_case)
        for tokens, has_case in zip([*sentences, headline], have_case, strict=True)
    ]


def _split_tokenized(line: str) -> list[str]:
    """Return the tokens of a line of tokenized text, with `UNKNOWN_WORD` for unknown words."""
    return [UNKNOWN_WORD if word in _UNKNOWN_TOKENS else word for word in line.split()]


def _hash_pair(sentences: list[_Segment], headline: _Segment) -> bytes:
    """Return a hash of the text without digits and a hash of the pair with digits, 8 bytes each.

    Models read # instead of digits, so texts that differ only in digits must be in the same split.
    They are not duplicates, though.
    """
    text = [sentence.norms for sentence in sentences]
    pair = [_with_digits(segment) for segment in (*sentences, headline)]
    lines = ("\n".join(map(" ".join, words)).encode() for words in (text, pair))
    return b"".join(blake2b(content, digest_size=8).digest() for content in lines)


def _with_digits(segment: _Segment) -> list[str]:
    """Return the norms of a segment with its digits instead of #."""
    return [
        token.lower() if "#" in norm else norm
        for token, norm in zip(segment.tokens, segment.norms, strict=True)
    ]
