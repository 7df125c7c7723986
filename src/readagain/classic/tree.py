"""Constituent trees and the removal of nodes."""

from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import TypeAlias


@dataclass(frozen=True)
class Leaf:
    """Word of a sentence, or one of several parts into which the parser split a word.

    Args:
        word: the word, or part of a word, in lower case.
        position: index of the whole word in the sentence; parts of one word share it.
        tag: part-of-speech tag of the parser; may be empty.
    """

    word: str
    position: int
    tag: str = ""


@dataclass(frozen=True)
class Phrase:
    """Constituent of a sentence.

    Args:
        label: S (clause), SBAR (subordinate clause), NP (noun phrase), VP (verb phrase), PP
            (prepositional phrase), ADJP (adjective phrase), ADVP (adverb phrase) and others.
        children: words and phrases from left to right.
    """

    label: str
    children: tuple["Node", ...]

    @cached_property
    def leaves(self) -> tuple[Leaf, ...]:
        """Leaves from left to right."""
        return tuple(
            leaf
            for child in self.children
            for leaf in (child.leaves if isinstance(child, Phrase) else (child,))
        )

    @cached_property
    def positions(self) -> tuple[int, ...]:
        """Distinct word positions in increasing order."""
        return tuple(sorted({leaf.position for leaf in self.leaves}))

    @property
    def words(self) -> tuple[str, ...]:
        """Words of the leaves."""
        return tuple(leaf.word for leaf in self.leaves)

    @property
    def child_phrases(self) -> list["Phrase"]:
        """Children that are phrases."""
        return [child for child in self.children if isinstance(child, Phrase)]

    def walk_from_right(self) -> Iterator["Phrase"]:
        """Yield this phrase and all phrases below it, from right to left, children first."""
        for child in reversed(self.child_phrases):
            yield from child.walk_from_right()
        yield self

    def __str__(self) -> str:
        children = (
            str(child) if isinstance(child, Phrase) else child.word for child in self.children
        )
        return f"({self.label} {' '.join(children)})"


Node: TypeAlias = Phrase | Leaf


def remove_nodes(tree: Phrase, is_removed: Callable[[Node], bool]) -> Phrase:
    """Return a copy of the tree without the nodes for which `is_removed` returns True.

    Phrases that become empty are removed too, except the root.
    """
    children: list[Node] = []
    for child in tree.children:
        if is_removed(child):
            continue
        if isinstance(child, Phrase):
            child = remove_nodes(child, is_removed)
            if not child.children:
                continue
        children.append(child)
    return Phrase(tree.label, tuple(children))


def remove_by_identity(tree: Phrase, nodes: Collection[Node]) -> Phrase:
    """Return a copy of the tree without `nodes`, which are compared by identity.

    Equal nodes may occur several times: both "bye" of a split "bye-bye" are equal leaves.
    """
    ids = {id(node) for node in nodes}
    return remove_nodes(tree, lambda node: id(node) in ids)
