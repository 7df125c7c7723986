"""What is asked of a search comes before what a model does by itself."""

import pytest

from readagain.config.decode import NO_OVERRIDES, DecodeOverrides
from readagain.config.schema import DecodeSpec
from readagain.errors import ArgumentError

OWN = DecodeSpec(beam_size=7, min_words=5, max_words=9, min_bytes=30, max_bytes=75, coverage=0.5)


def test_who_asks_for_nothing_gets_the_models_own_search():
    assert NO_OVERRIDES.applied_to(OWN) == OWN


def test_what_is_asked_for_comes_first():
    asked = DecodeOverrides(beam=3, diversity=1)
    assert asked.over(DecodeOverrides(beam=4, max_words=8)) == DecodeOverrides(
        beam=3, max_words=8, diversity=1
    )
    found = asked.applied_to(OWN)
    assert (found.beam_size, found.diversity, found.coverage) == (3, 1.0, 0.5)


@pytest.mark.parametrize("most", [1, 4])
@pytest.mark.parametrize("unit", ["words", "bytes"])
def test_a_maximum_lowers_a_minimum_that_nobody_asked_for(unit, most):
    found = DecodeOverrides(**{f"max_{unit}": most}).applied_to(OWN)
    assert getattr(found, f"min_{unit}") == getattr(found, f"max_{unit}") == most


def test_no_maximum_leaves_the_minimum_as_it_is():
    found = DecodeOverrides(max_bytes=0).applied_to(OWN)
    assert (found.min_bytes, found.max_bytes) == (30, 0)


@pytest.mark.parametrize(
    ("asked", "message"),
    [
        ({"min_words": 10}, "min_words is 10; expected at most max_words, which is 9"),
        ({"min_bytes": 80}, "min_bytes is 80; expected at most max_bytes, which is 75"),
        ({"min_words": 4, "max_words": 3}, "min_words is 4; expected at most max_words"),
        ({"beam": 0}, "beam is 0; expected 1 to 1000"),
        ({"beam": "{0}"}, r"beam is '\{0\}'; expected a whole number"),
        ({"beam": 100_000}, "beam is 100000; expected 1 to 1000"),
        ({"max_words": 1001}, "max_words is 1001; expected 1 to 1000"),
        ({"diversity": float("inf")}, "diversity is inf; expected 0 or more"),
        ({"diversity": float("nan")}, "diversity is nan; expected 0 or more"),
        ({"diversity": -1}, r"diversity is -1\.0; expected 0 or more"),
        (
            {"beam": True, "max_words": 2.5},
            r"beam is True; expected a whole number; max_words is 2\.5; expected a whole number",
        ),
    ],
)
def test_what_cannot_be_honoured_is_told_by_the_name_of_its_argument(asked, message):
    with pytest.raises(ArgumentError, match=f"^{message}"):
        DecodeOverrides(**asked).applied_to(OWN)
