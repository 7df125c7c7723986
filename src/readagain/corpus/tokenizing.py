"""Chunks from blocks of records: parse, filter, tokenize and number the words."""

from collections import Counter
from dataclasses import dataclass
from hashlib import blake2b
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from readagain.corpus.chunk import LOWER_CASE, NO_CASE, UNKNOWN_WORD, Chunk
from readagain.corpus.filters import FILTERS
from readagain.corpus.inputs import CorpusInput, Example
from readagain.corpus.readers.formats import FORMATS
from readagain.corpus.settings import PrepareSettings
from readagain.errors import DataError
from readagain.formats.records import Block, InvalidRecord
from readagain.text.document import headline_tokens, sentence_tokens
from readagain.text.normalization import normalize_tokens
from readagain.text.truecasing import has_informative_case
from readagain.text.vocab import SPECIAL_TOKENS, UNK

UNKNOWN_SPELLINGS = ("UNK", "unk", "<UNK>", SPECIAL_TOKENS[UNK])
"""Spellings of unknown words in public copies of Gigaword."""
_NO_WORDS = frozenset({*UNKNOWN_SPELLINGS, *SPECIAL_TOKENS})


def save_chunk(source: CorpusInput, block: Block, settings: PrepareSettings, path: Path) -> int:
    """Create the chunk of a block, write it to `path` and return its number of records."""
    chunk = make_chunk(source, block, settings)
    chunk.save(path)
    return chunk.num_records


def make_chunk(source: CorpusInput, block: Block, settings: PrepareSettings) -> Chunk:
    """Parse, filter and tokenize one block.

    Pairs of a given dev or test file are not filtered, so that scores on them can be compared; only
    a pair without words is dropped.

    Raises:
        DataError: at the first invalid record, unless such records are skipped.
    """
    names = settings.filters if source.split == "train" else ()
    rules = [(name, rule) for name in names if (rule := FILTERS[name].is_unwanted) is not None]
    made = _Builder()
    for record in FORMATS[source.format].parse_block(source, block):
        if isinstance(record, InvalidRecord):
            made.skip(record, settings.skip_bad)
            continue
        *texts, title = _segments(record, source, settings.max_sentences)
        sentences, headline = [segment.forms for segment in texts], title.forms
        if not sentences or not headline:
            made.drop("empty")
            continue
        for name, is_unwanted in rules:
            if is_unwanted(sentences, headline, settings.limits):
                made.drop(name)
                break
        else:
            made.keep(texts, title)
    return made.chunk()


@dataclass(frozen=True)
class _Segment:
    """The words of a sentence or a headline: as models see them, and as they are written."""

    tokens: list[str]
    forms: list[str]
    has_case: bool
    """False for text in Gigaword form."""

    @classmethod
    def of(cls, tokens: list[str], *, has_case: bool) -> "_Segment":
        """Return a segment with the normalized words."""
        return cls(tokens, normalize_tokens(tokens), has_case)


class _WordNumbers(dict[str, int]):
    """Numbers of words, in order of their first appearance."""

    def __missing__(self, word: str) -> int:
        number = self[word] = len(self)
        return number


