"""Documents: sentences of tokens with character offsets."""

from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

from readagain.text.article import article_spans
from readagain.text.language import ENGLISH, Language
from readagain.text.normalization import (
    decode_entities,
    normalize_tokens,
    normalize_typography,
    original_offsets,
)
from readagain.text.sentences import sentence_spans
from readagain.text.tokenizer import token_at, token_spans, tokenize


class Token(NamedTuple):
    """Word of a text: its norm and its span."""

    norm: str
    start: int
    end: int


@dataclass(frozen=True)
class Document:
    """Text and its tokens by sentence."""

    text: str
    sentences: tuple[tuple[Token, ...], ...]
    is_tokenized: bool = False
    """Whether the text was given as tokens separated by spaces, as in Gigaword."""
    skips_scene: bool = False
    """Whether sentences at the start of an article that only set the scene were left out."""

    @cached_property
    def words(self) -> tuple[Token, ...]:
        """Tokens of all sentences in order."""
        return tuple(word for sentence in self.sentences for word in sentence)

    def surface(self, word: Token) -> str:
        """Return the spelling of a token in the text, HTML entities decoded."""
        piece = self.text[word.start : word.end]
        return piece if self.is_tokenized else decode_entities(piece)


def read_document(
    text: str,
    *,
    max_sentences: int | None = None,
    is_article: bool = False,
    language: Language = ENGLISH,
) -> Document:
    """Split a text into sentences and tokens.

    With `is_article`, bylines, dates, captions, buttons, and sentences at the start that only set
    the scene are left out (`article_spans`).

    >>> read_document("It cost $3.").sentences[0][2:4]
    (Token(norm='$', start=8, end=9), Token(norm='#', start=9, end=10))
    """
    plain = _decode(text, language)
    skips_scene = False
    if is_article:
        sentence_ranges, skips_scene = article_spans(
            plain, max_sentences=max_sentences, language=language
        )
    else:
        sentence_ranges = sentence_spans(plain, max_sentences=max_sentences, language=language)
    sentences = []
    for start, end in sentence_ranges:
        sentence = plain[start:end]
        spans = token_spans(sentence, language)
        norms = normalize_tokens(token_at(sentence, *span, language) for span in spans)
        sentences.append(
            tuple(
                Token(norm, start + first, start + last)
                for norm, (first, last) in zip(norms, spans, strict=True)
            )
        )
    if sentences and len(plain) < len(text):
        offsets = original_offsets(text, sentences[-1][-1].end)
        sentences = [
            tuple(Token(norm, offsets[start], offsets[end]) for norm, start, end in sentence)
            for sentence in sentences
        ]
    return Document(text, tuple(sentences), skips_scene=skips_scene)


def read_tokenized(text: str) -> Document:
    """Read a text tokenized as in Gigaword: tokens with spaces, one sentence per line.

    Lines without a token are skipped, and norms are the tokens themselves.
    """
    sentences = []
    line_start = 0
    for line in text.splitlines(keepends=True):
        words = []
        end = 0
        for token in line.split():
            start = line.index(token, end)
            end = start + len(token)
            words.append(Token(token, line_start + start, line_start + end))
        if words:
            sentences.append(tuple(words))
        line_start += len(line)
    return Document(text, tuple(sentences), is_tokenized=True)


def sentence_tokens(
    text: str, *, max_sentences: int | None = None, language: Language = ENGLISH
) -> list[list[str]]:
    """Return the tokens of each sentence, not normalized.

    >>> sentence_tokens("He left. She paid 5%.")
    [['He', 'left', '.'], ['She', 'paid', '5', '%', '.']]
    """
    plain = _decode(text, language)
    return [
        tokenize(plain[start:end], language)
        for start, end in sentence_spans(plain, max_sentences=max_sentences, language=language)
    ]


def sentence_norms(
    text: str, *, max_sentences: int | None = None, language: Language = ENGLISH
) -> list[list[str]]:
    """Return the norms of each sentence, faster than `read_document`.

    >>> sentence_norms("He left. She paid 5%.")
    [['he', 'left', '.'], ['she', 'paid', '#', '%', '.']]
    """
    sentences = sentence_tokens(text, max_sentences=max_sentences, language=language)
    return [normalize_tokens(tokens) for tokens in sentences]


def headline_tokens(text: str, language: Language = ENGLISH) -> list[str]:
    """Return the tokens of a headline, which is never split into sentences.

    >>> headline_tokens("Who won? Nobody")
    ['Who', 'won', '?', 'Nobody']
    """
    return tokenize(_decode(text, language), language)


def _decode(text: str, language: Language) -> str:
    """Decode entities and normalize typography; only entities change the length."""
    return normalize_typography(decode_entities(text), keep_quotes=not language.has_english_rules)
