"""Typographic characters in the Treebank's spelling."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from readagain.text.typography import plain_typography


@pytest.mark.parametrize(
    ("written", "plain"),
    [
        ("“No,” he said.", '"No," he said.'),
        ("«Non» and „Nein“", '"Non" and "Nein"'),
        ("the dog’s tail", "the dog's tail"),
        ("a ‘big’ win", "a `big' win"),
        ("'Big' win", "`Big' win"),
        ("(‘big’)", "(`big')"),
        ("“‘Big’ win”", '"`Big\' win"'),
        ("the ’90s, ’em and ‘tis", "the '90s, 'em and 'tis"),
        ("rock ’n’ roll", "rock 'n' roll"),
        ("co‑operate at −5", "co-operate at -5"),
        ("now—or…", "now―or⋯"),
        ("nothing to do", "nothing to do"),
    ],
)
def test_quotes_and_dashes_become_plain(written, plain):
    assert plain_typography(written) == plain


@given(st.text(alphabet=st.characters()) | st.text(alphabet="'‘’“”\" aS9(—-"))
def test_the_length_stays_the_same_and_twice_is_once(text):
    plain = plain_typography(text)
    assert len(plain) == len(text)
    assert plain_typography(plain) == plain
