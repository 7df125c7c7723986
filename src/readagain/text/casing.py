"""Capitalization of summary words: as in the source text, and by the rules for headlines."""

from collections.abc import Sequence
from functools import cache
from itertools import chain, groupby

import numpy as np

from readagain.config.options import Case
from readagain.text.document import Document
from readagain.text.language import ENGLISH, Language
from readagain.text.part_of_speech import part_of_speech
from readagain.text.truecasing import (
    MINOR_WORDS,
    Truecaser,
    has_informative_case,
    normalize_all_caps,
)
from readagain.text.wordlists import ENGLISH_WORDS

CLITICS = frozenset(["n't", "'s", "'m", "'d", "'ll", "'re", "'ve"])
_ENDS_SENTENCE = frozenset(".?!")
_CLOSING_QUOTES = frozenset(["''", "'"])
_CLOSING_QUOTES = frozenset(["''", "'"])
_SKIPPED_IN_ACRONYMS = frozenset(["of", "and", "the", "for", "on"])
_MAX_INITIALS = 6
"""Maximum number of letters of an acronym."""
_INFLECTIONS = ("ed", "ing", "es")
_MIN_INFLECTED = 4
"""Minimum number of letters of a word with an inflected form: "used" is no form of "US"."""


class SourceTruecaser:
    """Truecaser of the words of a summary, by their spelling in the source document.

    Args:
        document: source document.
        truecaser: capitalization of words that do not occur in the document.
        keep_all_caps: whether all-caps words of the document stay in capitals.
        language: language of the document.
    """

    def __init__(
        self,
        document: Document,
        truecaser: Truecaser,
        *,
        keep_all_caps: bool = False,
        language: Language = ENGLISH,
    ) -> None:
        self._language = language
        self._starters = _sentence_starters(language)
        self._start_positions = _sentence_starts(document)
        self._document = document
        self._truecaser = truecaser
        self._surfaces: list[str] = []
        # Spellings by norm. A spelling is uncertain if its capital may be due to the start of a
        # sentence or to a title.
        self._certain: dict[str, str] = {}
        self._uncertain: dict[str, str] = {}
        self._initials: frozenset[str] = frozenset()
        if document.is_tokenized:
            return  # all in lower case
        sentences = [
            [document.surface(word) for word in sentence] for sentence in document.sentences
        ]
        if not keep_all_caps:
            norms = [[word.norm for word in sentence] for sentence in document.sentences]
            sentences = normalize_all_caps(sentences, norms, truecaser)
        self._surfaces = list(chain.from_iterable(sentences))
        self._initials = _initials(self._surfaces)
        lengths = np.array([len(sentence) for sentence in document.sentences], dtype=np.int64)
        ids = np.arange(len(self._surfaces))
        informative = has_informative_case(
            self._surfaces, ids, lengths, has_headline_case=language.has_headline_case
        )
        if not language.has_english_rules:
            # A word after a dateline or a colon may have a capital like the start of a sentence.
            self._start_positions |= frozenset(np.flatnonzero(~informative).tolist())
        for word, surface, is_informative in zip(
            document.words, self._surfaces, informative.tolist(), strict=True
        ):
            is_certain = is_informative or surface == surface.lower()
            spellings = self._certain if is_certain else self._uncertain
            spellings.setdefault(word.norm, surface)

    def spell_generated(self, norm: str, before: str | None, after: str | None) -> str:
        """Return the spelling of a generated word between its neighbours.

        A word of the source is spelled as there, unless its capital is only that of a sentence
        start. The initials of a name in the source get capitals: "NA" for "National Assembly". If
        the source has an inflected form in lower case, such as "marched", the word is not the
        name "March". The truecaser spells other words.
        """
        if norm in self._certain:
            return self._certain[norm]
        if norm in self._uncertain and not self._is_lower_inside(norm):
            return self._uncertain[norm]
        if norm in self._initials and _is_acronym(norm, before, after):
            return norm.upper()
        if self._has_inflected_form(norm):
            return norm
        return self._truecaser.spelling_in_context(norm, before, after) or norm

    def _has_inflected_form(self, norm: str) -> bool:
        """Return whether the source has an English inflected form of a word, in lower case."""
        if not self._language.has_english_rules or len(norm) < _MIN_INFLECTED:
            return False
        return any(self._certain.get(norm + ending) == norm + ending for ending in _INFLECTIONS)

    def spell_copied(self, position: int, *, continues_copy: bool) -> str:
        """Return the spelling of a copied word, without the capital of a sentence start.

        Args:
            position: source position.
            continues_copy: whether the previous word is copied from the previous position; in
                English the word then stays unchanged, even at the start of a sentence.
        """
        norm, surface = self._document.words[position].norm, self._surfaces[position]
        is_unchanged = continues_copy and self._language.has_english_rules
        if is_unchanged or position not in self._start_positions or not surface.istitle():
            return surface
        if surface in self._starters:
            return surface.lower()
        if norm in self._certain:
            is_lower = self._certain[norm].islower()
        else:
            is_lower = self._is_lower_inside(norm) and not self._is_before_capital(position)
        return surface.lower() if is_lower else surface

    def _is_lower_inside(self, norm: str) -> bool:
        """Return whether a word is usually in lower case inside a sentence."""
        return norm.capitalize() in self._starters or self._truecaser.spelling(norm) == norm

    def _is_before_capital(self, position: int) -> bool:
        """Return whether the next word has a capital: the May of "May Day" is a name.

        Return False in languages that capitalize nouns, where a capital does not mark a name.
        """
        words, following = self._document.words, position + 1
        if self._language.capitalizes_nouns or following in self._start_positions:
            return False
        return following < len(words) and self._document.surface(words[following])[:1].isupper()


