"""Topic words of a text by tf-idf."""

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from math import log

from readagain.corpus.filters import STOPWORDS

MAX_RANK = 2000  # rarer words, and words that are not in the list, count as having this rank
# Link Grammar's tags of nouns and names.
_NOUN_TAGS = ("n", "s", "l", "b", "m", "f", "u")


class Topics:
    """Ranks the words of a text by tf-idf, with the idf from a frequency-sorted vocabulary.

    TOPIARY takes its topics from Unsupervised Topic Discovery (Zajic, Dorr and Schwartz 2004,
    section 3.2), a model of a document collection. This implementation scores single words: by
    Zipf's law the idf of a word grows with the logarithm of its frequency rank.

    Args:
        common: words by falling frequency.
        excluded: words that are never topics, such as UNK.
    """

    def __init__(self, common: Sequence[str], *, excluded: Collection[str] = ()) -> None:
        self._excluded = frozenset(excluded)
        self._ranks = {word: rank for rank, word in enumerate(common, start=1)}

    def score(self, norm: str, occurrences: int) -> float:
        """Return the tf-idf of a word."""
        rank = min(self._ranks.get(norm, MAX_RANK), MAX_RANK)
        return occurrences * log(1 + rank)

    def ranked(self, norms: Sequence[str], tags: Mapping[int, str]) -> list[int]:
        """Return the first position of each topic word, best first, ties in text order.

        Args:
            norms: words of the text.
            tags: parser tags by position; words without a tag count as nouns.
        """
        counts = Counter(norms)
        first: dict[str, int] = {}
        for position, norm in enumerate(norms):
            if norm not in self._excluded and _is_topical(norm, tags.get(position, "")):
                first.setdefault(norm, position)
        return sorted(
            first.values(),
            key=lambda position: (-self.score(norms[position], counts[norms[position]]), position),
        )


def _is_topical(norm: str, tag: str) -> bool:
    if norm in STOPWORDS or not any(c.isalpha() for c in norm):
        return False
    return not tag or tag.startswith(_NOUN_TAGS)
