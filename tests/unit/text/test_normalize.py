"""The form models see."""

import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

from readagain.text.normalize import NormalForms, normalize


@pytest.mark.parametrize(
    ("token", "form"),
    [
        ("Senate", "senate"),
        ("3.5m", "#.#m"),
        ("1,000", "#,###"),
        ("Mid-2010s", "mid-####s"),
        ("٣", "#"),
        ("(", "-lrb-"),
        (")", "-rrb-"),
        ("[", "-lsb-"),
        ("]", "-rsb-"),
        ("{", "-lcb-"),
        ("}", "-rcb-"),
        ('"', "''"),
        ("``", "``"),
        ("—", "--"),
        ("―", "--"),
        ("⋯", "..."),
        ("–", "--"),
        ("2010–12", "####-##"),
        ("…", "..."),
        ("É", "é"),
        ("E\u0301", "é"),
        ("co\u00adop", "coop"),
        ("\u200b", "\u200b"),
        ("\ud800x", "\ufffdx"),
    ],
)
def test_each_kind_of_token_has_its_form(token, form):
    assert normalize(token) == form


def test_a_form_of_any_character_is_one_word_that_can_be_written():
    for code in range(sys.maxunicode + 1):
        character = chr(code)
        if not character.isspace():
            form = normalize(character)
            assert form.split() == [form], f"U+{code:04X}"
            form.encode("utf-8")


@given(st.text(alphabet=st.characters(exclude_categories=["Zs", "Zl", "Zp", "Cc"]), min_size=1))
def test_normalizing_twice_is_normalizing_once(token):
    assert normalize(normalize(token)) == normalize(token)


def test_a_full_table_of_forms_starts_again_and_stays_right():
    forms = NormalForms(max_size=2)
    assert [forms[token] for token in ("A", "B", "C", "A")] == ["a", "b", "c", "a"]
    assert len(forms) == 2
