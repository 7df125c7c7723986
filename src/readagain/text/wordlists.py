"""Word lists from TOML files, in which each list is a string of words separated by spaces."""

import tomllib
from importlib.resources import files


def load_word_lists(package: str, file_name: str) -> dict[str, frozenset[str]]:
    """Load the word lists of a TOML file in a package; return them by name."""
    content = tomllib.loads((files(package) / file_name).read_text(encoding="utf-8"))
    return {name: frozenset(words.split()) for name, words in content.items()}


ENGLISH_WORDS = load_word_lists(__package__, "english.toml")
"""English word lists for sentence splitting and capitalization, by name."""
