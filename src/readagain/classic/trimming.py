"""Hedge Trimmer: rules that trim the tree of a sentence to a headline.

Dorr, Zajic and Schwartz 2003, "Hedge Trimmer: a parse-and-trim approach to headline generation",
section 4, with the additions of Zajic, Dorr and Schwartz 2004 for TOPIARY. The rules were written
for the trees of another parser; docstrings describe what differs for Link Grammar.
"""

from collections.abc import Callable, Iterator

from readagain.classic.tree import Leaf, Node, Phrase, without, without_node

Rule = Callable[[Phrase], Phrase]
Shortening = Callable[[Phrase], Iterator[Phrase]]


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


# Hedge Trimmer keeps other determiners: no, this, every, their.
_DETERMINERS = _words("a an the")

_AUXILIARIES = _words(
    """
    is are was were be been being has have had do does did will would may might can could should
    must shall
    """
)

# Link Grammar's tags of names: women, men, either, places, months.
_NAME_TAGS = _words("f m b l i")

_CONJUNCTIONS = _words("and or but &")

_PUNCTUATION = _words(", ; : -- - . ? ! ...")

_TIME_WORDS = _words(
    """
    monday tuesday wednesday thursday friday saturday sunday today yesterday tomorrow tonight
    january february march april may june july august september october november december
    jan. feb. mar. apr. jun. jul. aug. sep. sept. oct. nov. dec. mon. tue. wed. thu. fri. sat. sun.
    morning afternoon evening night noon midnight weekend week weeks month months year years
    day days hour hours minute minutes decade decades a.m. p.m. ago earlier later
    """
)

# Words that may occur in a time expression.
_AROUND_TIME = _words(
    """
    a an the this that last next past late early on in at by since until during after before for
    over from to of and recent few several first second third same one two three four five six
    seven eight nine ten
    """
)


