"""Options: the script's spelling, and what is refused."""

import pytest

from readagain.errors import ConfigError
from readagain.rouge.options import RougeOptions
from readagain.rouge.protocol import PROTOCOLS, Protocol, find_protocol


def test_options_are_written_as_for_the_script():
    options = RougeOptions(
        max_ngram=4,
        rouge_l=False,
        wlcs_weight=1.2,
        skip_gap=-1,
        skip_unigrams="both",
        stem=True,
        stop_words=frozenset({"the"}),
        max_words=10,
        pooling="best",
        alpha=0.25,
        unit="token",
        samples=50,
        confidence=90,
    )
    flags = "-n 4 -x -w 1.2 -2 -1 -U -m -s -l 10 -c 90 -r 50 -f B -p 0.25 -t 1"
    assert options.flags() == flags


def test_the_jackknife_is_named_though_the_script_has_no_flag_for_it():
    assert RougeOptions(pooling="jackknife").flags().endswith("-f A -p 0.5 -t 0 (jackknife)")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"max_ngram": -1}, "max_ngram is -1; expected 0 or more"),
        ({"max_bytes": 0}, "max_bytes is 0; expected 1 or more"),
        ({"max_words": 0}, "max_words is 0; expected 1 or more"),
        ({"samples": 1}, "samples is 1; expected 2 or more"),
        ({"skip_gap": -2}, "skip_gap is -2; expected -1 or more"),
        ({"alpha": 1.5}, r"alpha is 1\.5; expected 0 to 1"),
        ({"confidence": 101}, "confidence is 101; expected 0 to 100"),
        ({"wlcs_weight": 0.0}, "wlcs_weight is 0; expected more than 0"),
        ({"max_bytes": 75, "max_words": 10}, "max_bytes is 75 and max_words is 10"),
        ({"skip_unigrams": "with"}, "skip_unigrams is 'with' but skip_gap is not set"),
        ({"pooling": "mean"}, "pooling is 'mean'; expected sum, best, jackknife"),
        ({"unit": "word"}, "unit is 'word'; expected item, token"),
        ({"skip_gap": 1, "skip_unigrams": "x"}, "skip_unigrams is 'x'; expected without, with"),
        ({"max_ngram": 0, "rouge_l": False}, "nothing to measure"),
    ],
)
def test_options_that_cannot_be_honoured_are_refused(options, message):
    with pytest.raises(ConfigError, match=message):
        RougeOptions(**options)


def test_protocols_are_those_of_the_papers():
    assert PROTOCOLS["gigaword"].options.flags().startswith("-n 2 -m -c 95 -r 1000 -f A")
    assert PROTOCOLS["gigaword"].headline == "f1"
    for name in ("duc2003", "duc2004"):
        assert PROTOCOLS[name].options.flags().startswith("-n 2 -m -b 75 -c 95 -r 1000 -f A")
        assert PROTOCOLS[name].headline == "recall"


def test_an_unknown_protocol_is_answered_with_the_nearest():
    with pytest.raises(ConfigError, match="no protocol 'duc2014'; did you mean 'duc2004'"):
        find_protocol("duc2014")


def test_a_protocol_unlike_any_is_answered_with_all():
    with pytest.raises(ConfigError, match="choose one of gigaword, duc2003, duc2004"):
        find_protocol("xsum")


def test_a_headline_is_one_of_three_figures():
    with pytest.raises(ConfigError, match="headline is 'F'; expected recall, precision, f1"):
        Protocol(headline="F")
