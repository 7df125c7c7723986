"""UNK in references: what Gigaword's own preparation left of rare words, and what to do about it.

keep    score references as they stand. UNK is a word like any other, which our models never write.
        Published figures are made like this, so it is the default.
strip   take UNK out of references and summaries, and score what is left.
drop    leave out the rows with a reference that holds UNK: fewer rows, and other ones.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, get_args

from readagain.corpus.tokenizing import UNKNOWN_SPELLINGS
from readagain.errors import ConfigError, DataError

UnkPolicy = Literal["keep", "strip", "drop"]


@dataclass(frozen=True, kw_only=True)
class Scored:
    """What remains to be scored.

    Args:
        rows: numbers of the rows that are scored, from 0.
        summaries, references: their texts.
    """

    rows: tuple[int, ...]
    summaries: tuple[str, ...]
    references: tuple[tuple[str, ...], ...]


def is_unknown(word: str) -> bool:
    """Tell whether a word of a text stands for a word that was not kept."""
    return word in UNKNOWN_SPELLINGS


def holds_unknown(text: str) -> bool:
    """Tell whether a text has an UNK among its words."""
    return any(map(is_unknown, text.split()))


def apply_policy(
    policy: str, summaries: Sequence[str], references: Sequence[Sequence[str]]
) -> Scored:
    """Do about UNK what a policy says.

    Raises:
        ConfigError: for a policy that does not exist.
        DataError: when nothing is left to score.
    """
    if policy not in get_args(UnkPolicy):
        raise ConfigError(f"--unk is '{policy}'; expected {', '.join(get_args(UnkPolicy))}")
    if policy == "strip":
        summaries = [_stripped(summary) for summary in summaries]
        references = [[left for left in map(_stripped, texts) if left] for texts in references]
    # A row whose references hold nothing but UNK cannot be scored under 'strip' either.
    kept = [
        row
        for row, texts in enumerate(references)
        if texts and not (policy == "drop" and any(map(holds_unknown, texts)))
    ]
    if not kept:
        why = "has a reference with UNK" if policy == "drop" else "has references of UNK alone"
        raise DataError(f"--unk {policy} leaves no row to score; every row {why}")
    return Scored(
        rows=tuple(kept),
        summaries=tuple(summaries[row] for row in kept),
        references=tuple(tuple(references[row]) for row in kept),
    )


def _stripped(text: str) -> str:
    if not holds_unknown(text):
        return text
    return " ".join(word for word in text.split() if not is_unknown(word))