def lowest_leftmost_clause(tree: Phrase) -> Phrase:
    """Return the lowest leftmost S that has a subject NP and a VP.

    It descends to the leftmost S of each S: "Rebels agree to talks, officials said" is about the
    rebels. If no S on this path has both, return the highest S that has both, or else the tree.
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
    """Remove everything before the subject: "In a move that surprised many, the bank ..."."""
    subject = next((child for child in _phrases(clause) if child.label == "NP"), None)
    if subject is None or not _is_clause(clause):
        return clause
    first = next(index for index, child in enumerate(clause.children) if child is subject)
    return Phrase(clause.label, clause.children[first:])


def remove_determiners(clause: Phrase) -> Phrase:
    """Remove a, an and the by their word; Link Grammar has no phrase for them."""
    return without(clause, lambda node: isinstance(node, Leaf) and node.word in _DETERMINERS)


def remove_time_expressions(clause: Phrase) -> Phrase:
    """Remove time expressions with their preposition: "on Monday", "last week"."""
    return without(clause, lambda node: isinstance(node, Phrase) and _is_time(node))


def remove_complementizers(clause: Phrase) -> Phrase:
    """Remove "that" at the start of a subordinate clause."""
    starts = [
        phrase.children[0]
        for phrase in clause.phrases()
        if phrase.label == "SBAR" and len(phrase.children) > 1
    ]
    ids = {id(node) for node in starts if isinstance(node, Leaf) and node.word == "that"}
    return without(clause, lambda node: id(node) in ids)


def remove_auxiliaries(clause: Phrase) -> Phrase:
    """Remove modal verbs and forms of be, have and do: "Rates to fall".

    Words tagged as names stay ("Theresa May"). Words tagged as nouns do not, since Link Grammar
    often tags the "will" of "the league will vote" as a noun.
    """
    return without(
        clause,
        lambda node: (
            isinstance(node, Leaf) and node.word in _AUXILIARIES and node.tag not in _NAME_TAGS
        ),
    )


def remove_relative_clauses(clause: Phrase) -> Iterator[Phrase]:
    """Yield the clause without one modifier of an NP over NP, the rightmost first.

    Modifiers follow the inner NP: relative clauses, participles, appositions.
    """
    for phrase in _from_the_right(clause):
        first = phrase.children[0]
        if not (
            phrase.label == "NP"
            and isinstance(first, Phrase)
            and first.label == "NP"
            and any(_is_modifier(child) for child in phrase.children[1:])
        ):
            continue
        for child in reversed(phrase.children[1:]):
            if _is_modifier(child):
                yield without_node(clause, child)


def remove_conjuncts(clause: Phrase) -> Iterator[Phrase]:
    """Yield the clause without a conjunction and what follows it, the rightmost first."""
    for phrase in _from_the_right(clause):
        for index, child in reversed(list(enumerate(phrase.children))):
            if index and isinstance(child, Leaf) and child.word in _CONJUNCTIONS:
                ids = {id(each) for each in phrase.children[index:]}
                yield without(clause, lambda node, ids=ids: id(node) in ids)  # type: ignore[misc]


def remove_trailing(clause: Phrase, label: str) -> Iterator[Phrase]:
    """Yield the clause without one phrase with a label, the rightmost and deepest first."""
    for phrase in _from_the_right(clause):
        if phrase.label == label and phrase is not clause:
            yield without_node(clause, phrase)


LOW_CONTENT: tuple[Rule, ...] = (
    remove_determiners,
    remove_time_expressions,
    remove_complementizers,
    remove_auxiliaries,
)
"""Rules applied once to every sentence."""

SHORTENING: tuple[Shortening, ...] = (
    lambda clause: iter([remove_preposed_adjuncts(clause)]),
    remove_relative_clauses,
    remove_conjuncts,
    lambda clause: remove_trailing(clause, "PP"),
    lambda clause: remove_trailing(clause, "SBAR"),
)
"""Rules applied in turn, one removal at a time, until the clause is short enough."""


def trim(
    tree: Phrase, size: Callable[[Phrase], int], *, max_size: int, min_size: int = 1
) -> Phrase:
    """Trim the tree of a sentence to `max_size`, or until no rule applies.

    Args:
        tree: tree of the whole sentence.
        size: size of a clause.
        max_size: maximum size.
        min_size: removals that leave less are skipped. The papers have no such limit, but Link
            Grammar often attaches half a sentence to one phrase.
    """
    clause = lowest_leftmost_clause(tree)
    for rule in LOW_CONTENT:
        clause = rule(clause)
    for shorten in SHORTENING:
        while size(clause) > max_size:
            shorter = next(
                (each for each in shorten(clause) if min_size <= size(each) < size(clause)), None
            )
            if shorter is None:
                break
            clause = shorter
    return clause


def _from_the_right(clause: Phrase) -> Iterator[Phrase]:
    """Yield phrases from right to left, deeper ones first."""
    for child in reversed(_phrases(clause)):
        yield from _from_the_right(child)
    yield clause


def _is_clause(phrase: Phrase) -> bool:
    """Return whether a phrase is an S with an NP and a later VP."""
    labels = [child.label for child in _phrases(phrase)]
    return phrase.label == "S" and "NP" in labels and "VP" in labels[labels.index("NP") :]


def _is_modifier(node: Node) -> bool:
    """Return whether a node, if it follows an NP in the same phrase, modifies it."""
    return isinstance(node, Phrase) and node.label in ("SBAR", "S", "VP", "NP", "ADJP")


def _is_time(phrase: Phrase) -> bool:
    words = [word for word in phrase.words if word not in _PUNCTUATION]
    return (
        phrase.label in ("NP", "PP", "ADVP")
        and any(word in _TIME_WORDS for word in words)
        and all(word in _TIME_WORDS or word in _AROUND_TIME or _is_number(word) for word in words)
    )


def _is_number(word: str) -> bool:
    return any(c.isdigit() for c in word) and not any(c.isalpha() for c in word)


def _phrases(phrase: Phrase) -> list[Phrase]:
    return [child for child in phrase.children if isinstance(child, Phrase)]
