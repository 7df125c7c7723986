"""TOPIARY: topic words, then the first sentence trimmed to the bytes that they leave.

Zajic, Dorr and Schwartz 2004, "BBN/UMD at DUC-2004: Topiary".
"""

from collections.abc import Sequence
from dataclasses import dataclass

from readagain.classic.link_grammar import Parser
from readagain.classic.prefix import BaselineSummary
from readagain.classic.topics import Topics
from readagain.classic.tree import Leaf, Phrase
from readagain.classic.trimming import trim
from readagain.rouge.stemmer import stem
from readagain.text.document import Document
from readagain.text.surface import SummaryToken, write_summary

# No cut may leave the clause shorter than this share of the room it has.
LEAST_FILLED = 2 / 3
_SIGNS = frozenset("$%£€¥&#")  # other punctuation takes bytes that words could use


@dataclass(frozen=True)
class TopiaryHeadline:
    """A headline, and whether the parser had a tree for its sentence."""

    summary: BaselineSummary
    is_parsed: bool


class Topiary:
    """Writes headlines of at most so many bytes.

    Args:
        parser: finds the phrases of the first sentence.
        topics: ranks the words of the text.
        max_bytes: the most bytes of a headline in print.
    """

    def __init__(self, parser: Parser, topics: Topics, *, max_bytes: int) -> None:
        self._parser = parser
        self._topics = topics
        self._max_bytes = max_bytes

    def write(self, document: Document) -> TopiaryHeadline:
        """Write the headline of a text; of one without words, an empty one.

        A sentence without a tree is trimmed as one flat clause, and cut after the last word that
        fits.
        """
        sentence = document.sentences[0] if document.sentences else ()
        tree = self._parser.parse([document.surface(word) for word in sentence])
        tags = {} if tree is None else {leaf.place: leaf.tag for leaf in tree.leaves}
        ranked = self._topics.ranked([word.norm for word in document.words], tags)
        flat = Phrase("S", tuple(Leaf(word.norm, place) for place, word in enumerate(sentence)))

        headline = _Headline(document, tree or flat, ranked)
        topics, clause = headline.within(self._max_bytes)
        words = tuple(
            SummaryToken(document.words[place].norm, copied_from=place)
            for place in (*topics, *clause)
        )
        text = headline.text((*topics, *clause))
        return TopiaryHeadline(BaselineSummary(text, words), tree is not None)


class _Headline:
    """The words of one text on their way into a headline, each by its place in the text.

    Args:
        document: the text.
        tree: over its first sentence.
        ranked: its topic words, the best first.
    """

    def __init__(self, document: Document, tree: Phrase, ranked: Sequence[int]) -> None:
        self._document = document
        self._tree = tree
        self._ranked = ranked

    def within(self, max_bytes: int) -> tuple[list[int], list[int]]:
        """Return topics and clause that fit together.

        The clause has all the room at first. If none is left over for a topic it makes room for
        the best one that it does not name itself, as in the paper; then as many follow as fit.
        """
        clause = self._clause(max_bytes)
        topics = self._topics_beside(clause, max_bytes)
        unnamed = self._unnamed(clause)
        if not topics and unnamed:
            room = max_bytes - self._size(unnamed[:1]) - 1
            clause = self._clause(max(room, 0))
            topics = self._topics_beside(clause, max_bytes)
        return topics, clause

    def text(self, places: Sequence[int]) -> str:
        """Print words as they stand in the text; in Gigaword form with a space between any two."""
        words = [self._document.words[place] for place in places]
        if self._document.is_tokenized:
            return " ".join(map(self._document.surface, words))
        copies = [
            SummaryToken(word.norm, copied_from=place)
            for place, word in zip(places, words, strict=True)
        ]
        return write_summary(copies, self._document, case="plain")

    def _size(self, places: Sequence[int]) -> int:
        return len(self.text(places).encode("utf-8", "surrogatepass"))

    def _clause(self, room: int) -> list[int]:
        """Trim the sentence, then drop words from its end, until it fits into so many bytes."""
        trimmed = trim(
            self._tree,
            lambda clause: self._size(self._spoken(clause)),
            max_size=room,
            min_size=int(LEAST_FILLED * room),
        )
        places = self._spoken(trimmed)
        while self._size(places) > room:
            places.pop()
        return places

    def _spoken(self, clause: Phrase) -> list[int]:
        """Leave out punctuation."""
        words = self._document.words
        return [
            place
            for place in clause.places
            if any(c.isalnum() or c in _SIGNS for c in words[place].norm)
        ]

    def _unnamed(self, clause: Sequence[int]) -> list[int]:
        """Keep the topics that the clause does not name in any form of the word."""
        said = {stem(self._document.words[place].norm) for place in clause}
        return [
            place for place in self._ranked if stem(self._document.words[place].norm) not in said
        ]

    def _topics_beside(self, clause: Sequence[int], max_bytes: int) -> list[int]:
        """Take topics, the best first, as long as they fit in front of the clause."""
        topics: list[int] = []
        said: set[str] = set()
        for place in self._unnamed(clause):
            word = stem(self._document.words[place].norm)
            if word not in said and self._size([*topics, place, *clause]) <= max_bytes:
                topics.append(place)
                said.add(word)
        return topics
