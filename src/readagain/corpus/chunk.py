"""One block of records as words: what a worker makes, and a preparation keeps between runs."""

import json
import zipfile
from collections import Counter
from dataclasses import dataclass
from hashlib import blake2b
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from readagain.corpus.filters import FILTERS
from readagain.corpus.pair import Bad, Pair
from readagain.corpus.readers.formats import FORMATS
from readagain.corpus.readers.source import Block, Source
from readagain.corpus.settings import PrepareSettings
from readagain.errors import DataError
from readagain.text.document import headline_words, sentence_words
from readagain.text.normalize import NormalForms
from readagain.text.vocab import RESERVED

UNKNOWN_WORD = ""
"""Stands in a chunk for a word that the input itself does not know (UNK in Gigaword files)."""
UNKNOWN_SPELLINGS = frozenset({"UNK", "unk", "<UNK>", *RESERVED})

_FORMS = NormalForms()


class _Interned(dict[str, int]):
    """Number words in the order in which they first appear."""

    def __missing__(self, word: str) -> int:
        number = self[word] = len(self)
        return number


@dataclass(frozen=True, kw_only=True)
class Chunk:
    """The pairs of a block that passed their filters, with numbers for words."""

    words: list[str]
    """The distinct words; a word's number is its place here."""
    ids: NDArray[np.int32]
    """All words of all pairs: sentences in order, then the headline."""
    segment_lengths: NDArray[np.int32]
    """Words in each sentence and each headline."""
    pair_segments: NDArray[np.int32]
    """Segments of each pair: its sentences and its headline."""
    records: NDArray[np.int32]
    """Which record of the block each pair was."""
    text_hashes: NDArray[np.uint64]
    pair_hashes: NDArray[np.uint64]
    num_records: int
    dropped: dict[str, int]
    bad: list[Bad]

    def save(self, path: Path) -> None:
        """Write beside the final name, then rename: a chunk is there whole or not at all."""
        facts = {
            "num_records": self.num_records,
            "dropped": self.dropped,
            "bad": [[bad.where, bad.reason] for bad in self.bad],
        }
        aside = path.with_suffix(".part")
        try:
            with aside.open("wb") as file:
                np.savez(
                    file,
                    words=_as_bytes("\n".join(self.words)),
                    ids=self.ids,
                    segment_lengths=self.segment_lengths,
                    pair_segments=self.pair_segments,
                    records=self.records,
                    text_hashes=self.text_hashes,
                    pair_hashes=self.pair_hashes,
                    facts=_as_bytes(json.dumps(facts)),
                )
            aside.replace(path)
        except OSError:
            aside.unlink(missing_ok=True)
            raise

    @classmethod
    def load(cls, path: Path) -> "Chunk":
        """Read a chunk back."""
        with path.open("rb") as file, np.load(file) as arrays:
            facts = json.loads(arrays["facts"].tobytes())
            return cls(
                words=arrays["words"].tobytes().decode().split("\n"),
                ids=arrays["ids"],
                segment_lengths=arrays["segment_lengths"],
                pair_segments=arrays["pair_segments"],
                records=arrays["records"],
                text_hashes=arrays["text_hashes"],
                pair_hashes=arrays["pair_hashes"],
                num_records=facts["num_records"],
                dropped=facts["dropped"],
                bad=[Bad(*entry) for entry in facts["bad"]],
            )


def _as_bytes(text: str) -> NDArray[np.uint8]:
    return np.frombuffer(text.encode(), dtype=np.uint8)


def records_in(path: Path) -> int | None:
    """Return how many records a finished chunk stands for; None when it must be made (again)."""
    try:
        with path.open("rb") as file, np.load(file) as arrays:
            facts = json.loads(arrays["facts"].tobytes())
    except (OSError, ValueError, KeyError, EOFError, zipfile.BadZipFile):
        return None
    num_records: int = facts["num_records"]
    return num_records


def make_chunk(source: Source, block: Block, settings: PrepareSettings) -> Chunk:
    """Read, filter and tokenize one block.

    Pairs of a dev or test file that somebody gave are kept as they are, so that scores on them
    can be compared; only a pair without words is left out, since nothing can be scored on it.

    Raises:
        DataError: at the first record that cannot be used, unless such are skipped.
    """
    filters = [name for name in settings.filters if source.split == "train"]
    rules = [(name, rule) for name in filters if (rule := FILTERS[name].is_unwanted) is not None]
    interned = _Interned()
    ids: list[int] = []
    segment_lengths: list[int] = []
    pair_segments: list[int] = []
    records: list[int] = []
    hashes: list[bytes] = []
    dropped: Counter[str] = Counter()
    bad: list[Bad] = []
    number = -1
    for number, record in enumerate(FORMATS[source.format].records(source, block)):
        if isinstance(record, Bad):
            if not settings.skip_bad:
                raise DataError(
                    f"{record.where}: {record.reason}; "
                    "or leave such records out, counted, with --skip-bad"
                )
            bad.append(record)
            continue
        sentences, headline = _words(record, source, settings.max_sentences)
        if not sentences or not headline:
            dropped["empty"] += 1
            continue
        reason = next((n for n, test in rules if test(sentences, headline, settings.limits)), None)
        if reason is not None:
            dropped[reason] += 1
            continue
        for segment in (*sentences, headline):
            ids.extend(map(interned.__getitem__, segment))
            segment_lengths.append(len(segment))
        pair_segments.append(len(sentences) + 1)
        records.append(number)
        hashes.append(_hashes(sentences, headline))
    both = np.frombuffer(b"".join(hashes), dtype="<u8").reshape(-1, 2)
    return Chunk(
        words=list(interned),
        ids=np.array(ids, dtype=np.int32),
        segment_lengths=np.array(segment_lengths, dtype=np.int32),
        pair_segments=np.array(pair_segments, dtype=np.int32),
        records=np.array(records, dtype=np.int32),
        text_hashes=both[:, 0].astype(np.uint64),
        pair_hashes=both[:, 1].astype(np.uint64),
        num_records=number + 1,
        dropped=dict(dropped),
        bad=bad,
    )


def _words(pair: Pair, source: Source, max_sentences: int) -> tuple[list[list[str]], list[str]]:
    if source.is_text_tokenized:
        text = _tokenized_words(pair.text)
        sentences = [text] if text else []
    else:
        sentences = sentence_words(pair.text, max_sentences=max_sentences)
    if source.is_headline_tokenized:
        return sentences, _tokenized_words(pair.headline)
    return sentences, headline_words(pair.headline)


def _tokenized_words(line: str) -> list[str]:
    """Cut a line in Gigaword form; masking digits again changes only files that kept theirs."""
    return [UNKNOWN_WORD if word in UNKNOWN_SPELLINGS else _FORMS[word] for word in line.split()]


def _hashes(sentences: list[list[str]], headline: list[str]) -> bytes:
    """Return 8 bytes for the text and 8 for the pair, of their words as models see them."""
    text = blake2b("\n".join(map(" ".join, sentences)).encode(), digest_size=8)
    pair = text.copy()
    pair.update(b"\n\n" + " ".join(headline).encode())
    return text.digest() + pair.digest()


def save_chunk(source: Source, block: Block, settings: PrepareSettings, path: Path) -> int:
    """Make the chunk of a block and write it to `path`; return the number of its records."""
    chunk = make_chunk(source, block, settings)
    chunk.save(path)
    return chunk.num_records
