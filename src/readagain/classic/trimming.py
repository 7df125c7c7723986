"""Hedge Trimmer: rules that trim the parse tree of a sentence to a headline.

`trim` chooses a clause and removes words of little content from it. While the clause is too long,
`trim` then removes one phrase at a time.

The rules are those of Dorr, Zajic and Schwartz 2003, "Hedge Trimmer: a parse-and-trim approach to
headline generation", section 4, with the additions of Zajic, Dorr and Schwartz 2004 for TOPIARY.
The papers use BBN's parser. Where the trees of Link Grammar need a different rule, the docstring of
the rule says so.
"""

from collections.abc import Callable, Iterator

from readagain.classic.tree import Leaf, Phrase, remove_by_identity, remove_nodes


def _word_set(text: str) -> frozenset[str]:
    return frozenset(text.split())


# Hedge Trimmer keeps all other determiners, such as no, this, every and their.
_ARTICLES = _word_set("a an the")

_AUXILIARIES = _word_set(
    """
    is are was were be been being has have had do does did will would may might can could should
    must shall
    """
)

# Link Grammar's tags: f for names of women, m of men, b of both, l of places, i of months.
_NAME_TAGS = _word_set("f m b l i")

_CONJUNCTIONS = _word_set("and or but &")

_PUNCTUATION = _word_set(", ; : -- - . ? ! ...")

# Labels of the phrases that modify a noun if they follow its NP: clauses, participles, appositions.
_MODIFIER_LABELS = ("SBAR", "S", "VP", "NP", "ADJP")

# Each time expression has at least one of these words.
_TIME_WORDS = _word_set(
    """
    monday tuesday wednesday thursday friday saturday sunday today yesterday tomorrow tonight
    january february march april may june july august september october november december
    jan. feb. mar. apr. jun. jul. aug. sep. sept. oct. nov. dec. mon. tue. wed. thu. fri. sat. sun.
    morning afternoon evening night noon midnight weekend week weeks month months year years
    day days hour hours minute minutes decade decades a.m. p.m. ago earlier later
    """
)

# All other words of a time expression are numbers or one of these words.
_TIME_MODIFIERS = _word_set(
    """
    a an the this that last next past late early on in at by since until during after before for
    over from to of and recent few several first second third same one two three four five six
    seven eight nine ten
    """
)


def find_lowest_leftmost_clause(tree: Phrase) -> Phrase:
    """Return the lowest leftmost S that has a subject NP and a VP.

    The search goes from the root to its first child S, to the first child S of that S, and so on.
    In "Rebels agree to talks, officials said" it ends at "Rebels agree to talks". If no S on this
    path has an NP and a VP, the result is the highest S that has both, or else the whole tree.
    """
    lowest = None
    phrase: Phrase | None = tree
    while phrase is not None:
        if _has_subject_and_verb(phrase):
            lowest = phrase
        phrase = next((child for child in phrase.child_phrases if child.label == "S"), None)
    if lowest is not None:
        return lowest
    level = [tree]  # breadth-first search
    while level:
        for phrase in level:
            if _has_subject_and_verb(phrase):
                return phrase
        level = [child for phrase in level for child in phrase.child_phrases]
    return tree


def remove_preposed_adjuncts(clause: Phrase) -> Phrase:
    """Remove everything before the subject: "In a move that surprised many, the bank ..."."""
    if not _has_subject_and_verb(clause):
        return clause
    subject = next(
        index
        for index, child in enumerate(clause.children)
        if isinstance(child, Phrase) and child.label == "NP"
    )
    return Phrase(clause.label, clause.children[subject:])


def remove_articles(clause: Phrase) -> Phrase:
    """Remove a, an and the. Link Grammar does not label determiners, so a word list is used."""
    return remove_nodes(clause, lambda node: isinstance(node, Leaf) and node.word in _ARTICLES)


def remove_time_expressions(clause: Phrase) -> Phrase:
    """Remove time expressions with their preposition: "on Monday", "last week"."""
    return remove_nodes(clause, lambda node: isinstance(node, Phrase) and _is_time_expression(node))


def remove_complementizers(clause: Phrase) -> Phrase:
    """Remove "that" at the start of a subordinate clause."""
    first_nodes = [
        phrase.children[0]
        for phrase in clause.walk_from_right()
        if phrase.label == "SBAR" and len(phrase.children) > 1
    ]
    complementizers = [
        node for node in first_nodes if isinstance(node, Leaf) and node.word == "that"
    ]
    return remove_by_identity(clause, complementizers)


