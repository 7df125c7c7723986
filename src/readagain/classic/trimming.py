"""Hedge Trimmer: a sentence cut down to a headline by rules over its tree.

Dorr, Zajic and Schwartz 2003, "Hedge Trimmer: a parse-and-trim approach to headline generation",
section 4, with what Zajic, Dorr and Schwartz 2004 add for TOPIARY. The rules were written for the
trees of another parser; where Link Grammar's differ, the comment says what we look at instead.
"""

from collections.abc import Callable, Iterator

from readagain.classic.tree import Leaf, Node, Phrase, without, without_node
from readagain.classic.wordlists import (
    AROUND_TIME,
    AUXILIARIES,
    CONJUNCTIONS,
    DETERMINERS,
    NAME_TAGS,
    PUNCTUATION,
    TIME_WORDS,
)

Rule = Callable[[Phrase], Phrase]
Shortening = Callable[[Phrase], Iterator[Phrase]]


def lowest_leftmost_clause(tree: Phrase) -> Phrase:
    """Choose the lowest leftmost S that has a subject NP and a VP.

    Down the leftmost S of each S: "Rebels agree to talks, officials said" is about the rebels.
    Where no S on that way has both, the first S from the top that does; without any, the tree.
    """
    chosen = None
    clause: Phrase | None = tree
    while clause is not None:
        if _is_clause(clause):
            chosen = clause
        clause = next((child for child in _phrases(clause) if child.label == "S"), None)
    if chosen is not None:
        return chosen
    level = [tree]
    while level:
        for phrase in level:
            if _is_clause(phrase):
                return phrase
        level = [child for phrase in level for child in _phrases(phrase)]
    return tree


def remove_preposed_adjuncts(clause: Phrase) -> Phrase:
    """Remove what stands before the subject: "In a move that surprised many, the bank ..."."""
    subject = next((child for child in _phrases(clause) if child.label == "NP"), None)
    if subject is None or not _is_clause(clause):
        return clause
    first = next(place for place, child in enumerate(clause.children) if child is subject)
    return Phrase(clause.label, clause.children[first:])


def remove_determiners(clause: Phrase) -> Phrase:
    """Remove a, an and the. Link Grammar has no phrase for them: they are found by their word."""
    return without(clause, lambda node: isinstance(node, Leaf) and node.word in DETERMINERS)


def remove_time_expressions(clause: Phrase) -> Phrase:
    """Remove phrases of nothing but time, with their preposition: "on Monday", "last week"."""
    return without(clause, lambda node: isinstance(node, Phrase) and _is_time(node))


def remove_complementizers(clause: Phrase) -> Phrase:
    """Remove the "that" which opens a clause after a verb of saying."""

    def opened(phrase: Phrase) -> Phrase:
        children: tuple[Node, ...] = tuple(
            opened(child) if isinstance(child, Phrase) else child for child in phrase.children
        )
        first = children[0] if children else None
        is_that = isinstance(first, Leaf) and first.word == "that"
        if phrase.label == "SBAR" and is_that and len(children) > 1:
            children = children[1:]
        return Phrase(phrase.label, children)

    return opened(clause)


def remove_auxiliaries(clause: Phrase) -> Phrase:
    """Remove modal verbs, and the forms of be, have and do, as headlines do: "Rates to fall".

    What Link Grammar takes for a name stays: "Theresa May". Its nouns do not, as it often takes
    the "will" of "the league will vote" for one.
    """
    return without(
        clause,
        lambda node: (
            isinstance(node, Leaf) and node.word in AUXILIARIES and node.tag not in NAME_TAGS
        ),
    )


def remove_relative_clauses(clause: Phrase) -> Iterator[Phrase]:
    """XP over XP: of an NP that begins with an NP keep that one, the rightmost first.

    What goes is what follows it: relative clauses, participles, appositions between commas.
    """
    for phrase in _from_the_right(clause):
        first = phrase.children[0]
        if not (
            phrase.label == "NP"
            and isinstance(first, Phrase)
            and first.label == "NP"
            and any(_is_clausal(child) for child in phrase.children[1:])
        ):
            continue
        for child in reversed(phrase.children[1:]):
            if _is_clausal(child):
                yield without_node(clause, child)


