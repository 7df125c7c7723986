"""Constituent trees: phrases over the words of a sentence, and cuts that leave a tree."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import TypeAlias


@dataclass(frozen=True)
class Leaf:
    """A word of a sentence, or a part of one that the parser took apart.

    Args:
        word: in lower case.
        place: which word of the sentence it is, from 0.
        tag: what kind of word the parser took it for, in the parser's own terms; may be empty.
    """

    word: str
    place: int
    tag: str = ""


@dataclass(frozen=True)
class Phrase:
    """A constituent: S, NP, VP, PP, SBAR, ..., over phrases and words in order."""

    label: str
    children: tuple["Node", ...]

    @cached_property
    def leaves(self) -> tuple[Leaf, ...]:
        """The words under it, from left to right."""
        return tuple(
            leaf
            for child in self.children
            for leaf in (child.leaves if isinstance(child, Phrase) else (child,))
        )

    @cached_property
    def places(self) -> tuple[int, ...]:
        """The words of the sentence that it holds, each once, in the order of the sentence."""
        return tuple(sorted({leaf.place for leaf in self.leaves}))

    @property
    def words(self) -> tuple[str, ...]:
        """The words under it as the parser has them."""
        return tuple(leaf.word for leaf in self.leaves)

    def phrases(self) -> Iterator["Phrase"]:
        """Visit every phrase, this one first, then from left to right and from top to bottom."""
        yield self
        for child in self.children:
            if isinstance(child, Phrase):
                yield from child.phrases()

    def __str__(self) -> str:
        return f"({self.label} {' '.join(map(_spelled, self.children))})"


Node: TypeAlias = Phrase | Leaf


def without(tree: Phrase, is_cut: Callable[[Node], bool]) -> Phrase:
    """Cut every node for which `is_cut` says so; phrases that lose all they held go with it.

    The tree itself stays, even if it is left with nothing.
    """
    children: list[Node] = []
    for child in tree.children:
        if is_cut(child):
            continue
        if isinstance(child, Phrase):
            child = without(child, is_cut)
            if not child.children:
                continue
        children.append(child)
    return Phrase(tree.label, tuple(children))


def without_node(tree: Phrase, node: Node) -> Phrase:
    """Cut one node, found by identity: its like elsewhere in the tree stays."""
    return without(tree, lambda each: each is node)


def _spelled(node: Node) -> str:
    return str(node) if isinstance(node, Phrase) else node.word