def remove_auxiliaries(clause: Phrase) -> Phrase:
    """Remove modal verbs and forms of be, have and do.

    Words tagged as names stay, such as the "May" of "Theresa May". Words tagged as nouns are
    removed, because Link Grammar often tags the "will" of "the league will vote" as a noun.
    """
    return remove_nodes(
        clause,
        lambda node: (
            isinstance(node, Leaf) and node.word in _AUXILIARIES and node.tag not in _NAME_TAGS
        ),
    )


def try_without_np_modifier(clause: Phrase) -> Iterator[Phrase]:
    """Yield copies of the clause, each without one modifier of a noun.

    In the tree, an outer NP has as children the NP of the noun and then the modifiers: relative
    clauses, participles and appositions. The copy without the rightmost modifier comes first.
    """
    for phrase in clause.walk_from_right():
        first = phrase.children[0]
        is_np_over_np = phrase.label == "NP" and isinstance(first, Phrase) and first.label == "NP"
        if is_np_over_np:
            for child in reversed(phrase.children[1:]):
                if isinstance(child, Phrase) and child.label in _MODIFIER_LABELS:
                    yield remove_by_identity(clause, [child])


def try_without_conjunct(clause: Phrase) -> Iterator[Phrase]:
    """Yield copies of the clause, each without one conjunction and the nodes after it.

    Only nodes of the same phrase are removed. The copy without the rightmost conjunction comes
    first. A conjunction at the start of a phrase stays.
    """
    for phrase in clause.walk_from_right():
        for index, child in reversed(list(enumerate(phrase.children))):
            if index > 0 and isinstance(child, Leaf) and child.word in _CONJUNCTIONS:
                yield remove_by_identity(clause, phrase.children[index:])


def try_without_phrase(clause: Phrase, label: str) -> Iterator[Phrase]:
    """Yield copies of the clause, each without one phrase that has the label.

    The copy without the rightmost phrase comes first; inner phrases come before outer ones.
    """
    for phrase in clause.walk_from_right():
        if phrase.label == label and phrase is not clause:
            yield remove_by_identity(clause, [phrase])


LOW_CONTENT_RULES: tuple[Callable[[Phrase], Phrase], ...] = (
    remove_articles,
    remove_time_expressions,
    remove_complementizers,
    remove_auxiliaries,
)
"""Rules that `trim` always applies, once each."""

SHORTENING_RULES: tuple[Callable[[Phrase], Iterator[Phrase]], ...] = (
    lambda clause: iter([remove_preposed_adjuncts(clause)]),
    try_without_np_modifier,
    try_without_conjunct,
    lambda clause: try_without_phrase(clause, "PP"),
    lambda clause: try_without_phrase(clause, "SBAR"),
)
"""Rules that yield shorter copies of a clause, in the order in which they are tried.

A rule is applied again and again until it yields no acceptable copy; then the next rule follows.
"""


def trim(tree: Phrase, size: Callable[[Phrase], int], *, max_size: int, min_size: int) -> Phrase:
    """Choose a clause of the tree and trim it to at most `max_size`, or until no rule applies.

    Args:
        tree: tree of the whole sentence.
        size: function that returns the size of a clause.
        max_size: largest size of the result, if the rules can reach it.
        min_size: smallest size that a removal may leave. The papers have no such limit, but Link
            Grammar often attaches half a sentence to one phrase.
    """
    clause = find_lowest_leftmost_clause(tree)
    for remove in LOW_CONTENT_RULES:
        clause = remove(clause)
    for shorten in SHORTENING_RULES:
        while size(clause) > max_size:
            shorter = next(
                (copy for copy in shorten(clause) if min_size <= size(copy) < size(clause)), None
            )
            if shorter is None:
                break
            clause = shorter
    return clause


def _has_subject_and_verb(phrase: Phrase) -> bool:
    """Return whether a phrase is an S with an NP and a later VP."""
    labels = [child.label for child in phrase.child_phrases]
    return phrase.label == "S" and "NP" in labels and "VP" in labels[labels.index("NP") :]


def _is_time_expression(phrase: Phrase) -> bool:
    words = [word for word in phrase.words if word not in _PUNCTUATION]
    return (
        phrase.label in ("NP", "PP", "ADVP")
        and any(word in _TIME_WORDS for word in words)
        and all(
            word in _TIME_WORDS or word in _TIME_MODIFIERS or _is_number(word) for word in words
        )
    )


def _is_number(word: str) -> bool:
    return any(char.isdigit() for char in word) and not any(char.isalpha() for char in word)
