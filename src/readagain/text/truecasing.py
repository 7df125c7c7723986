"""Truecasing: capitalization of words inside a sentence, and of texts written in all caps."""

import re
from collections.abc import Iterable, Iterator, Sequence
from functools import cache
from importlib.resources import files
from itertools import takewhile
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from readagain.errors import ArtifactError, quoted
from readagain.storage.files import atomic_write, read_entries
from readagain.text.normalization import StringCache
from readagain.text.vocab import Vocab
from readagain.text.wordlists import ENGLISH_WORDS

CASES_FILE = "cases.txt"
"""File of a `Truecaser` in a prepared corpus and in a model folder."""
MAX_CASES_BYTES = 64 << 20
"""Maximum size of the file."""
MIN_ALL_CAPS_WORDS = 4
"""Minimum number of words of an all-caps text or sentence; fewer words may be acronyms."""
MIN_NAME_LETTERS = 4
"""Minimum length of an unknown all-caps word that is treated as a name; a shorter word is treated
as an acronym."""

Ints = NDArray[np.int64]

_LONG_WORD = 5  # letters; shorter words may be in lower case in a title-cased headline
# Bit flags of a token. `_CONTINUES`: a word, number or comma. After other marks, such as a colon, a
# sentence may begin, so the case of the next word is not informative.
_IS_WORD, _CONTINUES, _IS_LONG, _IS_LONG_LOWER, _HAS_CAPITAL = 1, 2, 4, 8, 16

MINOR_WORDS = ENGLISH_WORDS["minor"]
"""Words that are in lower case in headlines, unless first or last."""
_LOWER_IN_NAMES = MINOR_WORDS | {"'s", "’s"}
_ROMAN = re.compile(r"[IVX]+")
_VOWEL = re.compile(r"[AEIOUY]")
_ORDINAL = re.compile(r"\d+(?:ST|ND|RD|TH|S)")  # 14TH, 1990S


class Truecaser:
    """Capitalization of words and word pairs inside a sentence, looked up by their norm.

    Args:
        entries: words as they are spelled, and pairs of words whose spelling differs from that of
            the single words ("white", "house", "White House").
    """

    def __init__(self, entries: Iterable[str] = ()) -> None:
        self._spellings = {entry.lower(): entry for entry in entries}

    @classmethod
    def load(cls, path: Path) -> "Truecaser":
        """Read a file with one entry per line.

        Raises:
            ArtifactError: with the file and the invalid line.
        """
        entries = read_entries(path, max_bytes=MAX_CASES_BYTES)
        truecaser = cls(entries)
        for number, entry in enumerate(entries, start=1):
            words = entry.split()
            spelling = truecaser._spellings[entry.lower()]
            if " ".join(words) != entry or len(words) not in (1, 2):
                problem = "expected a word, or two words with a space between them"
            elif spelling != entry:
                problem = f"the file also has {quoted(spelling)}"
            else:
                continue
            raise ArtifactError(
                f"{path}:{number}: found {quoted(entry)}; {problem}; was it edited by hand?"
            )
        return truecaser

    def save(self, path: Path) -> None:
        """Write one entry per line, sorted by its norm, atomically."""
        with atomic_write(path) as temporary:
            temporary.write_bytes("".join(f"{entry}\n" for entry in self).encode("utf-8"))

    def spelling(self, norm: str) -> str | None:
        """Return the spelling of a word, or None if it is unknown."""
        return self._spellings.get(norm)

    def spelling_in_context(self, norm: str, before: str | None, after: str | None) -> str | None:
        """Return the spelling of a word between its neighbours, or None if it is unknown.

        The pair with the next word has priority over the pair with the previous word.
        """
        for first, second, index in ((norm, after, 0), (before, norm, 1)):
            if first and second and (pair := self._spellings.get(f"{first} {second}")):
                return pair.split(" ")[index]
        return self.spelling(norm)

    def spellings_in_context(self, norms: Sequence[str]) -> list[str | None]:
        """Return the spellings of consecutive words, each in the context of its neighbours."""
        before, after = [None, *norms[:-1]], [*norms[1:], None]
        return list(map(self.spelling_in_context, norms, before, after))

    def restricted_to(self, vocab: Vocab) -> "Truecaser":
        """Return a truecaser with the entries whose words are all in a vocabulary."""
        return Truecaser(
            entry
            for norm, entry in self._spellings.items()
            if all(word in vocab for word in norm.split(" "))
        )

    def with_fallback(self, other: "Truecaser") -> "Truecaser":
        """Return a truecaser that uses `other` for words and pairs without an entry here."""
        return Truecaser((other._spellings | self._spellings).values())

    def __len__(self) -> int:
        return len(self._spellings)

    def __iter__(self) -> Iterator[str]:
        return (self._spellings[norm] for norm in sorted(self._spellings))

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Truecaser) and self._spellings == other._spellings


