"""Fields of specs and arguments of functions."""

from collections.abc import Sequence
from pathlib import Path
from typing import Literal

import pytest

from readagain.config.fields import argument_fields


def paint(
    wall: str | Path,
    *,
    colours: str | Sequence[str] = (),
    coats: int | None = None,
    finish: Literal["matt", "gloss"] | None = None,
    primer: bool = False,
) -> None:
    """Paint a wall.

    Args:
        wall: wall to paint.
        colours: colours, which are mixed in the order
            of the list.
        coats: number of coats: 1 or more; None: by the colour.
        finish: finish of the last of `coats`.

    Returns:
        None: nothing.
    """


def test_help_text_is_that_of_the_docstring():
    texts = {name: field.help for name, field in argument_fields(paint).items()}
    assert texts == {
        "wall": "Wall to paint.",
        "colours": "Colours, which are mixed in the order of the list.",
        "coats": "Number of coats: 1 or more.",
        "finish": "Finish of the last of `coats`.",
        "primer": "",
    }


def test_meaning_of_none_is_separate():
    fields = argument_fields(paint)
    assert (fields["coats"].unset, fields["finish"].unset) == ("by the colour", "")


@pytest.mark.parametrize(
    ("name", "value_type", "default"),
    [
        ("colours", list[str], ()),
        ("coats", int, None),
        ("finish", Literal["matt", "gloss"], None),
        ("primer", bool, False),
    ],
)
def test_type_and_default_are_those_of_the_signature(name, value_type, default):
    field = argument_fields(paint)[name]
    assert (field.value_type, field.default) == (value_type, default)
