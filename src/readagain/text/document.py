"""A text as sentences of words, each word with its place in the text."""

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

from readagain.text.entities import decode_entities, places_before_decoding
from readagain.text.normalize import NormalForms
from readagain.text.sentences import sentence_spans
from readagain.text.tokenize import token_at, token_spans, tokenize
from readagain.text.typography import plain_typography

_FORMS = NormalForms()


class Token(NamedTuple):
    """A word of a text: the form models see, and the place where people see it."""

    form: str
    start: int
    end: int


@dataclass(frozen=True)
class Document:
    """A text and its words, sentence by sentence."""

    text: str
    sentences: tuple[tuple[Token, ...], ...]
    is_tokenized: bool = False
    """The text came as words with spaces between them, so its spacing says nothing."""

    @cached_property
    def words(self) -> tuple[Token, ...]:
        """All words in order, the sentences joined."""
        return tuple(word for sentence in self.sentences for word in sentence)

    def surface(self, word: Token) -> str:
        """Return a word as it stands in the text, with characters for HTML entities."""
        piece = self.text[word.start : word.end]
        return piece if self.is_tokenized else decode_entities(piece)


def read_document(text: str, *, max_sentences: int | None = None) -> Document:
    """Split a text into sentences and words; keep where each word stands.

    >>> read_document("It cost $3.").sentences[0][2:4]
    (Word(form='$', start=8, end=9), Word(form='#', start=9, end=10))
    """
    plain = _plain(text)
    sentences = []
    for start, end in sentence_spans(plain, max_sentences=max_sentences):
        sentence = plain[start:end]
        sentences.append(
            tuple(
                Token(_FORMS[token_at(sentence, first, last)], start + first, start + last)
                for first, last in token_spans(sentence)
            )
        )
    if sentences and len(plain) < len(text):
        places = places_before_decoding(text, sentences[-1][-1].end)
        sentences = [
            tuple(Token(form, places[start], places[end]) for form, start, end in sentence)
            for sentence in sentences
        ]
    return Document(text, tuple(sentences))


def sentence_tokens(text: str, *, max_sentences: int | None = None) -> list[list[str]]:
    """Return the words of each sentence as they are written.

    >>> sentence_tokens("He left. She paid 5%.")
    [['He', 'left', '.'], ['She', 'paid', '5', '%', '.']]
    """
    plain = _plain(text)
    return [
        tokenize(plain[start:end])
        for start, end in sentence_spans(plain, max_sentences=max_sentences)
    ]


def sentence_words(text: str, *, max_sentences: int | None = None) -> list[list[str]]:
    """Return the forms of `read_document` without places: the fast way, for whole corpora.

    >>> sentence_words("He left. She paid 5%.")
    [['he', 'left', '.'], ['she', 'paid', '#', '%', '.']]
    """
    return [forms_of(tokens) for tokens in sentence_tokens(text, max_sentences=max_sentences)]


def headline_tokens(text: str) -> list[str]:
    """Return the written words of a text that is one sentence whatever its punctuation says.

    >>> headline_tokens("Who won? Nobody")
    ['Who', 'won', '?', 'Nobody']
    """
    return tokenize(_plain(text))


def headline_words(text: str) -> list[str]:
    """Return the forms of a text that is one sentence whatever its punctuation says.

    >>> headline_words("Who won? Nobody")
    ['who', 'won', '?', 'nobody']
    """
    return forms_of(headline_tokens(text))


def _plain(text: str) -> str:
    """Write a text in characters that the tokenizer knows; only entities change its length."""
    return plain_typography(decode_entities(text))


def forms_of(tokens: Iterable[str]) -> list[str]:
    """Return the form of each word, worked out once for each that is frequent."""
    return [_FORMS[token] for token in tokens]


def read_tokenized(text: str) -> Document:
    """Read a text that is already in Gigaword form: cut at white space, nothing else changed.

    Each line is a sentence; lines without a word are none.
    """
    sentences = []
    start_of_line = 0
    for line in text.splitlines(keepends=True):
        words = []
        end = 0
        for form in line.split():
            start = line.index(form, end)
            end = start + len(form)
            words.append(Token(form, start_of_line + start, start_of_line + end))
        if words:
            sentences.append(tuple(words))
        start_of_line += len(line)
    return Document(text, tuple(sentences), is_tokenized=True)
