"""Evaluation of a system on a data set."""

import time
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from typing import Any, Literal, get_args

from readagain.errors import ArgumentError, DataError
from readagain.evaluation.dataset import DataSet
from readagain.evaluation.summaries import (
    SummaryStats,
    SystemSummary,
    TokenizedSummary,
    is_unk,
    source_norms,
    summary_stats,
    summary_words,
)
from readagain.evaluation.systems import System
from readagain.processors import describe_machine
from readagain.rouge.corpus import Report, score_corpus
from readagain.version import __version__

UnkPolicy = Literal["keep", "strip", "drop"]
"""Policy for UNK, which Gigaword's preprocessing wrote for rare words, in references.

keep    score references as they are. UNK is a word that our models never generate. Published
        scores are computed like this, so it is the default.
strip   remove UNK from references and summaries.
drop    leave out rows with UNK in a reference.
"""


@dataclass(frozen=True, kw_only=True)
class ScoredRows:
    """Rows of a data set that are scored: their positions, summaries and references."""

    rows: tuple[int, ...]
    summaries: tuple[str, ...]
    references: tuple[tuple[str, ...], ...]


@dataclass(frozen=True, kw_only=True, eq=False)
class Evaluation:
    """Scores of a system on a data set, and how they were obtained.

    Args:
        system: name of the system; `details` is its description.
        data: the data set, including rows that were not scored.
        seconds: time to generate the summaries, without loading.
    """

    system: str
    details: dict[str, Any]
    data: DataSet
    protocol: str
    unk: str
    summaries: tuple[SystemSummary, ...]
    scored: ScoredRows
    rouge: Report
    stats: SummaryStats
    reference_stats: SummaryStats
    seconds: float
    machine: str

    @property
    def sentences_per_s(self) -> float:
        """Texts summarized per second."""
        return len(self.summaries) / self.seconds if self.seconds else 0.0

    @property
    def rows_with_unk(self) -> int:
        """Number of rows with UNK in a reference."""
        return sum(any(map(_has_unk, row.references)) for row in self.data.rows)

    @property
    def summaries_with_unk(self) -> int:
        """Number of summaries with UNK; models never generate it, baselines may copy it."""
        return sum(_has_unk(summary.text) for summary in self.summaries)

    def as_json(self) -> dict[str, Any]:
        """Return plain values; `rouge` is the output of `readagain rouge --json`."""
        return {
            "model": {"name": self.system, **self.details},
            "protocol": self.protocol,
            "data": {
                "files": [str(file) for file in self.data.files],
                "format": self.data.format,
                "tokenized": self.data.is_tokenized,
                "rows": len(self.data.rows),
                "fingerprint": self.data.fingerprint,
                **({} if self.data.selection is None else {"selection": self.data.selection}),
            },
            "unk": {
                "policy": self.unk,
                "rows_with_unk": self.rows_with_unk,
                "summaries_with_unk": self.summaries_with_unk,
                "rows_left_out": len(self.data.rows) - len(self.scored.rows),
            },
            "rouge": self.rouge.as_json(),
            "summaries": asdict(self.stats),
            "references": asdict(self.reference_stats),
            "speed": {
                "sentences_per_s": self.sentences_per_s,
                "seconds": self.seconds,
                "machine": self.machine,
            },
            "version": __version__,
        }


def evaluate(
    system: System,
    data: DataSet,
    protocol: str,
    *,
    unk: str = "keep",
    on_summary: Callable[[], None] = lambda: None,
) -> Evaluation:
    """Summarize every row and score the summaries.

    The system must be loaded for the same protocol. `on_summary` is called after each summary.

    Raises:
        ConfigError: for an unknown protocol or policy.
        DataError: if the policy leaves nothing to score.
    """
    references = [row.references for row in data.rows]
    apply_unk_policy(unk, ["" for _ in references], references)  # raises errors before the work
    summaries = []
    start = time.perf_counter()
    texts = [row.text for row in data.rows]
    for summary in system.summarize(texts, is_tokenized=data.is_tokenized):
        summaries.append(summary)
        on_summary()
    seconds = time.perf_counter() - start
    scored = apply_unk_policy(unk, [summary.text for summary in summaries], references)
    sources = [source_norms(row.text, is_tokenized=data.is_tokenized) for row in data.rows]
    tokenized = [
        TokenizedSummary(summary.text, [word.norm for word in summary.words], source)
        for summary, source in zip(summaries, sources, strict=True)
    ]
    return Evaluation(
        system=system.name,
        details=system.describe(),
        data=data,
        protocol=protocol,
        unk=unk,
        summaries=tuple(summaries),
        scored=scored,
        rouge=score_corpus(scored.summaries, scored.references, protocol),
        stats=summary_stats(
            tokenized, num_copied=sum(sum(summary.is_copied) for summary in summaries)
        ),
        reference_stats=summary_stats(_tokenize_references(data, sources)),
        seconds=seconds,
        machine=describe_machine(),
    )


def _tokenize_references(data: DataSet, sources: Sequence[Sequence[str]]) -> list[TokenizedSummary]:
    is_tokenized = data.are_references_tokenized
    return [
        TokenizedSummary(
            reference,
            [word.norm for word in summary_words(reference, is_tokenized=is_tokenized)],
            source,
        )
        for row, source in zip(data.rows, sources, strict=True)
        for reference in row.references
    ]


def apply_unk_policy(
    policy: str, summaries: Sequence[str], references: Sequence[Sequence[str]]
) -> ScoredRows:
    """Return the rows to score under a policy for UNK.

    Raises:
        ArgumentError: for an unknown policy.
        DataError: if nothing is left to score.
    """
    if policy not in get_args(UnkPolicy):
        names = ", ".join(get_args(UnkPolicy))
        raise ArgumentError("{unk} is '{0}'; expected {1}", policy, names)
    if policy == "strip":
        summaries = [_strip_unk(summary) for summary in summaries]
        references = [[left for left in map(_strip_unk, texts) if left] for texts in references]
    # Under 'strip' a row whose references were nothing but UNK cannot be scored either.
    kept = [
        row
        for row, texts in enumerate(references)
        if texts and not (policy == "drop" and any(map(_has_unk, texts)))
    ]
    if not kept:
        why = "has a reference with UNK" if policy == "drop" else "has references of UNK alone"
        raise DataError(f"policy '{policy}' for UNK: nothing left to score; every row {why}")
    return ScoredRows(
        rows=tuple(kept),
        summaries=tuple(summaries[row] for row in kept),
        references=tuple(tuple(references[row]) for row in kept),
    )


def _has_unk(text: str) -> bool:
    return any(map(is_unk, text.split()))


def _strip_unk(text: str) -> str:
    if not _has_unk(text):
        return text
    return " ".join(word for word in text.split() if not is_unk(word))
