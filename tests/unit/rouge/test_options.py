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
        stem=True,
        max_words=10,
        pooling="best",
        samples=50,
        confidence=90,
    )
    assert options.flags() == "-n 4 -x -m -l 10 -c 90 -r 50 -f B -p 0.5 -t 0"


def test_measures_are_in_the_script_order():
    assert RougeOptions(max_ngram=3).measures == ["rouge-1", "rouge-2", "rouge-3", "rouge-l"]
    assert RougeOptions(max_ngram=1, rouge_l=False).measures == ["rouge-1"]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"max_ngram": 0}, "max_ngram is 0; expected 1 or more"),
        ({"max_bytes": 0}, "max_bytes is 0; expected 1 or more"),
        ({"max_words": 0}, "max_words is 0; expected 1 or more"),
        ({"samples": 1}, "samples is 1; expected 2 or more"),
        ({"confidence": 101}, "confidence is 101; expected 0 to 100"),
        ({"max_bytes": 75, "max_words": 10}, "max_bytes is 75 and max_words is 10"),
        ({"pooling": "mean"}, "pooling is 'mean'; expected sum or best"),
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
