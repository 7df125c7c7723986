"""What a protocol asks of the search."""

from readagain.config.options import override_decode
from readagain.config.schema import DecodeSpec
from readagain.evaluation.network import PAPER_SETTINGS, PROTOCOL_SETTINGS
from readagain.rouge.protocol import PROTOCOLS


def test_every_protocol_says_how_to_search():
    assert PROTOCOL_SETTINGS.keys() == PAPER_SETTINGS.keys() == PROTOCOLS.keys()


def test_the_papers_rows_have_fifteen_words_and_a_beam_of_ten_on_duc():
    duc = {"beam_size": 10, "min_words": 15, "max_words": 15, "min_bytes": 0, "max_bytes": 0}
    assert PAPER_SETTINGS["duc2003"] == PAPER_SETTINGS["duc2004"] == duc


def test_duc_asks_for_the_bytes_that_are_scored():
    for name in ("duc2003", "duc2004"):
        assert PROTOCOL_SETTINGS[name]["max_bytes"] == PROTOCOLS[name].options.max_bytes == 75


def test_where_recall_is_measured_a_vote_counts_it():
    for name, settings in PROTOCOL_SETTINGS.items():
        voting = override_decode(DecodeSpec(consensus=0.3), settings)
        assert (voting.consensus_by == "recall") == (PROTOCOLS[name].headline == "recall")
        assert voting.consensus == 0.3  # a model without a vote goes on without


def test_gigaword_leaves_the_model_its_own_settings():
    assert PROTOCOL_SETTINGS["gigaword"] == {}
