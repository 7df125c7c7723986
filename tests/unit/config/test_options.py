"""Options of a `summarize` call."""

import numpy as np
import pytest

from readagain.config.options import OPTIONS, override_decode, resolve_decode, with_defaults
from readagain.config.schema import DecodeSpec
from readagain.errors import ArgumentError

MODEL = DecodeSpec(
    beam_size=7, min_words=5, max_words=9, min_bytes=30, max_bytes=75, word_reward=0.5
)


@pytest.mark.parametrize("options", [{}, {"beam": None, "max_words": None, "begin": None}])
def test_unset_options_keep_the_models_settings(options):
    assert resolve_decode(MODEL, options) == MODEL


def test_given_options_override_the_model():
    decode = resolve_decode(MODEL, {"beam": np.int64(3), "diversity": 1, "n_best": 3})
    assert (decode.beam_size, decode.diversity, decode.word_reward) == (3, 1.0, 0.5)
    assert type(decode.beam_size) is int


@pytest.mark.parametrize("maximum", [1, 4])
@pytest.mark.parametrize("unit", ["words", "bytes"])
def test_maximum_lowers_the_models_minimum(unit, maximum):
    decode = resolve_decode(MODEL, {f"max_{unit}": maximum})
    assert getattr(decode, f"min_{unit}") == getattr(decode, f"max_{unit}") == maximum


def test_maximum_of_zero_keeps_the_minimum():
    decode = override_decode(MODEL, {"max_bytes": 0})
    assert (decode.min_bytes, decode.max_bytes) == (30, 0)


@pytest.mark.parametrize(
    ("options", "message"),
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
        ({"n_best": 8}, "n_best is 8; expected 1 to 7, the beam size"),
        ({"n_best": 0}, "n_best is 0; expected 1 or more"),
        ({"n_best": True}, "n_best is True; expected a whole number"),
        ({"case": "upper"}, "case is 'upper'; expected sentence, headline or plain"),
        ({"begin": 3}, "begin is 3; expected text"),
        (
            {"beam": True, "max_words": 2.5},
            r"beam is True; expected a whole number; max_words is 2\.5; expected a whole number",
        ),
    ],
)
def test_invalid_options_are_reported_by_name(options, message):
    with pytest.raises(ArgumentError, match=f"^{message}"):
        resolve_decode(MODEL, options)


def test_missing_options_get_their_defaults():
    options = with_defaults({"n_best": 3, "beam": None})
    assert options == {name: option.default for name, option in OPTIONS.items()} | {"n_best": 3}


def test_unknown_option_is_a_type_error():
    with pytest.raises(TypeError, match="unknown option 'beams'; expected one of max_words"):
        resolve_decode(MODEL, {"beams": 3})


def test_every_option_has_a_help_text():
    assert all(option.help for option in OPTIONS.values())
