"""Source and summary vocabularies of a run."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace

import numpy as np

from readagain.config.schema import RunSpec
from readagain.config.validation import raise_problems
from readagain.corpus.lexicon import Lexicon, Side
from readagain.text.vocab import SPECIAL_TOKENS, Vocab

LOW_COVERAGE = 0.8
"""If a vocabulary contains less than this fraction of the word occurrences of a corpus, a warning
is printed."""


@dataclass(frozen=True)
class Vocabs:
    """Source vocabulary (of the encoder) and summary vocabulary (of the decoder)."""

    source: Vocab
    summary: Vocab

    def sides(self) -> Iterator[tuple[Side, str, Vocab]]:
        """Yield each side, the name of the setting for its vocabulary size, and its vocabulary."""
        yield "source", "source_vocab_size", self.source
        yield "summary", "vocab_size", self.summary

    def apply_sizes(self, run: RunSpec) -> RunSpec:
        """Return a copy of the run in which the sizes are those of these vocabularies."""
        return replace(run, source_vocab_size=len(self.source), vocab_size=len(self.summary))


def build_vocabs(run: RunSpec, lexicon: Lexicon) -> Vocabs:
    """Return vocabularies of the most frequent words of a corpus.

    They have the sizes in the settings of the run, or less if the corpus has fewer words.
    """
    return Vocabs(
        source=lexicon.vocab("source", run.source_vocab_size),
        summary=lexicon.vocab("summary", run.vocab_size),
    )


def extend_vocabs(vocabs: Vocabs, lexicon: Lexicon, num_words: int) -> Vocabs:
    """Append to each vocabulary the most frequent words of a corpus that it does not contain."""
    return Vocabs(
        source=_extend(vocabs.source, lexicon, "source", num_words),
        summary=_extend(vocabs.summary, lexicon, "summary", num_words),
    )


def _extend(vocab: Vocab, lexicon: Lexicon, side: Side, num_words: int) -> Vocab:
    if not num_words:
        return vocab
    by_frequency = lexicon.vocab(side, len(vocab) + num_words).words[len(SPECIAL_TOKENS) :]
    new_words = [word for word in by_frequency if word not in vocab]
    return Vocab([*vocab.words, *new_words[:num_words]])


def size_notes(run: RunSpec, vocabs: Vocabs) -> list[str]:
    """Return a note for each vocabulary that is smaller than its size in the run."""
    return [
        f"{name} is reduced from {size:,} to {len(vocab):,}, all {side} words of the corpus"
        for side, name, vocab in vocabs.sides()
        if len(vocab) < (size := getattr(run, name))
    ]


def check_sizes(changes: Mapping[str, object], vocabs: Vocabs) -> None:
    """Check that vocabulary sizes among the `changes` of the user equal those of the vocabularies.

    The sizes of a preset are upper bounds. Sizes set by the user are exact.

    Raises:
        ConfigError: naming the setting and the size that is possible.
    """
    raise_problems(
        [
            f"{name} is {changes[name]}, but there are {len(vocab)} {side} words, the four special "
            f"tokens included; set it to {len(vocab)}, or remove the setting"
            for side, name, vocab in vocabs.sides()
            if name in changes and changes[name] != len(vocab)
        ],
        argument="changes",
    )


def coverage(lexicon: Lexicon, side: Side, vocab: Vocab) -> float:
    """Return the fraction of the word occurrences of the train split that a vocabulary contains."""
    counts = lexicon.source_counts if side == "source" else lexicon.summary_counts
    total = int(counts.sum())
    is_in_vocab = np.fromiter((word in vocab for word in lexicon.words), bool, len(lexicon))
    return float(counts[is_in_vocab].sum() / total) if total else 1.0


def coverage_warnings(lexicon: Lexicon, vocabs: Vocabs) -> list[str]:
    """Return a warning for each vocabulary that lacks many words of the corpus."""
    warnings = []
    for side, name, vocab in vocabs.sides():
        fraction = coverage(lexicon, side, vocab)
        if fraction < LOW_COVERAGE:
            warnings.append(
                f"the {side} vocabulary of {len(vocab):,} words contains only {fraction:.0%} of "
                f"the {side} word occurrences of this corpus; increase {name}, or extend the "
                "vocabulary when fine-tuning"
            )
    return warnings
