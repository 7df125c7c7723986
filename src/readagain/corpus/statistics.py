"""Lengths and vocabulary coverage of a split, counted chunk by chunk."""

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from readagain.corpus.lexicon import UNKNOWN_ID, Lexicon, alphabetical_ranks
from readagain.text.vocab import SPECIAL_TOKENS

COVERAGE_SIZES = (2_000, 5_000, 15_000, 30_000, 69_000)
"""Decoder vocabulary sizes in tables 3 and 4 of the paper, including the special tokens."""
NOT_IN_VOCAB = np.iinfo(np.int64).max
"""Rank of a word that no vocabulary contains."""


def summary_ranks(lexicon: Lexicon) -> NDArray[np.int64]:
    """Return the id of each word in the unlimited summary vocabulary of `Lexicon.vocab`.

    It is `NOT_IN_VOCAB` for words that occur in no training summary and, in the last entry, for
    `UNKNOWN_ID`.

    Returns:
        (len(lexicon) + 1,) int64.
    """
    ranks = np.full(len(lexicon) + 1, NOT_IN_VOCAB)
    by_count = np.lexsort((alphabetical_ranks(lexicon.words), -lexicon.summary_counts))
    by_count = by_count[lexicon.summary_counts[by_count] > 0]
    ranks[by_count] = np.arange(len(by_count)) + len(SPECIAL_TOKENS)
    return ranks


@dataclass
class Statistics:
    """Counts over the pairs of a split.

    A summary word is covered if the vocabulary contains it or, with copying, if it occurs in the
    text.
    """

    words_per_text: NDArray[np.int64] = field(default_factory=lambda: np.zeros(1, np.int64))
    words_per_sentence: NDArray[np.int64] = field(default_factory=lambda: np.zeros(1, np.int64))
    sentences_per_text: NDArray[np.int64] = field(default_factory=lambda: np.zeros(1, np.int64))
    words_per_summary: NDArray[np.int64] = field(default_factory=lambda: np.zeros(1, np.int64))
    summary_words: int = 0
    copyable: int = 0
    covered: NDArray[np.int64] = field(
        default_factory=lambda: np.zeros((2, len(COVERAGE_SIZES)), np.int64)
    )
    """(2, sizes) number of covered summary words without and with copying, for `COVERAGE_SIZES`."""

    def add(
        self,
        ids: NDArray[np.int32],
        segment_lengths: NDArray[np.int32],
        pair_segments: NDArray[np.int32],
        ranks: NDArray[np.int64],
    ) -> None:
        """Add the counts of pairs.

        The first three arguments are as in a chunk (see `Chunk`), but `ids` are lexicon ids.
        `ranks` is the result of `summary_ranks`.
        """
        is_summary = np.zeros(len(segment_lengths), dtype=bool)
        is_summary[np.cumsum(pair_segments) - 1] = True
        summary_lengths = segment_lengths[is_summary]
        pair_of_segment = np.repeat(np.arange(len(pair_segments)), pair_segments)
        text_lengths = np.bincount(
            pair_of_segment[~is_summary],
            weights=segment_lengths[~is_summary],
            minlength=len(pair_segments),
        ).astype(np.int64)
        self.words_per_text = _add_lengths(self.words_per_text, text_lengths)
        self.words_per_sentence = _add_lengths(
            self.words_per_sentence, segment_lengths[~is_summary]
        )
        self.sentences_per_text = _add_lengths(self.sentences_per_text, pair_segments - 1)
        self.words_per_summary = _add_lengths(self.words_per_summary, summary_lengths)

        in_summary = np.repeat(is_summary, segment_lengths)
        pair_of_word = np.repeat(pair_of_segment, segment_lengths)
        keys = pair_of_word * np.int64(len(ranks)) + ids
        is_in_text = _is_in(keys[in_summary], keys[~in_summary])
        copyable = is_in_text & (ids[in_summary] != UNKNOWN_ID)
        in_vocab = ranks[ids[in_summary]][:, None] < np.array(COVERAGE_SIZES)  # (summary words, 5)
        self.covered[0] += in_vocab.sum(axis=0)
        self.covered[1] += (in_vocab | copyable[:, None]).sum(axis=0)
        self.summary_words += len(copyable)
        self.copyable += int(copyable.sum())

    def describe(self) -> dict[str, Any]:
        """Return means, histograms and coverage for JSON."""
        total = max(self.summary_words, 1)
        return {
            "words_per_text": _histogram(self.words_per_text),
            "words_per_sentence": _histogram(self.words_per_sentence),
            "sentences_per_text": _histogram(self.sentences_per_text),
            "words_per_summary": _histogram(self.words_per_summary),
            "summary_words": self.summary_words,
            "copyable_share": round(self.copyable / total, 5),
            "coverage": {
                str(size): {
                    "generating": round(int(self.covered[0, column]) / total, 5),
                    "with_copying": round(int(self.covered[1, column]) / total, 5),
                }
                for column, size in enumerate(COVERAGE_SIZES)
            },
        }


def _is_in(values: NDArray[np.int64], keys: NDArray[np.int64]) -> NDArray[np.bool_]:
    """Return `np.isin(values, keys)`; several times faster if `keys` is nearly sorted."""
    keys = np.sort(keys)
    indices = np.searchsorted(keys, values)
    is_found: NDArray[np.bool_] = keys[np.minimum(indices, len(keys) - 1)] == values
    return is_found


def _add_lengths(
    histogram: NDArray[np.int64], lengths: NDArray[np.integer[Any]]
) -> NDArray[np.int64]:
    """Return the histogram with the counts of more lengths."""
    counts = np.bincount(lengths, minlength=len(histogram))
    counts[: len(histogram)] += histogram
    return counts.astype(np.int64)


def _histogram(counts: NDArray[np.int64]) -> dict[str, Any]:
    """Return mean, percentiles, maximum, and the counts up to it."""
    total = int(counts.sum())
    if total == 0:
        return {"mean": 0.0, "p50": 0, "p90": 0, "p99": 0, "max": 0, "counts": []}
    cumulative = np.cumsum(counts)
    percentiles = {
        f"p{percent}": int(np.searchsorted(cumulative, total * percent / 100))
        for percent in (50, 90, 99)
    }
    largest = int(np.flatnonzero(counts)[-1])
    mean = float(counts @ np.arange(len(counts))) / total
    return {
        "mean": round(mean, 2),
        **percentiles,
        "max": largest,
        "counts": counts[: largest + 1].tolist(),
    }
