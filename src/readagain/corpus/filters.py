"""Filters that drop unsuitable pairs; the report counts dropped pairs by filter.

The paper's corpus was filtered by Rush, Chopra and Weston 2015. Section 6.1 of their paper lists
the rules: a pair is dropped if text and headline have no content word in common, or if the headline
has a byline, editing marks, a question mark or a colon. The filter set `rush` follows this list.
The set `rush2015` follows the script that they published (`dataset/filter.py` of the repository
NAMAS), which has other rules. The public copies of the corpus were made with the script.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from readagain.errors import ArgumentError
from readagain.text.language import ENGLISH, Language, detect_language


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


# English function words, ignored by the filters that compare headline and text.
STOPWORDS = _words("""
    a about above after again against all also am an and any are aren't as at be because been
    before being below between both but by ca can cannot could did do does doing down during each
    few for from further had has have having he her here hers herself him himself his how i if in
    into is it its itself just may me might more most must my myself n't no nor not now of off on
    once one only or other our ours ourselves out over own same shall she should so some such than
    that the their theirs them themselves then there these they this those through to too under
    until up upon us very was we were what when where which while who whom whose why will with
    within without would yet you your yours yourself yourselves 's 're 've 'll 'd 'm s t
""")

# Frequent English words.
FREQUENT_ENGLISH_WORDS = _words("""
    the of and to for with that is was are were has have had this from his her its their they it
    by at be been will would who which what when after before over than more about into not as but
    says said new how why you your we our can could first out up all one two a an in on during
    against between while under he she or if
""")
# Frequent words of the other languages that occur in news feeds.
FREQUENT_FOREIGN_WORDS = _words("""
    de la le les des du et est dans pour au aux sur une un qui que ne pas avec ont à
    el los las del y es por para con una su se lo al como más en
    o os do da dos das e em um uma não com na no ao mais foi são
    der die das und ist nicht den dem von mit ein eine auf für im am zu hat sich
    il di che per della nel sono gli è
    het een van voor op dat zijn och att det som är på och på og
    yang dan di dari untuk dengan pada dalam ini itu
""")


@dataclass(frozen=True, kw_only=True)
class FilterLimits:
    """Limits of the filters."""

    min_text_words: int = 5
    """Filter 'length': minimum number of words of a text."""
    max_text_words: int = 500
    """Filter 'length': maximum number of words of a text."""
    min_headline_words: int = 2
    """Filter 'length': minimum number of words of a headline."""
    max_headline_words: int = 100
    """Filter 'length': maximum number of words of a headline."""
    min_overlap: float = 0.25
    """Filter 'low-overlap': minimum share of the headline's content words that are in the text."""


@dataclass(frozen=True)
class FilterInput:
    """A pair with normalized words, the limits of the filters and the language of the corpus."""

    sentences: Sequence[Sequence[str]]
    headline: Sequence[str]
    limits: FilterLimits
    language: Language


@dataclass(frozen=True)
class Filter:
    """A filter of pairs."""

    description: str
    """Description of the pairs that the filter drops."""
    should_drop: Callable[[FilterInput], bool]
    """Function that returns whether to drop a pair."""


# Words that news agencies add to headlines as notes for editors.
EDIT_MARKS = _words("""
    update updates update# updates# undated recasts recasting corrects corrected retransmitting
    writethru ld-writethru #st-ld #nd-ld #rd-ld #th-ld dbl grafs refile refiles embargoed
""")
# The published script drops a headline that contains one of these strings. It also searches inside
# words, so "ap" drops headlines with "japan" and "capital".
_PUBLISHED_WORDS = """
    update recasts undated grafs corrects retransmitting dateline writethru recaps inserts
    incorporates adv## djlfx edits byline repetition background thruout quotes attention ny###
    overline embargo ap gmt adds urgent ? -lrb- -rrb-
"""
_PUBLISHED_MARKS = (*_PUBLISHED_WORDS.split(), " i ", " : ", " - ", " by ")
MIN_LONG_WORD_CHARS = 4
"""Minimum length of a word that the filter 'long-word' compares."""
MAX_BYLINE_WORDS = 6
"""Maximum number of words of a byline, including "by"."""
MIN_LANGUAGE_WORDS = 10
"""A text with at least this many words is foreign if none of them is a frequent English word."""
MIN_ASCII_SHARE = 0.9
"""Minimum share of ASCII letters among the letters of an English text."""


def content_words(headline: Sequence[str], language: Language = ENGLISH) -> set[str]:
    """Return the words with a letter or digit that are not stop words."""
    stopwords = STOPWORDS if language.has_english_rules else language.function_words
    return {
        word
        for word in headline
        if word not in stopwords and any(char.isalnum() or char == "#" for char in word)
    }


def _has_no_shared_word(pair: FilterInput) -> bool:
    words = content_words(pair.headline, pair.language)
    return all(words.isdisjoint(sentence) for sentence in pair.sentences)


def _has_low_overlap(pair: FilterInput) -> bool:
    words = content_words(pair.headline, pair.language)
    shared = words.intersection(set().union(*pair.sentences))
    return len(shared) < pair.limits.min_overlap * len(words)


