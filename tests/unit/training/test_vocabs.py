"""Vocabularies of a run: size, extension and coverage of the corpus."""

import numpy as np
import pytest

from readagain.corpus.lexicon import Lexicon
from readagain.errors import ConfigError
from readagain.presets import PRESETS
from readagain.text.vocab import SPECIAL_TOKENS, Vocab
from readagain.training.vocabs import (
    Vocabs,
    build_vocabs,
    check_sizes,
    coverage,
    coverage_warnings,
    extend_vocabs,
    size_notes,
)

LEXICON = Lexicon(
    ["the", "bridge", "opens", "quay"], np.array([6, 2, 1, 1]), np.array([0, 3, 2, 0])
)
ONLY_BRIDGE = Vocabs(Vocab([*SPECIAL_TOKENS, "bridge"]), Vocab([*SPECIAL_TOKENS, "bridge"]))


def test_vocabs_are_limited_by_the_corpus():
    vocabs = build_vocabs(PRESETS["tiny"], LEXICON)
    assert vocabs.source.words == (*SPECIAL_TOKENS, "the", "bridge", "opens", "quay")
    assert vocabs.summary.words == (*SPECIAL_TOKENS, "bridge", "opens")
    run = vocabs.apply_sizes(PRESETS["tiny"])
    assert (run.source_vocab_size, run.vocab_size) == (8, 6)
    assert size_notes(PRESETS["tiny"], vocabs) == [
        "source_vocab_size is reduced from 4,000 to 8, all source words of the corpus",
        "vocab_size is reduced from 2,000 to 6, all summary words of the corpus",
    ]
    assert size_notes(run, vocabs) == []


def test_check_sizes_refuses_impossible_size():
    vocabs = build_vocabs(PRESETS["tiny"], LEXICON)
    check_sizes({"vocab_size": 6, "train.epochs": 1}, vocabs)
    with pytest.raises(ConfigError) as caught:
        check_sizes({"source_vocab_size": 9, "vocab_size": 700}, vocabs)
    assert str(caught.value) == (
        "changes: 2 problems\n"
        "  source_vocab_size is 9, but there are 8 source words, the four special tokens included; "
        "set it to 8, or remove the setting\n"
        "  vocab_size is 700, but there are 6 summary words, the four special tokens included; "
        "set it to 6, or remove the setting"
    )


def test_extend_vocabs_appends_frequent_words():
    extended = extend_vocabs(ONLY_BRIDGE, LEXICON, 2)
    assert extended.source.words == (*SPECIAL_TOKENS, "bridge", "the", "opens")
    assert extended.summary.words == (*SPECIAL_TOKENS, "bridge", "opens")


def test_extend_vocabs_respects_maximum():
    foreign = Vocab([*SPECIAL_TOKENS, "brücke"])
    extended = extend_vocabs(Vocabs(foreign, foreign), LEXICON, 1)
    assert extended.source.words == (*SPECIAL_TOKENS, "brücke", "the")


def test_extend_vocabs_by_zero_changes_nothing():
    assert extend_vocabs(ONLY_BRIDGE, LEXICON, 0) == ONLY_BRIDGE


def test_coverage_counts_word_occurrences():
    assert coverage(LEXICON, "source", ONLY_BRIDGE.source) == 2 / 10
    assert coverage(LEXICON, "summary", ONLY_BRIDGE.summary) == 3 / 5


def test_low_coverage_is_warned_about():
    source, summary = coverage_warnings(LEXICON, ONLY_BRIDGE)
    assert "source vocabulary of 5 words contains only 20% of the source word occurrences" in source
    assert "contains only 60% of the summary word occurrences" in summary
    assert coverage_warnings(LEXICON, build_vocabs(PRESETS["tiny"], LEXICON)) == []
