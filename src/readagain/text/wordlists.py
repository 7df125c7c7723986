"""Word lists in TOML files: words of one list are separated by spaces."""

import tomllib
from importlib.resources import files


def load_word_lists(package: str, file_name: str) -> dict[str, frozenset[str]]:
    """Return the word lists of a file in a package, by name."""
    content = tomllib.loads((files(package) / file_name).read_text(encoding="utf-8"))
    return {name: frozenset(words.split()) for name, words in content.items()}


ENGLISH_WORDS = load_word_lists(__package__, "english.toml")
"""English word lists for sentence splitting and capitals."""
