import numpy as np
import pytest

from readagain.corpus.lexicon import UNKNOWN_ID, Lexicon
from readagain.corpus.shards import CorpusShard
from readagain.corpus.statistics import COVERAGE_SIZES, NOT_IN_VOCAB, Statistics, summary_vocab_ids


def test_summary_vocab_ids_match_the_vocabulary():
    lexicon = Lexicon(
        ["storm", "the", "calm", "brook", "gone"], np.ones(5, np.int64), np.array([2, 7, 1, 2, 0])
    )
    vocab = lexicon.vocab("summary", 100)
    vocab_ids = summary_vocab_ids(lexicon)
    assert [vocab.words[id] for id in vocab_ids[:4]] == ["storm", "the", "calm", "brook"]
    assert vocab_ids[4] == vocab_ids[UNKNOWN_ID] == NOT_IN_VOCAB


@pytest.fixture
def described():
    """Statistics of two pairs, as texts and summaries: copied known => known copied rare, and
    known | unknown => unknown known."""
    statistics = Statistics()
    known, copied, rare = 0, 1, 2
    vocab_ids = np.array([4, NOT_IN_VOCAB, 20_000, NOT_IN_VOCAB])
    pairs = CorpusShard.from_lengths(
        words=np.array([copied, known, known, copied, rare, known, UNKNOWN_ID, UNKNOWN_ID, known]),
        segment_lengths=np.array([2, 3, 1, 1, 2]),
        pair_segments=np.array([2, 3]),
        origins=np.zeros(2, np.uint16),
    )
    statistics.add(pairs, vocab_ids)
    return statistics.describe()


def test_coverage_counts_generated_or_copied_words(described):
    # There are five summary words. Vocabularies of every size contain 'known', which occurs twice;
    # those of 30,000 words or more contain 'rare'. 'copied' and 'known' occur in their texts. The
    # unknown word never counts as covered.
    generating = [described["coverage"][str(size)]["generating"] for size in COVERAGE_SIZES]
    copying = [described["coverage"][str(size)]["with_copying"] for size in COVERAGE_SIZES]
    assert generating == [2 / 5, 2 / 5, 2 / 5, 3 / 5, 3 / 5]
    assert copying == [3 / 5, 3 / 5, 3 / 5, 4 / 5, 4 / 5]
    assert described["copyable_share"] == 3 / 5


def test_lengths_are_counted_per_text_and_summary(described):
    assert described["words_per_text"]["counts"] == [0, 0, 2]
    assert described["words_per_sentence"]["counts"] == [0, 2, 1]
    assert described["sentences_per_text"]["counts"] == [0, 1, 1]
    assert described["words_per_summary"]["counts"] == [0, 0, 1, 1]
    assert described["words_per_summary"]["mean"] == 2.5
    assert described["words_per_summary"]["max"] == 3
