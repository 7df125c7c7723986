"""The two vocabularies of a run: cut from the corpus, or kept and extended when fine-tuning."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace

import numpy as np

from readagain.config.schema import RunSpec
from readagain.config.validation import raise_problems
from readagain.corpus.lexicon import Lexicon, Side
from readagain.text.vocab import SPECIAL_TOKENS, Vocab

LOW_COVERAGE = 0.8
"""A vocabulary that knows fewer of the corpus's running words is warned about."""


@dataclass(frozen=True)
class Vocabs:
    """What the encoder and what the decoder know."""

    source: Vocab
    summary: Vocab

    def sides(self) -> Iterator[tuple[Side, str, Vocab]]:
        """Yield each side of the task with the setting of its size and its vocabulary."""
        yield "source", "source_vocab_size", self.source
        yield "summary", "vocab_size", self.summary

    def fit(self, run: RunSpec) -> RunSpec:
        """Return the run with the sizes these vocabularies really have."""
        return replace(run, source_vocab_size=len(self.source), vocab_size=len(self.summary))


def cut_words(run: RunSpec, lexicon: Lexicon) -> Vocabs:
    """Cut vocabularies of the sizes a run asks for, smaller where the corpus has fewer words."""
    return Vocabs(
        source=lexicon.vocab("source", run.source_vocab_size),
        summary=lexicon.vocab("summary", run.vocab_size),
    )


def extend_words(words: Vocabs, lexicon: Lexicon, num_words: int) -> Vocabs:
    """Add to each vocabulary the most frequent words of a corpus that it lacks, at its end."""
    return Vocabs(
        source=_extend(words.source, lexicon, "source", num_words),
        summary=_extend(words.summary, lexicon, "summary", num_words),
    )


def _extend(vocab: Vocab, lexicon: Lexicon, side: Side, num_words: int) -> Vocab:
    if not num_words:
        return vocab
    by_frequency = lexicon.vocab(side, len(vocab) + num_words).words[len(SPECIAL_TOKENS) :]
    lacking = [word for word in by_frequency if word not in vocab]
    return Vocab([*vocab.words, *lacking[:num_words]])


def size_notes(asked: RunSpec, words: Vocabs) -> list[str]:
    """Say which vocabularies came out smaller than asked for."""
    return [
        f"the corpus has only {len(vocab):,} {side} words, so {name} is that, not {wanted:,}"
        for side, name, vocab in words.sides()
        if len(vocab) < (wanted := getattr(asked, name))
    ]


def check_sizes(typed: Mapping[str, object], words: Vocabs) -> None:
    """Refuse sizes that a person typed and these vocabularies do not have.

    A preset's sizes are upper bounds; a number somebody typed is meant.

    Args:
        typed: settings given with `--set`, by name.
        words: the vocabularies as they came out.

    Raises:
        ConfigError: naming the setting and the size that can be had.
    """
    raise_problems(
        [
            f"{name} is {typed[name]}, but there are {len(vocab)} {side} words, the four reserved "
            f"ones included; set it to {len(vocab)}, or leave it out"
            for side, name, vocab in words.sides()
            if name in typed and typed[name] != len(vocab)
        ],
        where="--set",
    )


def coverage(lexicon: Lexicon, side: Side, vocab: Vocab) -> float:
    """Return which share of the running words of the train split a vocabulary knows."""
    counts = lexicon.source_counts if side == "source" else lexicon.summary_counts
    total = int(counts.sum())
    known = np.fromiter((word in vocab for word in lexicon.words), bool, len(lexicon))
    return float(counts[known].sum() / total) if total else 1.0


def coverage_warnings(lexicon: Lexicon, words: Vocabs) -> list[str]:
    """Warn of a vocabulary that misses much of the data it is to be trained on."""
    warnings = []
    for side, setting, vocab in words.sides():
        share = coverage(lexicon, side, vocab)
        if share < LOW_COVERAGE:
            warnings.append(
                f"the {side} vocabulary of {len(vocab):,} words knows only {share:.0%} of the "
                f"running {side} words of this corpus; raise {setting}, or extend the vocabulary "
                "when fine-tuning"
            )
    return warnings
