"""Topic words: what a text is about, by how rare its nouns are elsewhere."""

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from math import log

from readagain.corpus.stopwords import STOPWORDS

# Beyond this rank a word is rare, and how rare says more about the word than about the text.
LEAST_COMMON = 2000
# Link Grammar's kinds of nouns, names and numbers of things; anything else is no topic.
_NOUN_TAGS = ("n", "s", "l", "b", "m", "f", "u")


class Topics:
    """Scores words by tf-idf, the idf from the order of a vocabulary.

    TOPIARY takes its topics from Unsupervised Topic Discovery (Zajic, Dorr and Schwartz 2004,
    section 3.2), a model over a collection. We keep the place of the topics in the headline and
    score words as it begins: by how much more often they stand here than elsewhere. By Zipf's
    law a word's frequency falls with its rank, so its idf grows with the logarithm of that, and
    a list of words, most frequent first, is all the background that is needed.

    Args:
        common: words, the most frequent first.
        excluded: what is never a topic, such as UNK.
    """

    def __init__(self, common: Sequence[str], *, excluded: Collection[str] = ()) -> None:
        self._excluded = frozenset(excluded)
        self._ranks = {word: rank for rank, word in enumerate(common, start=1)}

    def score(self, form: str, occurrences: int) -> float:
        """Weigh a word that stands so often in a text."""
        rank = min(self._ranks.get(form, LEAST_COMMON), LEAST_COMMON)
        return occurrences * log(1 + rank)

    def ranked(self, forms: Sequence[str], tags: Mapping[int, str]) -> list[int]:
        """Return the places of a text's topic words, the best first, each word once.

        Equals stand in the order of the text: news says first what matters.

        Args:
            forms: the words of the text.
            tags: the parser's kinds of some of them, by place; the others are taken for nouns.
        """
        counts = Counter(forms)
        first: dict[str, int] = {}
        for place, form in enumerate(forms):
            if form not in self._excluded and _is_topical(form, tags.get(place, "")):
                first.setdefault(form, place)
        return sorted(
            first.values(),
            key=lambda place: (-self.score(forms[place], counts[forms[place]]), place),
        )


def _is_topical(form: str, tag: str) -> bool:
    if form in STOPWORDS or not any(c.isalpha() for c in form):
        return False
    return not tag or tag.startswith(_NOUN_TAGS)
