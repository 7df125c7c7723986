"""Evaluate a system on a data set: summarize, score, and keep all one needs to believe it."""

import time
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from readagain.evaluation.dataset import DataSet
from readagain.evaluation.machine import describe_machine
from readagain.evaluation.statistics import (
    SummaryStats,
    TokenizedSummary,
    count_copied,
    measure_habits,
)
from readagain.evaluation.systems import System
from readagain.evaluation.unknown import Scored, apply_policy, holds_unknown
from readagain.evaluation.words import Written, source_forms, summary_words
from readagain.rouge.corpus import score_corpus
from readagain.rouge.report import Report
from readagain.version import __version__


@dataclass(frozen=True, kw_only=True, eq=False)
class Evaluation:
    """The scores of a system on a data set, and how they came about.

    Args:
        system: its name; `details` is what it says of itself.
        data: every row, those that were not scored included.
        protocol: its name.
        unk: the policy for UNK.
        summaries: one for each row, as the system wrote it.
        scored: the rows that were scored, and their texts.
        rouge: their scores.
        habits, reference_habits: what the summaries and the references are like.
        seconds: time spent summarizing, loading not included.
        machine: where.
    """

    system: str
    details: dict[str, Any]
    data: DataSet
    protocol: str
    unk: str
    summaries: tuple[Written, ...]
    scored: Scored
    rouge: Report
    habits: SummaryStats
    reference_habits: SummaryStats
    seconds: float
    machine: str

    @property
    def sentences_per_s(self) -> float:
        """Texts summarized in a second."""
        return len(self.summaries) / self.seconds if self.seconds else 0.0

    @property
    def rows_with_unk(self) -> int:
        """Rows with a reference that holds UNK."""
        return sum(any(map(holds_unknown, row.references)) for row in self.data.rows)

    @property
    def summaries_with_unk(self) -> int:
        """Summaries that hold UNK, which only systems that copy blindly write."""
        return sum(holds_unknown(summary.text) for summary in self.summaries)

    def as_json(self) -> dict[str, Any]:
        """Return plain values; `rouge` is what `readagain rouge --json` prints."""
        return {
            "model": {"name": self.system, **self.details},
            "protocol": self.protocol,
            "data": {
                "files": [str(file) for file in self.data.files],
                "format": self.data.format,
                "tokenized": self.data.is_tokenized,
                "rows": len(self.data.rows),
                "fingerprint": self.data.fingerprint,
            },
            "unk": {
                "policy": self.unk,
                "rows_with_unk": self.rows_with_unk,
                "summaries_with_unk": self.summaries_with_unk,
                "rows_left_out": len(self.data.rows) - len(self.scored.rows),
            },
            "rouge": self.rouge.as_json(),
            "summaries": asdict(self.habits),
            "references": asdict(self.reference_habits),
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

    Args:
        system: what to evaluate, loaded for the same protocol.
        data: what to evaluate it on.
        protocol: the name of a ROUGE protocol.
        unk: what to do about UNK in references; see `unknown.py`.
        on_summary: called after each summary.

    Raises:
        ConfigError: for a protocol or a policy that does not exist.
        DataError: when the policy leaves nothing to score.
    """
    references = [row.references for row in data.rows]
    apply_policy(unk, ["" for _ in references], references)  # before any work is done in vain
    summaries = []
    start = time.perf_counter()
    texts = [row.text for row in data.rows]
    for summary in system.write(texts, is_tokenized=data.is_tokenized):
        summaries.append(summary)
        on_summary()
    seconds = time.perf_counter() - start
    scored = apply_policy(unk, [summary.text for summary in summaries], references)
    sources = [source_forms(row.text, is_tokenized=data.is_tokenized) for row in data.rows]
    written = [
        TokenizedSummary(summary.text, [word.form for word in summary.words], source)
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
        habits=measure_habits(written, copied=count_copied(summaries)),
        reference_habits=measure_habits(_reference_examples(data, sources)),
        seconds=seconds,
        machine=describe_machine(),
    )


def _reference_examples(data: DataSet, sources: Sequence[Sequence[str]]) -> list[TokenizedSummary]:
    is_tokenized = data.are_references_tokenized
    return [
        TokenizedSummary(
            reference,
            [word.form for word in summary_words(reference, is_tokenized=is_tokenized)],
            source,
        )
        for row, source in zip(data.rows, sources, strict=True)
        for reference in row.references
    ]
