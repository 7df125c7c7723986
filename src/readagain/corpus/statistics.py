"""Statistics of a split: lengths, and the share of summary words that a vocabulary covers."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from readagain.corpus.chunks import headline_segment_mask
from readagain.corpus.lexicon import UNKNOWN_ID, Lexicon
from readagain.corpus.shards import CorpusShard
from readagain.text.vocab import SPECIAL_TOKENS, UNK

COVERAGE_SIZES = (2_000, 5_000, 15_000, 30_000, 69_000)
"""Decoder vocabulary sizes in tables 3 and 4 of the paper, including the special tokens."""
NOT_IN_VOCAB = np.iinfo(np.int64).max
"""Id of a word that no vocabulary contains."""


def summary_vocab_ids(lexicon: Lexicon) -> NDArray[np.int64]:
    """Return the id of each word in the unlimited summary vocabulary of `Lexicon.vocab`.

    A vocabulary of size n contains the words with an id below n.

    Returns:
        (len(lexicon) + 1,) int64; `NOT_IN_VOCAB` for words that occur in no training summary and
        for `UNKNOWN_ID` = -1, the last index.
    """
    vocab = lexicon.vocab("summary", len(lexicon) + len(SPECIAL_TOKENS) + 1)
    vocab_ids = lexicon.vocab_ids(vocab)
    return np.where(vocab_ids == UNK, NOT_IN_VOCAB, vocab_ids.astype(np.int64))


class Statistics:
    """Statistics of the pairs of a split.

    A summary word is covered by a vocabulary that contains it. With copying, words that occur in
    the text are covered too.
    """

    def __init__(self) -> None:
        names = ("words_per_text", "words_per_sentence", "sentences_per_text", "words_per_summary")
        self._histograms = {name: np.zeros(1, np.int64) for name in names}
        self._num_summary_words = 0
        self._num_copyable = 0
        # (2, 5) number of covered summary words, without and with copying, by COVERAGE_SIZES
        self._num_covered = np.zeros((2, len(COVERAGE_SIZES)), np.int64)

    def add(self, pairs: CorpusShard, vocab_ids: NDArray[np.int64]) -> None:
        """Add pairs; `vocab_ids` is the result of `summary_vocab_ids`.

        Letters in shapes: W words, G segments (sentences and summaries), P pairs.
        """
        ids, segment_lengths, pair_segments = (
            pairs.words,
            pairs.segment_lengths,
            pairs.pair_segments,
        )
        is_summary = headline_segment_mask(pair_segments)  # (G,)
        pair_of_segment = np.repeat(np.arange(len(pair_segments)), pair_segments)  # (G,)
        sentence_lengths = segment_lengths[~is_summary]
        text_lengths = np.bincount(
            pair_of_segment[~is_summary], weights=sentence_lengths, minlength=len(pair_segments)
        ).astype(np.int64)
        self._add_lengths("words_per_text", text_lengths)
        self._add_lengths("words_per_sentence", sentence_lengths)
        self._add_lengths("sentences_per_text", pair_segments - 1)
        self._add_lengths("words_per_summary", segment_lengths[is_summary])

        in_summary = np.repeat(is_summary, segment_lengths)  # (W,)
        pair_of_word = np.repeat(pair_of_segment, segment_lengths)  # (W,)
        # Keys combine words with their pairs, so a summary word is only searched in its own text.
        keys = pair_of_word * np.int64(len(vocab_ids)) + ids
        is_in_text = _is_in(keys[in_summary], keys[~in_summary])  # (summary words,)
        is_copyable = is_in_text & (ids[in_summary] != UNKNOWN_ID)
        summary_ids = vocab_ids[ids[in_summary]][:, None]  # (summary words, 1)
        in_vocab = summary_ids < np.array(COVERAGE_SIZES)  # (summary words, 5)
        self._num_covered[0] += in_vocab.sum(axis=0)
        self._num_covered[1] += (in_vocab | is_copyable[:, None]).sum(axis=0)
        self._num_summary_words += len(is_copyable)
        self._num_copyable += int(is_copyable.sum())

    def _add_lengths(self, name: str, lengths: NDArray[np.integer[Any]]) -> None:
        histogram = self._histograms[name]
        counts = np.bincount(lengths, minlength=len(histogram))
        counts[: len(histogram)] += histogram
        self._histograms[name] = counts

    def describe(self) -> dict[str, Any]:
        """Return the statistics for JSON. At least one pair must have been added."""
        total = self._num_summary_words
        shares = [[round(count / total, 5) for count in row] for row in self._num_covered.tolist()]
        return {
            **{name: _describe_counts(counts) for name, counts in self._histograms.items()},
            "summary_words": self._num_summary_words,
            "copyable_share": round(self._num_copyable / total, 5),
            "coverage": {
                str(size): {"generating": generating, "with_copying": with_copying}
                for size, generating, with_copying in zip(COVERAGE_SIZES, *shares, strict=True)
            },
        }


def _is_in(values: NDArray[np.int64], keys: NDArray[np.int64]) -> NDArray[np.bool_]:
    """Return `np.isin(values, keys)`, but several times faster if `keys` is nearly sorted."""
    keys = np.sort(keys)
    indices = np.searchsorted(keys, values)
    is_found: NDArray[np.bool_] = keys[np.minimum(indices, len(keys) - 1)] == values
    return is_found


def _describe_counts(counts: NDArray[np.int64]) -> dict[str, Any]:
    """Return the statistics of lengths; `counts[n]` is the number of items of length n."""
    total = int(counts.sum())
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