def _has_byline(pair: FilterInput) -> bool:
    """Return whether a headline is `by NAME`, or ends with that in brackets or after a dash."""
    headline = pair.headline
    first_position = max(len(headline) - MAX_BYLINE_WORDS, 0)
    return any(
        headline[position] == "by"
        and (position == 0 or headline[position - 1] in ("-lrb-", "|", "--", "-", "/"))
        for position in range(first_position, len(headline))
    )


def _has_invalid_length(pair: FilterInput) -> bool:
    num_text_words, limits = sum(map(len, pair.sentences)), pair.limits
    return not (
        limits.min_text_words <= num_text_words <= limits.max_text_words
        and limits.min_headline_words <= len(pair.headline) <= limits.max_headline_words
    )


def _is_foreign(pair: FilterInput) -> bool:
    """Return whether a text is not in the language of the corpus.

    An English corpus uses rules of its own instead of `detect_language`, because the corpora of the
    bundled models were prepared with them.
    """
    words = [word for sentence in pair.sentences for word in sentence]
    if not pair.language.has_english_rules:
        detected = detect_language(" ".join(words))
        return detected is not None and detected.code != pair.language.code
    letters = [char for char in "".join(words) if char.isalpha()]
    num_ascii = sum(char.isascii() for char in letters)
    if num_ascii < MIN_ASCII_SHARE * len(letters):
        return True
    num_english = sum(word in FREQUENT_ENGLISH_WORDS for word in words)
    num_foreign = sum(word in FREQUENT_FOREIGN_WORDS for word in words)
    return num_foreign > num_english or (num_english == 0 and len(words) >= MIN_LANGUAGE_WORDS)


def _has_published_marks(pair: FilterInput) -> bool:
    text = " ".join(pair.headline)
    return any(mark in text for mark in _PUBLISHED_MARKS)


def _has_rejected_length(pair: FilterInput) -> bool:
    """Return whether the published script rejects the length of the text or of the headline."""
    return not (10 < len(pair.sentences[0]) < 100 and 3 < len(pair.headline) < 50)


def _has_no_shared_long_word(pair: FilterInput) -> bool:
    long_words = {word for word in pair.headline if len(word) >= MIN_LONG_WORD_CHARS}
    return long_words.isdisjoint(pair.sentences[0])


FILTERS: dict[str, Filter] = {
    "length": Filter("text or headline too short or too long", _has_invalid_length),
    "language": Filter("text not in the language of the corpus", _is_foreign),
    "no-shared-word": Filter("headline and text share no content word", _has_no_shared_word),
    "byline": Filter("a byline in the headline", _has_byline),
    "edit-marks": Filter(
        "notes for editors in the headline", lambda pair: not EDIT_MARKS.isdisjoint(pair.headline)
    ),
    "question": Filter(
        "a question mark in the headline", lambda pair: "?" in "".join(pair.headline)
    ),
    "colon": Filter("a colon in the headline", lambda pair: ":" in pair.headline),
    "low-overlap": Filter("few of the headline's content words in the text", _has_low_overlap),
    "full-stop": Filter(
        "no full stop in the first sentence", lambda pair: "." not in pair.sentences[0]
    ),
    "published-marks": Filter(
        "headline rejected by the script of Rush et al. 2015", _has_published_marks
    ),
    "published-length": Filter(
        "length rejected by the script of Rush et al. 2015", _has_rejected_length
    ),
    "long-word": Filter("no word of four letters in headline and text", _has_no_shared_long_word),
    # `choose_splits` drops duplicates, because a comparison with all other pairs is necessary.
    "duplicate": Filter("repetition of a pair with the same text and headline", lambda pair: False),
}
"""Filters by name, in the order in which they are applied."""
DEFAULT_FILTERS = ("length", "duplicate")
_PUBLISHED_FILTERS = ("full-stop", "published-marks", "published-length", "long-word")
FILTER_SETS: dict[str, tuple[str, ...]] = {
    "none": (),
    "default": DEFAULT_FILTERS,
    "rush": (*DEFAULT_FILTERS, "no-shared-word", "byline", "edit-marks", "question", "colon"),
    "rush2015": _PUBLISHED_FILTERS,
    "all": tuple(name for name in FILTERS if name not in _PUBLISHED_FILTERS),
}


def choose_filters(filters: str) -> tuple[str, ...]:
    """Parse a list such as `rush,language,-colon` into filter names, in order of application.

    Args:
        filters: names of filters and filter sets, separated by commas; `-NAME` removes a filter
            or set. A list that only has removals starts from the default set.

    Raises:
        ArgumentError: for an unknown name.
    """
    terms = [term.strip() for term in filters.split(",") if term.strip()]
    has_only_removals = all(term.startswith("-") for term in terms)
    selection = set(DEFAULT_FILTERS) if has_only_removals else set()
    for term in terms:
        name = term.removeprefix("-")
        if name not in FILTERS and name not in FILTER_SETS:
            raise ArgumentError(
                "{filters}: no filter '{0}'; the filters are {1}, the sets {2}",
                name,
                ", ".join(FILTERS),
                ", ".join(FILTER_SETS),
            )
        names = FILTER_SETS.get(name, (name,))
        if term.startswith("-"):
            selection.difference_update(names)
        else:
            selection.update(names)
    return tuple(name for name in FILTERS if name in selection)
