"""Decoding settings applied to the search."""

import numpy as np
from table_model import TableModel

from readagain.config.schema import DecodeSpec
from readagain.search.decoding import decode_sources
from readagain.search.model import SourceBatch
from readagain.text.vocab import BOS, EOS

SOURCES = SourceBatch(
    source_ids=np.array([[[4]]]), lengths=np.array([[1]]), source_ext_ids=np.array([[4]])
)


def decode_with(spec: DecodeSpec, *, n_best: int = 1) -> list[list[int]]:
    """Return the summaries of a model: "4" has probability 0.4, "5 6" and "5 7" have 0.3."""
    table = np.zeros((8, 8))
    table[BOS, [4, 5]] = 0.4, 0.6
    table[5, [6, 7]] = 0.5
    table[[4, 6, 7], EOS] = 1.0
    (hypotheses,) = decode_sources(TableModel(table), SOURCES, spec, n_best=n_best)
    return [hypothesis.ids.tolist() for hypothesis in hypotheses]


def test_diversity_keeps_another_first_word():
    table = np.zeros((8, 8))
    table[BOS, [4, 5]] = 0.7, 0.3
    table[4, [6, 7]] = 0.5
    table[[5, 6, 7], EOS] = 1.0

    def first_words(diversity):
        decode = DecodeSpec(beam_size=2, diversity=diversity)
        (hypotheses,) = decode_sources(TableModel(table), SOURCES, decode, n_best=2)
        return {hypothesis.ids[0] for hypothesis in hypotheses}

    assert first_words(0.0) == {4}
    assert first_words(5.0) == {4, 5}


def test_decode_takes_most_probable_summary():
    assert decode_with(DecodeSpec(beam_size=4)) == [[4]]


def test_word_reward_prefers_longer_summaries():
    # "4" has log 0.4 = -0.92, "5 6" and "5 7" have log 0.3 = -1.20.
    assert decode_with(DecodeSpec(beam_size=4, word_reward=0.28)) == [[4]]
    assert decode_with(DecodeSpec(beam_size=4, word_reward=0.3)) == [[5, 6]]
    assert decode_with(DecodeSpec(beam_size=4, word_reward=0.3), n_best=3) == [[5, 6], [5, 7], [4]]


def test_mbr_takes_the_summary_that_shares_most_words():
    # Expected F1 of "4": 0.4; of "5 6", which shares one word of two with "5 7": 0.3 + 0.3 / 2.
    assert decode_with(DecodeSpec(beam_size=4, consensus=1.0)) == [[5, 6]]
    assert decode_with(DecodeSpec(beam_size=4, consensus=1.0), n_best=3) == [[5, 6], [5, 7], [4]]


def test_mbr_by_recall_prefers_longer_overlap():
    table = np.zeros((8, 8))
    table[BOS, [4, 5]] = 0.3, 0.7
    table[4, [EOS, 5]] = 2 / 3, 1 / 3
    table[5, EOS] = 1.0

    def best(utility):
        # "5" has probability 0.7, "4" has 0.2, and "4 5", with the words of both, has 0.1.
        decode = DecodeSpec(beam_size=4, consensus=1.0, consensus_by=utility)
        ((hypothesis,),) = decode_sources(TableModel(table), SOURCES, decode)
        return hypothesis.ids.tolist()

    assert best("f1") == [5]
    assert best("recall") == [4, 5]


def test_no_repeat_ngram_bans_doubled_words():
    table = np.zeros((8, 8))
    table[BOS, 5] = 1.0
    table[5, [5, 6, EOS]] = 0.6, 0.1, 0.3
    table[6, EOS] = 1.0

    def best(**settings):
        decode = DecodeSpec(beam_size=2, min_words=2, max_words=2, **settings)
        ((hypothesis,),) = decode_sources(TableModel(table), SOURCES, decode)
        return hypothesis.ids.tolist()

    assert best() == [5, 5]
    assert best(no_repeat_ngram=2) == [5, 6]
