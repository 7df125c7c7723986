"""ROUGE scores of a corpus with bootstrap intervals."""

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from readagain.counts import pluralize
from readagain.errors import DataError
from readagain.rouge.bootstrap import interval, resampled_sums, script_order
from readagain.rouge.measures import Measure, build_measures
from readagain.rouge.options import SCORE_KINDS, Protocol, RougeOptions, find_protocol
from readagain.rouge.scores import (
    DECIMALS,
    Item,
    Numbers,
    count_items,
    item_scores,
    pooled_scores,
)


@dataclass(frozen=True)
class Estimate:
    """Score, rounded as in the output of the script, and its bootstrap interval."""

    value: float
    low: float
    high: float


@dataclass(frozen=True, kw_only=True)
class Score:
    """Scores of one measure over a corpus."""

    recall: Estimate
    precision: Estimate
    f1: Estimate


@dataclass(frozen=True, kw_only=True, eq=False)
class Report:
    """Scores of a corpus under one protocol.

    `report["rouge-1"].recall.value` is a score. `report.item_scores` has those of every item:
    (items, measures, 3), measures in the order of `report.scores`, then recall, precision, F1.
    """

    scores: dict[str, Score]
    item_scores: Numbers
    protocol: Protocol
    fingerprint: str
    """SHA-256 of all summaries and references before truncation."""

    def __getitem__(self, measure: str) -> Score:
        return self.scores[measure]

    def main_score(self, measure: str) -> Estimate:
        """Return the main score of the protocol for a measure."""
        estimate: Estimate = getattr(self.scores[measure], self.protocol.main_score)
        return estimate

    def as_json(self) -> dict[str, object]:
        """Return the output of `readagain rouge --json`.

        `low` and `high` are the interval of the main score.
        """
        measures: dict[str, object] = {
            name: {
                "recall": score.recall.value,
                "precision": score.precision.value,
                "f1": score.f1.value,
                "low": self.main_score(name).low,
                "high": self.main_score(name).high,
            }
            for name, score in self.scores.items()
        }
        return measures | {
            "options": self.protocol.options.flags(),
            "items": len(self.item_scores),
            "fingerprint": self.fingerprint,
        }


def score_corpus(
    summaries: Sequence[str], references: Sequence[Sequence[str]], protocol: Protocol | str
) -> Report:
    """Score summaries against their references as ROUGE-1.5.5 does.

    Each line of a text is one sentence; this only affects ROUGE-L and ROUGE-W.

    Args:
        summaries: one text per item.
        references: one or more texts per item.
        protocol: protocol, or the name of one.

    >>> report = score_corpus(["the cat sat"], [["a cat sat down"]], "gigaword")
    >>> report["rouge-1"].recall.value, report["rouge-1"].precision.value
    (0.5, 0.66667)
    """
    protocol = find_protocol(protocol) if isinstance(protocol, str) else protocol
    options = protocol.options
    items = _make_items(summaries, references, options)
    measures = build_measures(options)
    counts = count_items(options, items)
    scores = item_scores(counts, measures, options.alpha)
    values = (counts if options.unit == "token" else scores)[_script_order(items, options)]
    flat = values.reshape(len(values), -1)
    sums = resampled_sums(flat, range(options.samples)).reshape(-1, *values.shape[1:])
    sampled = pooled_scores(sums, options.alpha) if options.unit == "token" else sums / len(values)
    return Report(
        scores=_estimate(sampled, measures, options),
        item_scores=_average_evaluations(scores, items, options),
        protocol=protocol,
        fingerprint=fingerprint(items),
    )


def fingerprint(items: Sequence[Item]) -> str:
    """Return a hash of all texts and their lengths."""
    digest = hashlib.sha256()
    for summary, references in items:
        digest.update(b"%d\n" % len(references))
        for text in (summary, *references):
            encoded = text.encode("utf-8", "surrogatepass")
            digest.update(b"%d\n" % len(encoded) + encoded)
    return digest.hexdigest()


def _make_items(
    summaries: Sequence[str], references: Sequence[Sequence[str]], options: RougeOptions
) -> list[Item]:
    if isinstance(summaries, str):
        raise DataError("summaries: found a string; expected a list of strings")
    if len(summaries) != len(references):
        raise DataError(
            f"found {pluralize(len(summaries), 'summary', 'summaries')} and "
            f"{pluralize(len(references), 'list')} of references; "
            "expected one list for each summary"
        )
    if not summaries:
        raise DataError("summaries: found none; expected at least one")
    min_references = 2 if options.pooling == "jackknife" else 1
    for number, texts in enumerate(references, start=1):
        if isinstance(texts, str):
            raise DataError(f"item {number}: found a string; expected a list of references")
        if len(texts) < min_references:
            raise DataError(
                f"item {number}: found {pluralize(len(texts), 'reference')}; "
                f"expected {min_references} or more"
                + (" for the jackknife" if min_references > 1 else "")
            )
    return list(zip(summaries, references, strict=True))


def _script_order(items: list[Item], options: RougeOptions) -> NDArray[np.intp]:
    """Return the order of evaluations by their ids in the script's configuration."""
    if options.pooling != "jackknife":
        return script_order([str(number) for number in range(1, len(items) + 1)])
    return script_order(
        [
            f"{number}-{left_out}"
            for number, (_, references) in enumerate(items, start=1)
            for left_out in range(1, len(references) + 1)
        ]
    )


def _estimate(sampled: Numbers, measures: list[Measure], options: RougeOptions) -> dict[str, Score]:
    # Summed in the order of the samples, not pairwise, so that the last bit equals the script's.
    means = np.add.accumulate(sampled)[-1] / len(sampled)  # (measures, 3)
    low, high = interval(sampled, options.confidence)
    printed = np.stack([means, low, high], axis=-1).tolist()
    scores = {}
    for measure, kinds in zip(measures, printed, strict=True):
        estimates = [Estimate(*(round(value, DECIMALS) for value in each)) for each in kinds]
        scores[measure.name] = Score(**dict(zip(SCORE_KINDS, estimates, strict=True)))
    return scores


def _average_evaluations(scores: Numbers, items: list[Item], options: RougeOptions) -> Numbers:
    """Return one row per item, the mean of its evaluations in the jackknife."""
    if options.pooling != "jackknife":
        return scores
    sizes = [len(references) for _, references in items]
    starts = np.cumsum([0, *sizes[:-1]])
    sums: Numbers = np.add.reduceat(scores, starts)
    means: Numbers = sums / np.array(sizes)[:, None, None]
    return means
