"""What a protocol asks of the search, and what the user changes of it."""

from dataclasses import replace

import pytest

from readagain.config.schema import DecodeSpec
from readagain.errors import ConfigError
from readagain.evaluation.settings import (
    PAPER_SETTINGS,
    PROTOCOL_SETTINGS,
    DecodeSettings,
)
from readagain.rouge.protocol import PROTOCOLS


def test_every_protocol_says_how_to_search():
    assert PROTOCOL_SETTINGS.keys() == PAPER_SETTINGS.keys() == PROTOCOLS.keys()


def test_the_papers_rows_have_fifteen_words_and_a_beam_of_ten_on_duc():
    duc = DecodeSettings(beam=10, min_words=15, max_words=15, min_bytes=0, max_bytes=0)
    assert PAPER_SETTINGS["duc2003"] == PAPER_SETTINGS["duc2004"] == duc


def test_duc_asks_for_the_bytes_that_are_scored():
    for name in ("duc2003", "duc2004"):
        assert PROTOCOL_SETTINGS[name].max_bytes == PROTOCOLS[name].options.max_bytes == 75


def test_gigaword_leaves_the_model_its_own_settings():
    own = DecodeSpec(beam_size=7, max_words=9, length_penalty=0.5)
    assert PROTOCOL_SETTINGS["gigaword"].resolved(own) == vars(own)


def test_what_is_asked_for_comes_first():
    found = DecodeSettings(beam=3).over(PROTOCOL_SETTINGS["duc2004"])
    assert found == replace(PROTOCOL_SETTINGS["duc2004"], beam=3)


def test_a_maximum_lowers_a_minimum_that_nobody_asked_for():
    found = DecodeSettings(max_words=8).over(PAPER_SETTINGS["duc2004"])
    assert (found.min_words, found.max_words) == (8, 8)
    found = DecodeSettings(max_bytes=40).over(PROTOCOL_SETTINGS["duc2004"])
    assert (found.min_bytes, found.max_bytes) == (40, 40)


def test_no_maximum_leaves_the_minimum_as_it_is():
    found = DecodeSettings(max_bytes=0).over(PROTOCOL_SETTINGS["duc2004"])
    assert (found.min_bytes, found.max_bytes) == (61, 0)


def test_a_minimum_above_the_maximum_is_refused():
    with pytest.raises(ConfigError, match="--min-words is 21 and --max-words is 20; expected"):
        DecodeSettings(min_words=21).over(PROTOCOL_SETTINGS["duc2004"])


def test_a_minimum_of_bytes_above_the_maximum_is_refused():
    with pytest.raises(ConfigError, match="--min-bytes is 80 and --max-bytes is 75; expected"):
        DecodeSettings(min_bytes=80).over(PROTOCOL_SETTINGS["duc2004"])
