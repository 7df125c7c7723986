"""TOPIARY baseline: topic words, then the trimmed first sentence.

Zajic, Dorr and Schwartz 2004, "BBN/UMD at DUC-2004: Topiary".
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import log

from readagain.classic.link_grammar import LinkParser
from readagain.classic.tree import Leaf, Phrase
from readagain.classic.trimming import trim
from readagain.corpus.chunks import UNKNOWN_SPELLINGS
from readagain.corpus.filters import STOPWORDS
from readagain.rouge.stemmer import stem
from readagain.text.detokenization import write_copied
from readagain.text.document import Document

MIN_FILLED = 2 / 3
"""Trimming rules must not make the clause smaller than this fraction of the byte limit."""
_KEPT_SYMBOLS = frozenset("$%£€¥&#")  # all other punctuation is removed to save bytes
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
    """

    def __init__(self, vocabulary: Sequence[str]) -> None:
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
            if _is_topical(norm, tags.get(position, "")):
                first_positions.setdefault(norm, position)
        return sorted(
            first_positions.values(),
            key=lambda position: (-self.score(norms[position], counts[norms[position]]), position),
        )


def _is_topical(norm: str, tag: str) -> bool:
    """Return whether a word may be a topic: a noun or an untagged word, no stop word or UNK."""
    if norm in STOPWORDS or norm in UNKNOWN_SPELLINGS or not any(char.isalpha() for char in norm):
        return False
    return not tag or tag.startswith(_NOUN_TAGS)


@dataclass(frozen=True)
class TopiaryHeadline:
    """Headline, and whether the first sentence of its text could be parsed."""

    text: str
    is_parsed: bool


def topiary_headline(
    document: Document, parser: LinkParser, topics: Topics, *, max_bytes: int
) -> TopiaryHeadline:
    """Return a headline of at most `max_bytes` bytes; it is empty for a text without words.

    If the first sentence cannot be parsed, it is treated as one clause without inner phrases.
    """
    sentence = document.sentences[0] if document.sentences else ()
    tree = parser.parse([document.surface(word) for word in sentence])
    tags = {} if tree is None else {leaf.position: leaf.tag for leaf in tree.leaves}
    topic_positions = topics.rank([word.norm for word in document.words], tags)
    flat_tree = Phrase("S", tuple(Leaf(word.norm, i) for i, word in enumerate(sentence)))
    composer = _Composer(document, tree or flat_tree, topic_positions, max_bytes)
    return TopiaryHeadline(composer.compose(), tree is not None)


@dataclass(frozen=True)
class _Composer:
    """Combination of topic words and a trimmed clause that fits into a byte limit.

    Words are given by their positions in the document. `tree` is the parse tree of the first
    sentence; `topics` are the topic words, best first.
    """

    document: Document
    tree: Phrase
    topics: Sequence[int]
    max_bytes: int

    def compose(self) -> str:
        """Return the headline: topics, then the clause.

        The clause is first trimmed to the whole byte limit. If no topic fits before the clause, the
        clause is trimmed again to make room for the best topic that it does not mention, as in the
        paper.
        """
        clause = self._trim(self.max_bytes)
        topics = self._select_topics(clause)
        unmentioned_topics = self._find_unmentioned_topics(clause)
        if not topics and unmentioned_topics:
            num_topic_bytes = self._num_bytes(unmentioned_topics[:1]) + 1  # and a space
            clause = self._trim(max(self.max_bytes - num_topic_bytes, 0))
            topics = self._select_topics(clause)
        return self._text([*topics, *clause])

    def _trim(self, max_bytes: int) -> list[int]:
        """Trim the tree, then drop words from the end, until `max_bytes` bytes are left."""
        clause = trim(
            self.tree,
            lambda clause: self._num_bytes(self._positions(clause)),
            max_size=max_bytes,
            min_size=int(MIN_FILLED * max_bytes),
        )
        positions = self._positions(clause)
        while self._num_bytes(positions) > max_bytes:
            positions.pop()
        return positions

    def _positions(self, clause: Phrase) -> list[int]:
        """Return the positions of a clause without punctuation."""
        words = self.document.words
        return [
            position
            for position in clause.positions
            if any(char.isalnum() or char in _KEPT_SYMBOLS for char in words[position].norm)
        ]

    def _find_unmentioned_topics(self, clause: Sequence[int]) -> list[int]:
        """Return the topics whose stem does not occur in the clause."""
        clause_stems = {self._stem(position) for position in clause}
        return [topic for topic in self.topics if self._stem(topic) not in clause_stems]

    def _select_topics(self, clause: Sequence[int]) -> list[int]:
        """Return the best topics that fit before the clause, each stem once."""
        topics: list[int] = []
        topic_stems: set[str] = set()
        for topic in self._find_unmentioned_topics(clause):
            is_new = self._stem(topic) not in topic_stems
            if is_new and self._num_bytes([*topics, topic, *clause]) <= self.max_bytes:
                topics.append(topic)
                topic_stems.add(self._stem(topic))
        return topics

    def _stem(self, position: int) -> str:
        return stem(self.document.words[position].norm)

    def _num_bytes(self, positions: Sequence[int]) -> int:
        return len(self._text(positions).encode("utf-8", "surrogatepass"))

    def _text(self, positions: Sequence[int]) -> str:
        """Return the words as spelled in the document; a tokenized text is joined by spaces."""
        if self.document.is_tokenized:
            words = (self.document.words[position] for position in positions)
            return " ".join(map(self.document.surface, words))
        return write_copied(self.document, positions=positions)
