"""From a block of records to a chunk of words: read, filter, tokenize, number."""

from collections import Counter
from dataclasses import dataclass
from hashlib import blake2b
from pathlib import Path

import numpy as np

from readagain.corpus.chunk import AS_ITS_FORM, NOT_TOLD, UNKNOWN_WORD, Chunk
from readagain.corpus.filters import FILTERS
from readagain.corpus.pair import Bad, Pair
from readagain.corpus.readers.formats import FORMATS
from readagain.corpus.readers.source import Block, Source
from readagain.corpus.settings import PrepareSettings
from readagain.errors import DataError
from readagain.text.cases import tell_case
from readagain.text.document import forms_of, headline_tokens, sentence_tokens
from readagain.text.vocab import RESERVED

UNKNOWN_SPELLINGS = frozenset({"UNK", "unk", "<UNK>", *RESERVED})


def save_chunk(source: Source, block: Block, settings: PrepareSettings, path: Path) -> int:
    """Make the chunk of a block and write it to `path`; return the number of its records."""
    chunk = make_chunk(source, block, settings)
    chunk.save(path)
    return chunk.num_records


def make_chunk(source: Source, block: Block, settings: PrepareSettings) -> Chunk:
    """Read, filter and tokenize one block.

    Pairs of a dev or test file that somebody gave are kept as they are, so that scores on them
    can be compared; only a pair without words is left out, since nothing can be scored on it.

    Raises:
        DataError: at the first record that cannot be used, unless such are skipped.
    """
    names = settings.filters if source.split == "train" else ()
    rules = [(name, rule) for name in names if (rule := FILTERS[name].is_unwanted) is not None]
    made = _Builder()
    for record in FORMATS[source.format].records(source, block):
        if isinstance(record, Bad):
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

    forms: list[str]
    tokens: list[str] | None
    """None where the input was in Gigaword form, which has no capitals."""


class _Interned(dict[str, int]):
    """Number words in the order in which they first appear."""

    def __missing__(self, word: str) -> int:
        number = self[word] = len(self)
        return number


class _Builder:
    """A chunk in the making."""

    def __init__(self) -> None:
        self._numbers = _Interned()
        self._ids: list[int] = []
        self._writings = _Interned()
        self._written: list[int] = []
        self._segment_lengths: list[int] = []
        self._pair_segments: list[int] = []
        self._records: list[int] = []
        self._hashes: list[bytes] = []
        self._num_records = 0
        self._dropped: Counter[str] = Counter()
        self._bad: list[Bad] = []

    def skip(self, bad: Bad, may_skip: bool) -> None:
        """Set a bad record aside where that was asked for."""
        if not may_skip:
            raise DataError(
                f"{bad.where}: {bad.reason}; or leave such records out, counted, with --skip-bad"
            )
        self._bad.append(bad)
        self._num_records += 1

    def drop(self, reason: str) -> None:
        """Count a record that is left out."""
        self._dropped[reason] += 1
        self._num_records += 1

    def keep(self, sentences: list[_Segment], headline: _Segment) -> None:
        """Take the words of a pair."""
        for segment in (*sentences, headline):
            self._ids.extend(map(self._numbers.__getitem__, segment.forms))
            self._written.extend(self._how_written(segment))
            self._segment_lengths.append(len(segment.forms))
        self._pair_segments.append(len(sentences) + 1)
        self._hashes.append(_hashes([sentence.forms for sentence in sentences], headline.forms))
        self._records.append(self._num_records)
        self._num_records += 1

    def _how_written(self, segment: _Segment) -> list[int]:
        """Number how each word is written, where one can tell from this segment."""
        if segment.tokens is None:
            return [NOT_TOLD] * len(segment.forms)
        numbers = []
        for token, form, tells in zip(
            segment.tokens, segment.forms, tell_case(segment.tokens), strict=True
        ):
            if not tells:
                numbers.append(NOT_TOLD)
            elif token == form:
                numbers.append(AS_ITS_FORM)
            elif token.lower() == form:
                numbers.append(1 + self._writings[token])
            else:  # it differs in more than its letters' case: digits, accents in two parts
                numbers.append(NOT_TOLD)
        return numbers

    def chunk(self) -> Chunk:
        """Return what was gathered."""
        hashes = np.frombuffer(b"".join(self._hashes), dtype="<u8").reshape(-1, 2)
        return Chunk(
            words=list(self._numbers),
            ids=np.array(self._ids, dtype=np.int32),
            writings=list(self._writings),
            written=np.array(self._written, dtype=np.int32),
            segment_lengths=np.array(self._segment_lengths, dtype=np.int32),
            pair_segments=np.array(self._pair_segments, dtype=np.int32),
            records=np.array(self._records, dtype=np.int32),
            text_hashes=hashes[:, 0].astype(np.uint64),
            pair_hashes=hashes[:, 1].astype(np.uint64),
            num_records=self._num_records,
            dropped=dict(self._dropped),
            bad=self._bad,
        )


def _segments(pair: Pair, source: Source, max_sentences: int) -> list[_Segment]:
    """Return the sentences of a text, then its headline."""
    if source.is_text_tokenized:
        text = _tokenized_words(pair.text)
        sentences = [_Segment(text, None)] if text else []
    else:
        sentences = [
            _Segment(forms_of(tokens), tokens)
            for tokens in sentence_tokens(pair.text, max_sentences=max_sentences)
        ]
    if source.is_headline_tokenized:
        return [*sentences, _Segment(_tokenized_words(pair.headline), None)]
    title = headline_tokens(pair.headline)
    return [*sentences, _Segment(forms_of(title), title)]


def _tokenized_words(line: str) -> list[str]:
    """Cut a line in Gigaword form; masking digits again changes only files that kept theirs."""
    words = line.split()
    return [
        UNKNOWN_WORD if word in UNKNOWN_SPELLINGS else form
        for word, form in zip(words, forms_of(words), strict=True)
    ]


def _hashes(sentences: list[list[str]], headline: list[str]) -> bytes:
    """Return 8 bytes for the text and 8 for the pair, of their words as models see them."""
    text = blake2b("\n".join(map(" ".join, sentences)).encode(), digest_size=8)
    pair = text.copy()
    pair.update(b"\n\n" + " ".join(headline).encode())
    return text.digest() + pair.digest()
