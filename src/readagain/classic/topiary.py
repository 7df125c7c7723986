"""TOPIARY baseline: topic words, then the trimmed first sentence.

Zajic, Dorr and Schwartz 2004, "BBN/UMD at DUC-2004: Topiary".
"""

from collections.abc import Sequence
from dataclasses import dataclass

from readagain.classic.link_grammar import LinkParser
from readagain.classic.topics import Topics
from readagain.classic.tree import Leaf, Phrase
from readagain.classic.trimming import trim
from readagain.rouge.stemmer import stem
from readagain.text.detokenization import write_copied
from readagain.text.document import Document

MIN_FILLED = 2 / 3
"""Trimming must leave a clause of at least this share of the available bytes."""
_SYMBOLS = frozenset("$%£€¥&#")  # kept; other punctuation is removed to save bytes


@dataclass(frozen=True)
class TopiaryHeadline:
    """Headline, and whether its sentence could be parsed."""

    text: str
    is_parsed: bool


def topiary_headline(
    document: Document, parser: LinkParser, topics: Topics, *, max_bytes: int
) -> TopiaryHeadline:
    """Return the headline of a text, at most `max_bytes` long, empty for a text without words.

    A sentence that cannot be parsed is one flat clause and is truncated.
    """
    sentence = document.sentences[0] if document.sentences else ()
    tree = parser.parse([document.surface(word) for word in sentence])
    tags = {} if tree is None else {leaf.position: leaf.tag for leaf in tree.leaves}
    ranked = topics.ranked([word.norm for word in document.words], tags)
    leaves = tuple(Leaf(word.norm, position) for position, word in enumerate(sentence))
    headline = _Headline(document, tree or Phrase("S", leaves), ranked)
    chosen, clause = headline.within(max_bytes)
    return TopiaryHeadline(headline.text((*chosen, *clause)), tree is not None)


class _Headline:
    """Headline of one text as word positions.

    `ranked` are the positions of its topic words, best first.
    """

    def __init__(self, document: Document, tree: Phrase, ranked: Sequence[int]) -> None:
        self._document = document
        self._tree = tree
        self._ranked = ranked

    def within(self, max_bytes: int) -> tuple[list[int], list[int]]:
        """Return the positions of topics and clause, together at most `max_bytes` long.

        The clause is first trimmed to `max_bytes`. If no topic fits beside it, it is trimmed again
        to make room for the best topic that it does not mention, as in the paper. Further topics
        fill the rest.
        """
        clause = self._clause(max_bytes)
        topics = self._topics_beside(clause, max_bytes)
        unmentioned = self._unmentioned(clause)
        if not topics and unmentioned:
            num_left = max_bytes - self._size(unmentioned[:1]) - 1
            clause = self._clause(max(num_left, 0))
            topics = self._topics_beside(clause, max_bytes)
        return topics, clause

    def text(self, positions: Sequence[int]) -> str:
        """Return the text of words: as in the source, or joined by spaces for tokenized text."""
        if self._document.is_tokenized:
            words = (self._document.words[position] for position in positions)
            return " ".join(map(self._document.surface, words))
        return write_copied(self._document, positions=positions)

    def _size(self, positions: Sequence[int]) -> int:
        return len(self.text(positions).encode("utf-8", "surrogatepass"))

    def _clause(self, max_bytes: int) -> list[int]:
        """Trim the sentence, then drop words from its end, to at most `max_bytes` bytes."""
        trimmed = trim(
            self._tree,
            lambda clause: self._size(self._without_punctuation(clause)),
            max_size=max_bytes,
            min_size=int(MIN_FILLED * max_bytes),
        )
        positions = self._without_punctuation(trimmed)
        while self._size(positions) > max_bytes:
            positions.pop()
        return positions

    def _without_punctuation(self, clause: Phrase) -> list[int]:
        """Return the positions of a clause without punctuation."""
        words = self._document.words
        return [
            position
            for position in clause.positions
            if any(c.isalnum() or c in _SYMBOLS for c in words[position].norm)
        ]

    def _unmentioned(self, clause: Sequence[int]) -> list[int]:
        """Return the topics whose stem does not occur in the clause."""
        mentioned = {stem(self._document.words[position].norm) for position in clause}
        return [
            position
            for position in self._ranked
            if stem(self._document.words[position].norm) not in mentioned
        ]

    def _topics_beside(self, clause: Sequence[int], max_bytes: int) -> list[int]:
        """Return the best topics that fit before the clause."""
        topics: list[int] = []
        mentioned: set[str] = set()
        for position in self._unmentioned(clause):
            word = stem(self._document.words[position].norm)
            if word not in mentioned and self._size([*topics, position, *clause]) <= max_bytes:
                topics.append(position)
                mentioned.add(word)
        return topics
