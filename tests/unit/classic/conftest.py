"""Parse trees from bracket notation."""

import re

import pytest

from readagain.classic.tree import Leaf, Phrase


@pytest.fixture
def tree():
    """Function that parses "(S (NP rain) (VP fell))" into a tree."""

    def read(brackets):
        open_phrases, place = [("", [])], 0
        for sign in re.findall(r"\([A-Z]+|\)|[^\s()]+", brackets):
            if sign == ")":
                label, children = open_phrases.pop()
                open_phrases[-1][1].append(Phrase(label, tuple(children)))
            elif sign.startswith("("):
                open_phrases.append((sign[1:], []))
            else:
                open_phrases[-1][1].append(Leaf(sign, place))
                place += 1
        [whole] = open_phrases[0][1]
        return whole

    return read
