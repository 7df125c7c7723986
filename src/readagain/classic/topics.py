"""Topic words of a text by tf-idf."""

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from math import log

from readagain.corpus.filters import STOPWORDS

MAX_RANK = 2000
"""Largest frequency rank; rarer words and words outside the vocabulary get this rank."""
# First letters of Link Grammar's tags of nouns (n, s, u) and names (l, b, m, f).
_NOUN_TAGS = ("n", "s", "l", "b", "m", "f", "u")


class Topics:
    """Ranking of the words of a text by tf-idf.

    TOPIARY takes its topics from Unsupervised Topic Discovery (Zajic, Dorr and Schwartz 2004,
    section 3.2), a model of a document collection. This class scores single words and needs only a
    vocabulary: by Zipf's law, the idf of a word grows with the logarithm of its frequency rank.

    Args:
        vocabulary: words in the order of their frequency, the most frequent first.
        excluded: words that are never topics, such as UNK.
    """

    def __init__(self, vocabulary: Sequence[str], *, excluded: Collection[str] = ()) -> None:
        self._excluded = frozenset(excluded)
        self._ranks = {word: rank for rank, word in enumerate(vocabulary, start=1)}

    def score(self, norm: str, num_occurrences: int) -> float:
        """Return the tf-idf of a word that occurs `num_occurrences` times in the text."""
        rank = min(self._ranks.get(norm, MAX_RANK), MAX_RANK)
        return num_occurrences * log(1 + rank)

    def rank(self, norms: Sequence[str], tags: Mapping[int, str]) -> list[int]:
        """Return the first position of each topic word, best first, ties in text order.

        Args:
            norms: normalized words of the text.
            tags: part-of-speech tags by position; a word without a tag may be a topic.
        """
        counts = Counter(norms)
        first_positions: dict[str, int] = {}
        for position, norm in enumerate(norms):
            if norm not in self._excluded and _is_topical(norm, tags.get(position, "")):
                first_positions.setdefault(norm, position)
        return sorted(
            first_positions.values(),
            key=lambda position: (-self.score(norms[position], counts[norms[position]]), position),
        )


def _is_topical(norm: str, tag: str) -> bool:
    """Return whether a word may be a topic: a noun or an untagged word, but no stop word."""
    if norm in STOPWORDS or not any(char.isalpha() for char in norm):
        return False
    return not tag or tag.startswith(_NOUN_TAGS)
