"""Options: the script's flags, and invalid values."""

import pytest

from readagain.errors import ArgumentError, ConfigError
from readagain.rouge.options import (
    PROTOCOLS,
    Protocol,
    RougeOptions,
    corpus_protocol,
    find_protocol,
)


def test_options_give_the_script_flags():
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


def test_flags_name_the_jackknife():
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
        ({"wlcs_weight": 0.0}, "wlcs_weight is 0.0; expected more than 0"),
        ({"max_bytes": 75, "max_words": 10}, "max_bytes is 75 and max_words is 10"),
        ({"skip_unigrams": "with"}, "skip_unigrams is 'with' and skip_gap is not set"),
        ({"pooling": "mean"}, "pooling is 'mean'; expected sum, best or jackknife"),
        ({"unit": "word"}, "unit is 'word'; expected item or token"),
        ({"skip_gap": 1, "skip_unigrams": "x"}, "skip_unigrams is 'x'; expected without, with"),
        ({"max_ngram": 0, "rouge_l": False}, "no measure"),
    ],
)
def test_options_reject_invalid_values(options, message):
    with pytest.raises(ConfigError, match=message):
        RougeOptions(**options)


def test_protocols_equal_those_of_the_papers():
    assert PROTOCOLS["gigaword"].options.flags().startswith("-n 2 -m -c 95 -r 1000 -f A")
    assert PROTOCOLS["gigaword"].main_score == "f1"
    for name in ("duc2003", "duc2004"):
        assert PROTOCOLS[name].options.flags().startswith("-n 2 -m -b 75 -c 95 -r 1000 -f A")
        assert PROTOCOLS[name].main_score == "recall"


def test_unknown_protocol_suggests_the_closest():
    with pytest.raises(ConfigError, match="no protocol 'duc2014'; did you mean 'duc2004'"):
        find_protocol("duc2014")


def test_unknown_protocol_lists_all_names():
    with pytest.raises(ConfigError, match="choose one of gigaword, duc2003, duc2004"):
        find_protocol("xsum")


def test_protocol_rejects_an_unknown_main_score():
    with pytest.raises(ConfigError, match="main_score is 'F'; expected recall, precision or f1"):
        Protocol(main_score="F")


def test_unicode_protocol_has_a_flag():
    assert PROTOCOLS["unicode"].options.flags().endswith("(Unicode words)")
    assert corpus_protocol(is_tokenized=True) == "gigaword"
    assert corpus_protocol(is_tokenized=False) == "unicode"


def test_unicode_words_have_no_stemmer():
    with pytest.raises(ArgumentError, match="the stemmer is English"):
        RougeOptions(unicode=True, stem=True)
