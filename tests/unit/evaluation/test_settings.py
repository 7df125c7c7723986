"""What a protocol asks of the search, and what the user changes of it."""

import pytest

from readagain.config.schema import DecodeSpec
from readagain.errors import ConfigError
from readagain.evaluation.settings import PROTOCOL_SETTINGS, DecodeSettings
from readagain.rouge.protocol import PROTOCOLS


def test_every_protocol_says_how_to_search():
    assert PROTOCOL_SETTINGS.keys() == PROTOCOLS.keys()


def test_duc_asks_for_fifteen_words_and_a_beam_of_ten():
    duc = DecodeSettings(beam=10, min_words=15, max_words=15)
    assert PROTOCOL_SETTINGS["duc2003"] == PROTOCOL_SETTINGS["duc2004"] == duc


def test_gigaword_leaves_the_model_its_own_settings():
    own = DecodeSpec(beam_size=7, max_words=9, length_penalty=0.5)
    assert PROTOCOL_SETTINGS["gigaword"].resolved(own) == vars(own)


def test_what_is_asked_for_comes_first():
    found = DecodeSettings(beam=3).over(PROTOCOL_SETTINGS["duc2004"])
    assert found == DecodeSettings(beam=3, min_words=15, max_words=15)


def test_a_maximum_lowers_a_minimum_that_nobody_asked_for():
    found = DecodeSettings(max_words=8).over(PROTOCOL_SETTINGS["duc2004"])
    assert (found.min_words, found.max_words) == (8, 8)


def test_a_minimum_above_the_maximum_is_refused():
    with pytest.raises(ConfigError, match="--min-words is 16 and --max-words is 15; expected"):
        DecodeSettings(min_words=16).over(PROTOCOL_SETTINGS["duc2004"])