def _is_acronym(norm: str, before: str | None, after: str | None) -> bool:
    """Return whether initials of a name in the source stand for the name in a summary.

    "who" does at the start ("WHO warns of flu"), unless it begins a question ("Who is she?").
    """
    if norm == "who":
        is_question = (
            after is None
            or after.endswith("ed")  # the verbs of headlines are in the present tense
            or after in CLITICS
            or part_of_speech(after) in ("auxiliary", "adverb", "punctuation")
        )
        return before is None and not is_question
    return part_of_speech(norm) == "noun"


def _sentence_starts(document: Document) -> frozenset[int]:
    """Return the position of the first word of each sentence, after quotes and brackets."""
    starts = set()
    position = 0
    for sentence in document.sentences:
        for offset, word in enumerate(sentence):
            if any(c.isalnum() for c in document.surface(word)):
                starts.add(position + offset)
                break
        position += len(sentence)
    return frozenset(starts)


def _may_capitalize(word: str) -> bool:
    """Return whether a word may get a capital, as "ferry" and "anti-EU", unlike "iPhone"."""
    first, hyphen, _ = word.partition("-")
    return word.islower() or (hyphen != "" and len(first) > 1 and first.islower())


def _initials(surfaces: Sequence[str]) -> frozenset[str]:
    """Return the initials, in lower case, of two or more consecutive capitalized words."""
    words = (word for word in surfaces if word not in _SKIPPED_IN_ACRONYMS)
    initials: set[str] = set()
    for is_capitalized, group in groupby(words, key=lambda word: word[:1].isupper()):
        letters = "".join(word[0] for word in group).lower() if is_capitalized else ""
        for start in range(len(letters) - 1):
            last_end = min(start + _MAX_INITIALS, len(letters))
            initials.update(letters[start:end] for end in range(start + 2, last_end + 1))
    return frozenset(initials)


@cache
def _sentence_starters(language: Language) -> frozenset[str]:
    """Return words that normally have a capital only because they begin a sentence."""
    if language.has_english_rules:
        return ENGLISH_WORDS["starters"]
    return frozenset(word.capitalize() for word in language.function_words)


def capitalize(
    words: Sequence[str], norms: Sequence[str], case: Case, language: Language
) -> list[str]:
    """Capitalize printed words like a sentence or a headline; existing capitals stay.

    A closing quotation mark ends no sentence, since the speaker often follows: "Why?" asks mayor.
    In a language without headline case, "headline" means the same as "sentence".
    """
    if case == "headline" and not language.has_headline_case:
        case = "sentence"
    if case == "plain":
        return list(words)
    last = len(words) - 1
    result: list[str] = []
    is_start = True
    for position, (word, norm) in enumerate(zip(words, norms, strict=True)):
        is_word = any(c.isalnum() for c in word) and word.replace("’", "'") not in CLITICS
        is_headline_word = case == "headline" and (word not in MINOR_WORDS or position == last)
        if is_word and _may_capitalize(word) and (is_start or is_headline_word):
            word = word[0].title() + word[1:]  # title() turns the ligature ﬁ into Fi
        result.append(word)
        # A word after a quoted sentence often continues it, as in "Why?" asks mayor.
        ends_quote = norm in _CLOSING_QUOTES and words[max(0, position - 1)] in _ENDS_SENTENCE
        is_start = (
            (is_start and not is_word and not ends_quote)
            or word in _ENDS_SENTENCE
            or norm in language.capital_after
        )
    return result
