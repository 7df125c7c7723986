"""Statistics of summaries, counted by hand."""

import pytest

from readagain.evaluation.summaries import TokenizedSummary, summary_stats

SOURCE = ["a", "storm", "hit", "the", "old", "harbour"]


def stats(*texts, **options):
    return summary_stats(
        [TokenizedSummary(text, text.split(), SOURCE) for text in texts], **options
    )


def test_stats_lengths_are_means():
    found = stats("a storm", "the café")
    assert (found.words, found.bytes) == (2, (7 + 9) / 2)


def test_stats_novel_rates():
    found = stats("a storm hit harbour", "new storm")
    assert found.novel_1gram_rate == 1 / 6
    assert found.novel_2gram_rate == 2 / 4  # hit harbour, new storm


def test_stats_repetition_rate():
    assert stats("the storm the storm the", "a").repetition_rate == 3 / 6


def test_stats_copy_rate():
    assert stats("a storm", "the sea", num_copied=3).copy_rate == 3 / 4
    assert stats("a storm").copy_rate is None


def test_stats_count_distinct_and_empty():
    found = stats("a", "a", "")
    assert (found.distinct, found.empty) == (2, 1)


def test_stats_of_empty_summaries_are_zero():
    found = stats("", "", num_copied=0)
    rates = (found.copy_rate, found.novel_1gram_rate, found.novel_2gram_rate)
    assert rates == (0, 0, 0)
    assert found.words == pytest.approx(0)