def remove_conjuncts(clause: Phrase) -> Iterator[Phrase]:
    """Of phrases joined by a conjunction keep the first, the rightmost joint first."""
    for phrase in _from_the_right(clause):
        for place, child in reversed(list(enumerate(phrase.children))):
            if place and isinstance(child, Leaf) and child.word in CONJUNCTIONS:
                cut = {id(each) for each in phrase.children[place:]}
                yield without(clause, lambda node, cut=cut: id(node) in cut)  # type: ignore[misc]


def remove_trailing_pps(clause: Phrase) -> Iterator[Phrase]:
    """Remove prepositional phrases, the rightmost and deepest first."""
    yield from _without_each(clause, "PP")


def remove_trailing_sbars(clause: Phrase) -> Iterator[Phrase]:
    """Remove subordinate clauses, the rightmost and deepest first."""
    yield from _without_each(clause, "SBAR")


LOW_CONTENT: tuple[Rule, ...] = (
    remove_determiners,
    remove_time_expressions,
    remove_complementizers,
    remove_auxiliaries,
)
"""Applied once, to every sentence."""

SHORTENING: tuple[Shortening, ...] = (
    lambda clause: iter([remove_preposed_adjuncts(clause)]),
    remove_relative_clauses,
    remove_conjuncts,
    remove_trailing_pps,
    remove_trailing_sbars,
)
"""Applied cut by cut, one after the other, until what is left fits."""


def trim(
    tree: Phrase, size: Callable[[Phrase], int], *, max_size: int, min_size: int = 1
) -> Phrase:
    """Cut the tree of a sentence until it is short enough, or no rule finds more to cut.

    Args:
        tree: of the whole sentence.
        size: measures what is left of it.
        max_size: what it is to come down to.
        min_size: a cut that leaves less is passed over. The papers know no such floor; Link
            Grammar often hangs half a sentence on a phrase, which would go with it.
    """
    clause = lowest_leftmost_clause(tree)
    for rule in LOW_CONTENT:
        clause = rule(clause)
    for shorten in SHORTENING:
        while size(clause) > max_size:
            shorter = next(
                (cut for cut in shorten(clause) if min_size <= size(cut) < size(clause)), None
            )
            if shorter is None:
                break
            clause = shorter
    return clause


def _without_each(clause: Phrase, label: str) -> Iterator[Phrase]:
    for phrase in _from_the_right(clause):
        if phrase.label == label and phrase is not clause:
            yield without_node(clause, phrase)


def _from_the_right(clause: Phrase) -> Iterator[Phrase]:
    """Visit phrases from the end of the sentence, and deeper ones first."""
    for child in reversed(_phrases(clause)):
        yield from _from_the_right(child)
    yield clause


def _is_clause(phrase: Phrase) -> bool:
    """Tell whether a phrase is an S with an NP and, somewhere behind it, a VP."""
    labels = [child.label for child in _phrases(phrase)]
    return phrase.label == "S" and "NP" in labels and "VP" in labels[labels.index("NP") :]


def _is_clausal(node: Node) -> bool:
    return isinstance(node, Phrase) and node.label in ("SBAR", "S", "VP", "NP", "ADJP")


def _is_time(phrase: Phrase) -> bool:
    words = [word for word in phrase.words if word not in PUNCTUATION]
    return (
        phrase.label in ("NP", "PP", "ADVP")
        and any(word in TIME_WORDS for word in words)
        and all(word in TIME_WORDS or word in AROUND_TIME or _is_number(word) for word in words)
    )


def _is_number(word: str) -> bool:
    return any(c.isdigit() for c in word) and not any(c.isalpha() for c in word)


def _phrases(phrase: Phrase) -> list[Phrase]:
    return [child for child in phrase.children if isinstance(child, Phrase)]
