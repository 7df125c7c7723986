"""What a feature-rich encoder tells apart in source words, by number: the order is the number."""

PARTS_OF_SPEECH = (
    "other",
    "noun",
    "verb",
    "adjective",
    "adverb",
    "pronoun",
    "determiner",
    "preposition",
    "conjunction",
    "auxiliary",
    "particle",
    "number",
    "punctuation",
    "noun or verb",
)
NOUN, VERB, NOUN_OR_VERB = map(PARTS_OF_SPEECH.index, ("noun", "verb", "noun or verb"))
BEFORE_VERBS = tuple(map(PARTS_OF_SPEECH.index, ("particle", "auxiliary", "pronoun")))
"""After one of these, a word that can be a noun or a verb is a verb; elsewhere a noun."""

ENTITIES = ("none", "place", "people", "organization", "title", "date", "number")

NUM_FREQUENCIES = 5
"""Bins of how often a word stands in its source: once, twice, ..., this often or more."""
NUM_RARITIES = 10
"""Bins of how rare a word is in the corpus."""

TABLE_SIZES = (len(PARTS_OF_SPEECH), len(ENTITIES), NUM_FREQUENCIES, NUM_RARITIES)
