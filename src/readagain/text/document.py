"""Documents: sentences of tokens with character offsets."""

from dataclasses import dataclass, field
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
    """Token of a text.

    Args:
        norm: normalized token, as models see it.
        start: offset of its first character in the original text.
        end: offset after its last character.
    """

    norm: str
    start: int
    end: int


@dataclass(frozen=True)
class Document:
    """A text and its tokens, grouped by sentence."""

    text: str
    sentences: tuple[tuple[Token, ...], ...]
    is_tokenized: bool = False
    """Whether the text was given as tokens separated by spaces, as in Gigaword."""
    skips_scene_setting: bool = False
    """Whether scene-setting sentences at the start of an article were left out."""
    words: tuple[Token, ...] = field(init=False, repr=False, compare=False)
    """Tokens of all sentences in order."""

    def __post_init__(self) -> None:
        words = tuple(word for sentence in self.sentences for word in sentence)
        object.__setattr__(self, "words", words)

    def surface(self, word: Token) -> str:
        """Return the spelling of a token in the text, HTML entities decoded."""
        surface = self.text[word.start : word.end]
        return surface if self.is_tokenized else decode_entities(surface)


def read_document(
    text: str,
    *,
    max_sentences: int | None = None,
    is_article: bool = False,
    language: Language = ENGLISH,
) -> Document:
    """Split a text into sentences and tokens.

    With `is_article`, leave out bylines, dates, captions, buttons, and scene-setting sentences at
    the start such as "It was a cold morning." (`article_spans`).

    >>> read_document("It cost $3.").sentences[0][2:4]
    (Token(norm='$', start=8, end=9), Token(norm='#', start=9, end=10))
    """
    plain = _to_plain_text(text, language)
    skips_scene_setting = False
    if is_article:
        spans, skips_scene_setting = article_spans(
            plain, max_sentences=max_sentences, language=language
        )
    else:
        spans = sentence_spans(plain, max_sentences=max_sentences, language=language)
    sentences = [_read_sentence(plain[start:end], start, language) for start, end in spans]
    if sentences and len(plain) < len(text):  # entities were decoded
        offsets = original_offsets(text, sentences[-1][-1].end)
        sentences = [
            tuple(Token(norm, offsets[start], offsets[end]) for norm, start, end in sentence)
            for sentence in sentences
        ]
    return Document(text, tuple(sentences), skips_scene_setting=skips_scene_setting)


def read_tokenized(text: str) -> Document:
    """Read a text tokenized as in Gigaword: tokens separated by spaces, one sentence per line.

    Empty lines are skipped. The norm of a token is the token itself.
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
    plain = _to_plain_text(text, language)
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
    return tokenize(_to_plain_text(text, language), language)


def headline_words(text: str, language: Language = ENGLISH) -> tuple[Token, ...]:
    """Return the words of a headline with their spans; HTML entities are not decoded.

    >>> headline_words("Who won?")[:2]
    (Token(norm='who', start=0, end=3), Token(norm='won', start=4, end=7))
    """
    return _read_sentence(normalize_typography(text, language), 0, language)


def _read_sentence(sentence: str, offset: int, language: Language) -> tuple[Token, ...]:
    """Return the words of a sentence in normalized typography, with `offset` added to the spans."""
    spans = token_spans(sentence, language)
    norms = normalize_tokens(token_at(sentence, *span, language) for span in spans)
    return tuple(
        Token(norm, offset + start, offset + end)
        for norm, (start, end) in zip(norms, spans, strict=True)
    )


def _to_plain_text(text: str, language: Language) -> str:
    """Decode HTML entities, which shortens a text, and normalize typography, which does not."""
    return normalize_typography(decode_entities(text), language)
