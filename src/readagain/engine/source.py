"""What a model sees of a text: its first sentences, as words and as ids."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from readagain.config.schema import RunSpec
from readagain.engine.beginning import TargetPrefix
from readagain.search.constraints import ForcedPrefix
from readagain.search.model import SourceBatch
from readagain.text.document import Document, Token, read_document, read_tokenized
from readagain.text.vocab import (
    PAD,
    SPECIAL_TOKENS,
    UNK,
    Vocab,
    extended_source_ids,
    extended_summary_ids,
)


@dataclass(frozen=True)
class SourceText:
    """A text as a model reads it.

    Args:
        document: the sentences that are read.
        sequences: for each sequence the model reads, the places in `document.words` of its words.
        is_truncated: whether the text has more words than are read.
    """

    document: Document
    sequences: tuple[range, ...]
    is_truncated: bool

    @property
    def is_empty(self) -> bool:
        """Say whether there is nothing to summarize."""
        return not self.sequences

    @property
    def longest(self) -> int:
        """Count the words of the longest sequence."""
        return max(map(len, self.sequences), default=0)

    @property
    def read_words(self) -> list[Token]:
        """The words that are read, in order."""
        words = self.document.words
        return [words[place] for sequence in self.sequences for place in sequence]


class SourceReader:
    """Reads texts as the run of a model says, and puts them into batches.

    Args:
        run: how many sentences, joined or apart, how many words.
        source_vocab: the words that the encoder knows.
        vocab: the words that the decoder knows.
    """

    def __init__(self, run: RunSpec, source_vocab: Vocab, vocab: Vocab) -> None:
        self._data = run.data
        self._source_vocab = source_vocab
        self._vocab = vocab
        self.num_sequences = 1 if run.data.join_sentences else run.data.num_sentences

    def read(self, text: str, *, tokenized: bool) -> SourceText:
        """Take the first sentences of a text; those without a letter or digit are passed over."""
        wanted = self._data.num_sentences
        document = (
            read_tokenized(text) if tokenized else read_document(text, max_sentences=wanted + 1)
        )
        sentences = _with_language(document)
        if not tokenized and len(sentences) < len(document.sentences) == wanted + 1:
            document = read_document(text)
            sentences = _with_language(document)
        has_more = len(sentences) > wanted
        read = tuple(sentences[:wanted])
        document = Document(text, read, is_tokenized=document.is_tokenized)
        sequences = self._sequences(read)
        is_cut = sum(map(len, sequences)) < len(document.words)
        return SourceText(document, sequences, is_truncated=has_more or is_cut)

    def batch(self, sources: Sequence[SourceText]) -> SourceBatch:
        """Pad texts to the same size: (B, N, L) ids."""
        B, N = len(sources), self.num_sequences
        L = _longest(sources)
        source_ids = np.full((B, N, L), PAD, dtype=np.int64)
        lengths = np.zeros((B, N), dtype=np.int64)
        ext_ids = np.full((B, N * L), PAD, dtype=np.int64)
        for b, source in enumerate(sources):
            flat = self._flat_forms(source, L)
            for n, sequence in enumerate(source.sequences):
                forms = flat[n * L : n * L + len(sequence)]
                source_ids[b, n, : len(forms)] = self._source_vocab.ids(forms)
                lengths[b, n] = len(forms)
            ext_ids[b] = extended_source_ids(flat, self._vocab)
        return SourceBatch(source_ids=source_ids, lengths=lengths, source_ext_ids=ext_ids)

    def prefix(self, sources: Sequence[SourceText], beginning: TargetPrefix) -> ForcedPrefix:
        """Let summaries of a batch begin with some words, each fed to the model as it knows it.

        That is by the vocabulary or else by where it stands in the source, as in training; a word
        that stands in neither is fed as the unknown word. All are printed as they were given, so
        none counts as copied.
        """
        L = _longest(sources)
        forms = [_speakable(word.norm) for word in beginning.words]
        ids = [
            extended_summary_ids(forms, self._flat_forms(source, L), self._vocab)
            for source in sources
        ]
        return ForcedPrefix(ids, [[-1] * len(forms)] * len(sources))

    def _flat_forms(self, source: SourceText, length: int) -> list[str]:
        """Lay the forms of a source out as its batch does: N sequences of so many places."""
        flat = [SPECIAL_TOKENS[PAD]] * (self.num_sequences * length)
        words = source.document.words
        for n, sequence in enumerate(source.sequences):
            flat[n * length : n * length + len(sequence)] = [
                _speakable(words[place].norm) for place in sequence
            ]
        return flat

    def _sequences(self, sentences: Sequence[Sequence[Token]]) -> tuple[range, ...]:
        """Cut sentences, or all of them joined, to the words that are read."""
        ends = np.cumsum([len(sentence) for sentence in sentences]).tolist()
        starts = [0, *ends[:-1]]
        if self._data.join_sentences and ends:
            starts, ends = [0], ends[-1:]
        most = self._data.max_source_words
        return tuple(
            range(start, min(end, start + most))
            for start, end in zip(starts, ends, strict=False)
            if end > start
        )


def _longest(sources: Sequence[SourceText]) -> int:
    """Count the words that every sequence of a batch is padded to, L."""
    return max((source.longest for source in sources), default=0)


def _with_language(document: Document) -> list[tuple[Token, ...]]:
    """Keep the sentences that hold a letter or a digit."""
    return [
        sentence
        for sentence in document.sentences
        if any(c.isalnum() for word in sentence for c in document.surface(word))
    ]


def _speakable(form: str) -> str:
    """Read a reserved word that a text spells out as an unknown one, which is never copied."""
    return SPECIAL_TOKENS[UNK] if form in SPECIAL_TOKENS else form
