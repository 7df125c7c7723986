"""Fixture that reads trees written with brackets."""

import re

import pytest

from readagain.classic.tree import Leaf, Phrase


@pytest.fixture
def tree():
    """Return a function that reads a tree such as "(S (NP rain) (VP fell))".

    The words get the positions 0, 1, ... from left to right.
    """

    def read(brackets):
        open_phrases, position = [("", [])], 0
        for token in re.findall(r"\([A-Z]+|\)|[^\s()]+", brackets):
            if token == ")":
                label, children = open_phrases.pop()
                open_phrases[-1][1].append(Phrase(label, tuple(children)))
            elif token.startswith("("):
                open_phrases.append((token[1:], []))
            else:
                open_phrases[-1][1].append(Leaf(token, position))
                position += 1
        [whole] = open_phrases[0][1]
        return whole

    return read
