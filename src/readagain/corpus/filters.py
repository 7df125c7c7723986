"""Rules that leave pairs out, each by name, so that what was dropped can be counted.

The rules of the paper's corpus are those of Rush, Chopra and Weston 2015, section 6.1: no content
word in common, a byline or editing marks in the headline, a question mark or a colon.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from readagain.corpus.stopwords import ENGLISH_MARKS, FOREIGN_MARKS, STOPWORDS
from readagain.errors import ArgumentError

Sentences = Sequence[Sequence[str]]


@dataclass(frozen=True, kw_only=True)
class FilterLimits:
    """Limits of the filters."""

    min_text_words: int = 5
    """Filter 'length': words of a text."""
    max_text_words: int = 500
    """Filter 'length': words of a text."""
    min_headline_words: int = 2
    """Filter 'length': words of a headline."""
    max_headline_words: int = 100
    """Filter 'length': words of a headline."""
    min_overlap: float = 0.25
    """Filter 'low-overlap': share of the headline's content words in the text."""


@dataclass(frozen=True)
class Filter:
    """A filter: name, description of what it drops, and the test; None if it needs all pairs."""

    name: str
    drops: str
    is_unwanted: Callable[[Sentences, Sequence[str], FilterLimits], bool] | None


# Words that agencies put into headlines for editors, not for readers.
_EDIT_MARKS = """
    update updates update# updates# undated recasts recasting corrects corrected retransmitting
    writethru ld-writethru #st-ld #nd-ld #rd-ld #th-ld dbl grafs refile refiles embargoed
"""
EDIT_MARKS = frozenset(_EDIT_MARKS.split())
MAX_BYLINE_WORDS = 6
MIN_WORDS_TO_JUDGE = 10
MIN_LATIN_SHARE = 0.9


def content_words(headline: Sequence[str]) -> set[str]:
    """Return the words that say something: no stop words, nothing without a letter or digit."""
    return {
        word
        for word in headline
        if word not in STOPWORDS and any(sign.isalnum() or sign == "#" for sign in word)
    }


def _shares_nothing(sentences: Sentences, headline: Sequence[str], limits: FilterLimits) -> bool:
    wanted = content_words(headline)
    return all(wanted.isdisjoint(sentence) for sentence in sentences)


def _overlaps_little(sentences: Sentences, headline: Sequence[str], limits: FilterLimits) -> bool:
    wanted = content_words(headline)
    found = wanted.intersection(set().union(*sentences))
    return len(found) < limits.min_overlap * len(wanted)


def _has_byline(sentences: Sentences, headline: Sequence[str], limits: FilterLimits) -> bool:
    """Find `by somebody`: alone, in brackets, or behind a dash or bar at the end."""
    places = [place for place, word in enumerate(headline) if word == "by"]
    for place in places:
        before = headline[place - 1] if place else ""
        if place == 0 and len(headline) <= MAX_BYLINE_WORDS:
            return True
        if before in ("-lrb-", "|", "--", "-", "/") and len(headline) - place <= MAX_BYLINE_WORDS:
            return True
    return False


def _has_edit_marks(sentences: Sentences, headline: Sequence[str], limits: FilterLimits) -> bool:
    return not EDIT_MARKS.isdisjoint(headline)


def _has_question(sentences: Sentences, headline: Sequence[str], limits: FilterLimits) -> bool:
    return any("?" in word for word in headline)


def _has_colon(sentences: Sentences, headline: Sequence[str], limits: FilterLimits) -> bool:
    return ":" in headline


def _has_odd_length(sentences: Sentences, headline: Sequence[str], limits: FilterLimits) -> bool:
    num_text = sum(map(len, sentences))
    return not (
        limits.min_text_words <= num_text <= limits.max_text_words
        and limits.min_headline_words <= len(headline) <= limits.max_headline_words
    )


def _is_not_english(sentences: Sentences, headline: Sequence[str], limits: FilterLimits) -> bool:
    """Judge by the script, then by whose small words there are more of."""
    words = [word for sentence in sentences for word in sentence]
    letters = [sign for sign in "".join(words) if sign.isalpha()]
    num_latin = sum(sign.isascii() for sign in letters)
    if num_latin < MIN_LATIN_SHARE * len(letters):
        return True
    num_english = sum(word in ENGLISH_MARKS for word in words)
    num_foreign = sum(word in FOREIGN_MARKS for word in words)
    return num_foreign > num_english or (num_english == 0 and len(words) >= MIN_WORDS_TO_JUDGE)


FILTERS: dict[str, Filter] = {
    rule.name: rule
    for rule in (
        Filter("length", "text or headline too short or too long", _has_odd_length),
        Filter("language", "a text that is not English", _is_not_english),
        Filter("no-shared-word", "headline and text share no content word", _shares_nothing),
        Filter("byline", "a byline in the headline", _has_byline),
        Filter("edit-marks", "words for editors in the headline", _has_edit_marks),
        Filter("question", "a question mark in the headline", _has_question),
        Filter("colon", "a colon in the headline", _has_colon),
        Filter("low-overlap", "few of the headline's content words in the text", _overlaps_little),
        Filter("duplicate", "the same text with the same headline, after the first", None),
    )
}
DEFAULT_FILTERS = ("length", "duplicate")
FILTER_SETS: dict[str, tuple[str, ...]] = {
    "none": (),
    "default": DEFAULT_FILTERS,
    "rush": (
        *DEFAULT_FILTERS,
        "no-shared-word",
        "byline",
        "edit-marks",
        "question",
        "colon",
    ),
    "all": tuple(FILTERS),
}


def choose_filters(filters: str) -> tuple[str, ...]:
    """Read a list such as `rush,language,-colon` into filter names, in the order they are applied.

    Args:
        filters: names of filters and of sets of them, separated by commas; `-name` takes one away.
            A list that only takes away starts from the default set.

    Raises:
        ConfigError: naming what is neither a filter nor a set.
    """
    parts = [part.strip() for part in filters.split(",") if part.strip()]
    chosen = set(DEFAULT_FILTERS) if all(part.startswith("-") for part in parts) else set()
    for part in parts:
        name = part.removeprefix("-")
        if name not in FILTERS and name not in FILTER_SETS:
            raise ArgumentError(
                "{filters}: no filter '{0}'; the filters are {1}, the sets {2}",
                name,
                ", ".join(FILTERS),
                ", ".join(FILTER_SETS),
            )
        names = FILTER_SETS.get(name, (name,))
        chosen = chosen.difference(names) if part.startswith("-") else chosen.union(names)
    return tuple(name for name in FILTERS if name in chosen)