@cache
def default_truecaser() -> Truecaser:
    """Return a truecaser for frequent English words.

    `spellings.txt` lists frequent words of the training texts of the bundled models, except words
    whose case varies.
    """
    spellings = files("readagain.text").joinpath("spellings.txt").read_text(encoding="ascii")
    return Truecaser((*spellings.split(), *ENGLISH_WORDS["always_capital"]))


def has_informative_case(
    tokens: Sequence[str], ids: Ints, lengths: Ints, *, has_headline_case: bool = True
) -> NDArray[np.bool_]:
    """Return which words have a case that does not depend on their position in a sentence.

    This excludes the first word of a sentence, words after a mark other than a comma, such as a
    colon or an opening quote, and all words of sentences in title case, in all caps or without
    capitals.

    Args:
        tokens: distinct words.
        ids: (number of words,) the words of all sentences as indices of `tokens`.
        lengths: (number of sentences,) number of words of each sentence.
        has_headline_case: whether headlines of the language may be in title case. If not, only
            sentences without any capitalized word or without any lower-case word are excluded,
            since the test for title case would also exclude German sentences with many nouns.

    Returns:
        (number of words,) bool.
    """
    flags = np.fromiter(map(_CASE_FLAGS.__getitem__, tokens), np.uint8, len(tokens))[ids]
    starts = np.cumsum(lengths) - lengths  # index of the first word of each sentence
    is_first = np.zeros(len(ids) + 1, dtype=bool)  # one more, for an empty last sentence
    is_first[starts] = True
    is_inside = ~is_first[:-1]

    def count(is_counted: NDArray[np.bool_]) -> Ints:
        """Return the number of counted words of each sentence."""
        sums = np.concatenate([[0], np.cumsum(is_counted)])
        counts: Ints = sums[starts + lengths] - sums[starts]
        return counts

    has_capital = count(flags & _HAS_CAPITAL != 0) > 0
    if has_headline_case:
        num_long = count(is_inside & (flags & _IS_LONG != 0))
        num_lower = count(is_inside & (flags & _IS_LONG_LOWER != 0))
        # In title case, fewer than a third of the long words are in lower case.
        is_sentence_case = has_capital & (num_long > 0) & (num_long <= 3 * num_lower)
    else:
        is_lower = (flags & (_IS_WORD | _HAS_CAPITAL)) == _IS_WORD
        is_sentence_case = has_capital & (count(is_inside & is_lower) > 0)
    is_continuation = np.concatenate([[False], flags[:-1] & _CONTINUES != 0])[: len(flags)]
    informative: NDArray[np.bool_] = np.repeat(is_sentence_case, lengths)
    informative &= is_inside & (flags & _IS_WORD != 0) & is_continuation
    return informative


def _case_flags(word: str) -> int:
    """Return the bit flags of a token."""
    is_word = word[:1].isalpha()
    is_long = is_word and len(word) >= _LONG_WORD
    continues = word[:1].isalnum() or word[-1:].isalnum() or word == ","
    return (
        _IS_WORD * is_word
        | _CONTINUES * continues
        | _IS_LONG * is_long
        | _IS_LONG_LOWER * (is_long and word.islower())
        | _HAS_CAPITAL * (word != word.lower())
    )


_CASE_FLAGS = StringCache(_case_flags)


def normalize_all_caps(
    sentences: Sequence[Sequence[str]], norms: Sequence[Sequence[str]], truecaser: Truecaser
) -> list[list[str]]:
    """Truecase all-caps texts, all-caps sentences and all-caps words at the start of a sentence.

    Args:
        sentences: surfaces of the words of each sentence.
        norms: norms of the words of each sentence.
        truecaser: usual capitalization of words.
    """
    is_all_caps = _is_all_caps([surface for sentence in sentences for surface in sentence])
    return [
        truecase_sentence(surfaces, sentence_norms, truecaser)
        if is_all_caps or _is_all_caps(surfaces)
        else truecase_start(surfaces, sentence_norms, truecaser)
        for surfaces, sentence_norms in zip(sentences, norms, strict=True)
    ]


def truecase_sentence(
    surfaces: Sequence[str], norms: Sequence[str], truecaser: Truecaser
) -> list[str]:
    """Truecase an all-caps sentence; capitalize unknown words that have a vowel, like names.

    >>> surfaces = ["FERRY", "TO", "OSTHAM", "SINKS", "OFF", "UK"]
    >>> truecaser = Truecaser(["ferry", "to", "sinks", "off", "UK"])
    >>> truecase_sentence(surfaces, [surface.lower() for surface in surfaces], truecaser)
    ['ferry', 'to', 'Ostham', 'sinks', 'off', 'UK']
    """
    return [
        _truecase_word(surface, spelling, truecaser)
        for surface, spelling in zip(surfaces, truecaser.spellings_in_context(norms), strict=True)
    ]


