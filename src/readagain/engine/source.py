"""Model input: the first sentences of a text, as tokens and as padded ids."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import accumulate, zip_longest

import numpy as np

from readagain.config.schema import RunSpec
from readagain.engine.target_prefix import TargetPrefix
from readagain.search.constraints import ForcedPrefix
from readagain.search.model import SourceBatch
from readagain.text.article import ends_with_punctuation
from readagain.text.document import Document, Token, read_document, read_tokenized
from readagain.text.language import find_language
from readagain.text.vocab import (
    PAD,
    SPECIAL_TOKENS,
    UNK,
    Vocab,
    extended_source_ids,
    extended_summary_ids,
)

MAX_CHECKED_LENGTHS = 4
"""Maximum number of words kept of a sentence, as a multiple of the words that a model reads."""


@dataclass(frozen=True)
class SourceText:
    """A text as the input of a model.

    Args:
        document: text with the sentences that the model reads.
        sequences: for each input sequence of the model, the positions of its words in
            `document.words`.
        is_truncated: whether the text has words that the model does not read.
        num_style_tokens: 1 if a style token follows each sequence, otherwise 0.
    """

    document: Document
    sequences: tuple[range, ...]
    is_truncated: bool
    num_style_tokens: int = 0

    @property
    def is_empty(self) -> bool:
        """Whether there is nothing to summarize."""
        return not self.sequences

    @property
    def max_length(self) -> int:
        """Number of tokens of the longest sequence, including its style token."""
        return max(map(len, self.sequences), default=0) + self.num_style_tokens

    @property
    def read_share(self) -> float:
        """Share of the characters of the text that are read, from 0 to 1."""
        if not self.is_truncated:
            return 1.0
        words = self.document.words
        num_chars = sum(
            words[sequence[-1]].end - words[sequence[0]].start for sequence in self.sequences
        )
        return min(1.0, num_chars / max(1, len(self.document.text)))

    @property
    def read_words(self) -> list[Token]:
        """Tokens of all sequences in order."""
        words = self.document.words
        return [words[position] for sequence in self.sequences for position in sequence]


class SourceReader:
    """Reader of texts and builder of batches, with the settings and vocabularies of a model."""

    def __init__(self, run: RunSpec, source_vocab: Vocab, vocab: Vocab) -> None:
        self._data = run.data
        self.language = find_language(run.data.language)
        self._source_vocab = source_vocab
        self._vocab = vocab
        self.styles = source_vocab.styles
        self._special_tokens = {*SPECIAL_TOKENS, *(f"<{style}>" for style in self.styles)}
        # Maximum number of words of each sequence; a style token takes one position.
        self.max_words = run.data.max_source_words - (1 if self.styles else 0)
        self.num_sequences = 1 if run.data.join_sentences else run.data.num_sentences

    def read(self, text: str, *, tokenized: bool) -> SourceText:
        """Read the first sentences of a text.

        Sentences without a letter or a digit are skipped, and also bylines, dates and other
        boilerplate (`text/article.py`). With `tokenized`, the text is tokenized as in Gigaword.
        """
        num_sentences = self._data.num_sentences
        if tokenized:
            document = read_tokenized(text)
        else:
            document = read_document(
                text, max_sentences=num_sentences + 1, is_article=True, language=self.language
            )
        # Checks of a summary also use words after the part that the model reads. The limit keeps
        # them fast for a long text without the end of a sentence.
        max_words = MAX_CHECKED_LENGTHS * self.max_words
        sentences = [
            sentence[:max_words]
            for sentence in document.sentences
            if any(c.isalnum() for word in sentence for c in document.surface(word))
        ]
        has_unread_sentences = len(sentences) > num_sentences or document.skips_scene_setting
        first_sentences = tuple(_with_full_stops(sentences[:num_sentences], document))
        document = Document(text, first_sentences, is_tokenized=document.is_tokenized)
        sequences = self._sequences(first_sentences)
        has_unread_words = sum(map(len, sequences)) < len(document.words)
        return SourceText(
            document,
            sequences,
            is_truncated=has_unread_sentences or has_unread_words,
            num_style_tokens=1 if self.styles else 0,
        )

    def batch(self, sources: Sequence[SourceText], *, style: str = "") -> SourceBatch:
        """Return the (B, N, L) ids of texts, padded to N sequences of L tokens.

        The token of `style` follows the words of each sequence. Its extended id is UNK, which the
        search never selects, so the style token cannot be copied.
        """
        B, N = len(sources), self.num_sequences
        L = _max_length(sources)
        source_ids = np.full((B, N, L), PAD, dtype=np.int64)
        lengths = np.zeros((B, N), dtype=np.int64)
        ext_ids = np.full((B, N * L), PAD, dtype=np.int64)  # (B, S)
        for b, source in enumerate(sources):
            norms = self._padded_norms(source, L)
            ext_ids[b] = extended_source_ids(norms, self._vocab)
            for n, sequence in enumerate(source.sequences):
                end = n * L + len(sequence)
                ids = self._source_vocab.ids(norms[n * L : end])
                if style:
                    ids.append(self.styles[style])
                    ext_ids[b, end] = UNK
                source_ids[b, n, : len(ids)] = ids
                lengths[b, n] = len(ids)
        return SourceBatch(source_ids=source_ids, lengths=lengths, source_ext_ids=ext_ids)

    def forced_prefix(self, sources: Sequence[SourceText], prefix: TargetPrefix) -> ForcedPrefix:
        """Return the target prefix as extended ids for each source of a batch.

        As in training, a word outside the vocabulary has the id of its position in the source; a
        word that the source does not have either is UNK.
        """
        L = _max_length(sources)
        norms = [self._mask_special(word.norm) for word in prefix.words]
        ids = [
            extended_summary_ids(norms, self._padded_norms(source, L), self._vocab)
            for source in sources
        ]
        return ForcedPrefix(ids)

    def _padded_norms(self, source: SourceText, length: int) -> list[str]:
        """Return the norms of a source as in its batch: N sequences, each padded to `length`."""
        norms = [SPECIAL_TOKENS[PAD]] * (self.num_sequences * length)
        words = source.document.words
        for n, sequence in enumerate(source.sequences):
            norms[n * length : n * length + len(sequence)] = [
                self._mask_special(words[position].norm) for position in sequence
            ]
        return norms

    def _mask_special(self, norm: str) -> str:
        """Return `<unk>` for a word of the text that is spelled like a special token."""
        return SPECIAL_TOKENS[UNK] if norm in self._special_tokens else norm

    def _sequences(self, sentences: Sequence[Sequence[Token]]) -> tuple[range, ...]:
        """Return the positions of the words of each input sequence.

        Each sentence is a sequence, unless the model joins all sentences into one sequence.
        """
        lengths = [len(sentence) for sentence in sentences]
        if self._data.join_sentences and sentences:
            lengths = [sum(lengths)]
        starts = accumulate(lengths[:-1], initial=0)
        return tuple(
            range(start, start + min(length, self.max_words))
            for start, length in zip(starts, lengths, strict=False)
        )


def _max_length(sources: Sequence[SourceText]) -> int:
    """Return the padded length L of a batch."""
    return max((source.max_length for source in sources), default=0)


def _with_full_stops(
    sentences: Sequence[tuple[Token, ...]], document: Document
) -> Iterator[tuple[Token, ...]]:
    """Yield the sentences; add a full stop at each line break that follows no punctuation.

    Without the full stop, the model would take two list items for one sentence. The full stop has
    an empty span, so it is never printed.
    """
    if document.is_tokenized or "\n" not in document.text:
        yield from sentences
        return
    for sentence, next_sentence in zip_longest(sentences, sentences[1:]):
        end = sentence[-1].end
        ends_line = (
            next_sentence is not None and "\n" in document.text[end : next_sentence[0].start]
        )
        if ends_line and not ends_with_punctuation(document.text[sentence[0].start : end]):
            sentence = (*sentence, Token(".", end, end))
        yield sentence