class _Builder:
    """Builder of a chunk."""

    def __init__(self) -> None:
        self._tokens = _WordNumbers()
        self._numbers: list[int] = []  # of all words, as they are written
        self._has_case: list[bool] = []
        self._segment_lengths: list[int] = []
        self._pair_segments: list[int] = []
        self._records: list[int] = []
        self._hashes: list[bytes] = []
        self._num_records = 0
        self._dropped: Counter[str] = Counter()
        self._bad: list[InvalidRecord] = []

    def skip(self, bad: InvalidRecord, may_skip: bool) -> None:
        """Record an invalid record, or raise an error if it may not be skipped."""
        if not may_skip:
            raise DataError(f"{bad.where}: {bad.reason}; or skip and count such records (skip_bad)")
        self._bad.append(bad)
        self._num_records += 1

    def drop(self, reason: str) -> None:
        """Count a dropped record."""
        self._dropped[reason] += 1
        self._num_records += 1

    def keep(self, sentences: list[_Segment], headline: _Segment) -> None:
        """Add the words of a pair."""
        for segment in (*sentences, headline):
            self._numbers.extend(map(self._tokens.__getitem__, segment.tokens))
            self._has_case.append(segment.has_case)
            self._segment_lengths.append(len(segment.tokens))
        self._pair_segments.append(len(sentences) + 1)
        self._hashes.append(_hashes([sentence.forms for sentence in sentences], headline.forms))
        self._records.append(self._num_records)
        self._num_records += 1

    def chunk(self) -> Chunk:
        """Return the finished chunk."""
        words = _WordNumbers()
        tokens, numbers = list(self._tokens), np.array(self._numbers, dtype=np.int64)
        forms = normalize_tokens(tokens)
        ids = np.array([words[form] for form in forms], dtype=np.int32)
        lengths = np.array(self._segment_lengths, dtype=np.int32)
        tells = has_informative_case(tokens, numbers, lengths.astype(np.int64))
        tells &= np.repeat(np.array(self._has_case, dtype=bool), lengths)
        writings, ways = _ways_of_writing(tokens, forms)
        hashes = np.frombuffer(b"".join(self._hashes), dtype="<u8").reshape(-1, 2)
        return Chunk(
            words=list(words),
            ids=ids[numbers],
            writings=writings,
            written=np.where(tells, ways[numbers], np.int32(NO_CASE)),
            segment_lengths=lengths,
            pair_segments=np.array(self._pair_segments, dtype=np.int32),
            records=np.array(self._records, dtype=np.int32),
            text_hashes=hashes[:, 0].astype(np.uint64),
            pair_hashes=hashes[:, 1].astype(np.uint64),
            num_records=self._num_records,
            dropped=dict(self._dropped),
            bad=self._bad,
        )


def _ways_of_writing(tokens: list[str], forms: list[str]) -> tuple[list[str], NDArray[np.int32]]:
    """Number the ways of writing with capitals, and say which each token is."""
    writings: list[str] = []
    ways = np.full(len(tokens), NO_CASE, dtype=np.int32)
    for number, (token, form) in enumerate(zip(tokens, forms, strict=True)):
        if token == form:
            ways[number] = LOWER_CASE
        elif token.lower() == form:  # else it has digits, or accents in two parts
            writings.append(token)
            ways[number] = len(writings)
    return writings, ways


def _segments(pair: Example, source: CorpusInput, max_sentences: int) -> list[_Segment]:
    """Return the sentences of a text, then its headline."""
    if source.is_text_tokenized:
        text = _tokenized_words(pair.text)
        sentences = [_Segment.of(text, has_case=False)] if text else []
    else:
        sentences = [
            _Segment.of(tokens, has_case=True)
            for tokens in sentence_tokens(pair.text, max_sentences=max_sentences)
        ]
    if source.is_headline_tokenized:
        return [*sentences, _Segment.of(_tokenized_words(pair.headline), has_case=False)]
    return [*sentences, _Segment.of(headline_tokens(pair.headline), has_case=True)]


def _tokenized_words(line: str) -> list[str]:
    """Cut a line in Gigaword form; its digits, if it kept them, are masked by their forms."""
    return [UNKNOWN_WORD if word in _NO_WORDS else word for word in line.split()]


def _hashes(sentences: list[list[str]], headline: list[str]) -> bytes:
    """Return 8 bytes for the text and 8 for the pair, of their words as models see them."""
    text = blake2b("\n".join(map(" ".join, sentences)).encode(), digest_size=8)
    pair = text.copy()
    pair.update(b"\n\n" + " ".join(headline).encode())
    return text.digest() + pair.digest()
