"""Constituent trees and the removal of nodes."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import TypeAlias


@dataclass(frozen=True)
class Leaf:
    """Word of a sentence, or a part of one that the parser split.

    Args:
        word: word in lower case.
        position: index of the word in the sentence.
        tag: tag of the parser; may be empty.
    """

    word: str
    position: int
    tag: str = ""


@dataclass(frozen=True)
class Phrase:
    """Constituent such as S, NP, VP, PP or SBAR."""

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

    def phrases(self) -> Iterator["Phrase"]:
        """Yield every phrase, top-down and from left to right."""
        yield self
        for child in self.children:
            if isinstance(child, Phrase):
                yield from child.phrases()

    def __str__(self) -> str:
        children = (str(each) if isinstance(each, Phrase) else each.word for each in self.children)
        return f"({self.label} {' '.join(children)})"


Node: TypeAlias = Phrase | Leaf


def without(tree: Phrase, is_removed: Callable[[Node], bool]) -> Phrase:
    """Return the tree without the nodes for which `is_removed`, and without empty phrases.

    The root stays even if it is empty.
    """
    children: list[Node] = []
    for child in tree.children:
        if is_removed(child):
            continue
        if isinstance(child, Phrase):
            child = without(child, is_removed)
            if not child.children:
                continue
        children.append(child)
    return Phrase(tree.label, tuple(children))


def without_node(tree: Phrase, node: Node) -> Phrase:
    """Return the tree without one node, compared by identity."""
    return without(tree, lambda each: each is node)