def truecase_start(
    surfaces: Sequence[str], norms: Sequence[str], truecaser: Truecaser
) -> list[str]:
    """Truecase the all-caps words at the start of a sentence.

    Some newspapers print the first name or word of a text in capitals: "QUEEN ELIZABETH II has
    left". The words are changed if the truecaser spells one of them differently (so "UK PM" stays),
    or if several words, all of them unknown, look like a name.

    >>> truecaser = Truecaser(["Twain"])
    >>> truecase_start(["MARK", "TWAIN", "of", "ITV"], ["mark", "twain", "of", "itv"], truecaser)
    ['Mark', 'Twain', 'of', 'ITV']
    """
    words = list(takewhile(_is_caps_word, surfaces))
    remaining = surfaces[len(words) :]
    spellings = [truecaser.spelling(norm) for norm in norms[: len(words)]]
    has_other_spelling = any(spelling and not spelling.isupper() for spelling in spellings)
    is_unknown_name = not any(spellings) and _looks_like_name(words)
    is_changed = has_other_spelling or is_unknown_name
    if not is_changed or _has_intended_capitals(words, remaining):
        return list(surfaces)
    truecased = list(
        map(_spell_or_capitalize, words, truecaser.spellings_in_context(norms[: len(words)]))
    )
    for index, word in enumerate(words):
        if index > 0 and word.lower() in _LOWER_IN_NAMES:
            truecased[index] = word.lower()
    return [*truecased, *remaining]


def _is_all_caps(surfaces: Sequence[str]) -> bool:
    """Return whether no word has a lower-case letter, and enough words are in capitals."""
    has_lower = any(c.islower() for surface in surfaces for c in surface)
    return not has_lower and sum(map(str.isupper, surfaces)) >= MIN_ALL_CAPS_WORDS


def _has_intended_capitals(words: Sequence[str], remaining: Sequence[str]) -> bool:
    """Return whether the capitals of the first words of a sentence are part of the spelling.

    A single word keeps its capitals if it may be an acronym ("WHO", but not "THE"), if it is half
    of a name such as "AT&T", or if it occurs again in capitals. Several words keep their capitals
    only if no words remain after them.
    """
    if not remaining:
        return True
    if len(words) > 1:
        return False
    word = words[0]
    max_acronym_letters = 2 if word.lower() in MINOR_WORDS else 3
    return len(word) <= max_acronym_letters or remaining[0] == "&" or word in remaining


def _looks_like_name(words: Sequence[str]) -> bool:
    """Return whether unknown words look like "KUALA LUMPUR" rather than acronyms."""
    return len(words) > 1 and all(
        len(word) >= MIN_NAME_LETTERS and _VOWEL.search(word) for word in words
    )


def _is_caps_word(surface: str) -> bool:
    """Return whether a word consists of capitals, hyphens and apostrophes."""
    return surface.isupper() and all(c.isalpha() or c in "-'’" for c in surface)


def _truecase_word(surface: str, spelling: str | None, truecaser: Truecaser) -> str:
    """Truecase an all-caps word by its usual spelling, or part by part if it has hyphens."""
    if spelling is not None and len(spelling) == len(surface):
        return "".join(
            c.lower() if cased.islower() else c for c, cased in zip(surface, spelling, strict=True)
        )
    if surface[:1] in ("'", "’") or surface == "N'T" or _ORDINAL.fullmatch(surface):
        return surface.lower()
    if "-" in surface:
        parts = surface.split("-")
        return "-".join(
            _truecase_word(part, truecaser.spelling(part.lower()), truecaser) for part in parts
        )
    is_name = _is_caps_word(surface) and len(surface) >= MIN_NAME_LETTERS
    return _spell_or_capitalize(surface, None) if is_name else surface


def _spell_or_capitalize(surface: str, spelling: str | None) -> str:
    """Return the usual spelling if it has capitals; otherwise capitalize the word.

    An unknown word of one or two letters or without a vowel stays in all caps, as a Roman numeral.
    """
    if spelling is not None and spelling != spelling.lower():
        return spelling
    if spelling is None and (len(surface) < 3 or not _VOWEL.search(surface)):
        return surface
    if _ROMAN.fullmatch(surface):
        return surface
    name = "-".join(part.capitalize() for part in surface.split("-"))
    return f"Mc{name[2:].capitalize()}" if name.startswith("Mc") and len(name) > 4 else name
