"""Evaluation of a system on a data set."""

import time
from collections.abc import Callable
from dataclasses import asdict, dataclass
from typing import Any

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
from readagain.text.language import find_language
from readagain.version import __version__


@dataclass(frozen=True, kw_only=True, eq=False)
class Evaluation:
    """Scores of a system on a data set, with its summaries and settings.

    Args:
        details: settings of the system, see `System.describe`.
        seconds: time to generate the summaries, without loading the system.
    """

    system: str
    details: dict[str, Any]
    data: DataSet
    protocol: str
    summaries: tuple[SystemSummary, ...]
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
        """Number of rows with UNK in a reference; Gigaword has UNK instead of rare words."""
        return sum(any(map(_has_unk, row.references)) for row in self.data.rows)

    @property
    def summaries_with_unk(self) -> int:
        """Number of summaries with UNK; models never generate UNK, baselines may copy it."""
        return sum(_has_unk(summary.text) for summary in self.summaries)

    def as_json(self) -> dict[str, Any]:
        """Return the output of `readagain evaluate --json`."""
        return {
            "model": {"name": self.system, **self.details},
            "protocol": self.protocol,
            "data": {
                "files": [str(file) for file in self.data.files],
                "format": self.data.format,
                "tokenized": self.data.is_tokenized,
                "language": self.data.language,
                "rows": len(self.data.rows),
                "fingerprint": self.data.fingerprint,
                **({} if self.data.selection is None else {"selection": self.data.selection}),
                **({"skipped": len(self.data.skipped)} if self.data.skipped else {}),
            },
            "unk": {
                "rows_with_unk": self.rows_with_unk,
                "summaries_with_unk": self.summaries_with_unk,
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
    on_summary: Callable[[], None] = lambda: None,
) -> Evaluation:
    """Summarize the texts of a data set and score the summaries.

    The system has the settings of `protocol`. `on_summary` is called after each summary.

    Raises:
        ConfigError: for an unknown protocol.
    """
    summaries = []
    start = time.perf_counter()
    texts = [row.text for row in data.rows]
    for summary in system.summarize(texts, is_tokenized=data.is_tokenized):
        summaries.append(summary)
        on_summary()
    seconds = time.perf_counter() - start
    language = find_language(data.language)
    tokenized_summaries, tokenized_references = [], []
    for row, summary in zip(data.rows, summaries, strict=True):
        source = source_norms(row.text, is_tokenized=data.is_tokenized, language=language)
        norms = [word.norm for word in summary.words]
        tokenized_summaries.append(TokenizedSummary(summary.text, norms, source))
        for reference in row.references:
            words = summary_words(
                reference, is_tokenized=data.are_references_tokenized, language=language
            )
            norms = [word.norm for word in words]
            tokenized_references.append(TokenizedSummary(reference, norms, source))
    return Evaluation(
        system=system.name,
        details=system.describe(),
        data=data,
        protocol=protocol,
        summaries=tuple(summaries),
        rouge=score_corpus(
            [summary.text for summary in summaries],
            [row.references for row in data.rows],
            protocol,
        ),
        stats=summary_stats(
            tokenized_summaries, num_copied=sum(sum(summary.is_copied) for summary in summaries)
        ),
        reference_stats=summary_stats(tokenized_references),
        seconds=seconds,
        machine=describe_machine(),
    )


def _has_unk(text: str) -> bool:
    return any(map(is_unk, text.split()))
