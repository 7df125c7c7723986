"""ROUGE scores of a corpus with bootstrap intervals."""

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from readagain.errors import DataError, pluralize
from readagain.rouge.bootstrap import interval, resampled_sums, script_order
from readagain.rouge.options import SCORE_KINDS, Protocol, RougeOptions, find_protocol
from readagain.rouge.scores import DECIMALS, Numbers, RougeItem, score_items


@dataclass(frozen=True)
class Estimate:
    """Score and the ends of its bootstrap interval, rounded like the output of ROUGE-1.5.5."""

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

    For example, `report["rouge-1"].recall.value` is the recall of ROUGE-1.
    """

    scores: dict[str, Score]
    """Scores by measure, such as `rouge-1`."""
    item_scores: Numbers
    """(items, measures, 3) scores of each item: the measures are in the order of `scores`, and the
    last axis is recall, precision and F1."""
    protocol: Protocol
    fingerprint: str
    """SHA-256 of all summaries and references before truncation."""

    def __getitem__(self, measure: str) -> Score:
        return self.scores[measure]

    def __repr__(self) -> str:
        main_scores = (f"{name}: {self.main_score(name).value}" for name in self.scores)
        kind = self.protocol.main_score
        num_items = pluralize(len(self.item_scores), "item")
        return f"<Report of {num_items}, {kind} {', '.join(main_scores)}>"

    def main_score(self, measure: str) -> Estimate:
        """Return the main score of a measure: recall, precision or F1, as the protocol defines."""
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

    Each line of a text is one sentence; sentences only affect ROUGE-L.

    Args:
        summaries: one text per item.
        references: one or more texts per item.
        protocol: a protocol or its name.

    >>> report = score_corpus(["the cat sat"], [["a cat sat down"]], "gigaword")
    >>> report["rouge-1"].recall.value, report["rouge-1"].precision.value
    (0.5, 0.66667)
    """
    protocol = find_protocol(protocol) if isinstance(protocol, str) else protocol
    options = protocol.options
    items = _make_items(summaries, references)
    scores = score_items(options, items)  # (items, measures, 3)
    ordered = scores[script_order(len(items))]
    sums = resampled_sums(ordered.reshape(len(items), -1), range(options.samples))
    means = (sums / len(items)).reshape(-1, *scores.shape[1:])  # (samples, measures, 3)
    return Report(
        scores=_estimate(means, options),
        item_scores=scores,
        protocol=protocol,
        fingerprint=hash_items(items),
    )


def hash_items(items: Sequence[RougeItem]) -> str:
    """Return the SHA-256 of the summaries and references, with their lengths."""
    digest = hashlib.sha256()
    for summary, references in items:
        digest.update(b"%d\n" % len(references))
        for text in (summary, *references):
            encoded = text.encode("utf-8", "surrogatepass")
            digest.update(b"%d\n" % len(encoded) + encoded)
    return digest.hexdigest()


def _make_items(summaries: Sequence[str], references: Sequence[Sequence[str]]) -> list[RougeItem]:
    """Check the arguments of `score_corpus` and return each summary with its references."""
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
    for number, texts in enumerate(references, start=1):
        if isinstance(texts, str):
            raise DataError(f"item {number}: found a string; expected a list of references")
        if not texts:
            raise DataError(f"item {number}: found 0 references; expected 1 or more")
    return list(zip(summaries, references, strict=True))


def _estimate(sampled: Numbers, options: RougeOptions) -> dict[str, Score]:
    """Return the scores and intervals of (samples, measures, 3) means of bootstrap samples."""
    # np.sum would add pairwise. The script adds in the order of the samples, which can change the
    # last bit.
    means = np.add.accumulate(sampled)[-1] / len(sampled)  # (measures, 3)
    low, high = interval(sampled, options.confidence)  # (measures, 3) each
    printed = np.stack([means, low, high], axis=-1).tolist()  # (measures, 3, 3)
    scores = {}
    for measure, values_by_kind in zip(options.measures, printed, strict=True):
        estimates = [
            Estimate(*(round(value, DECIMALS) for value in values)) for values in values_by_kind
        ]
        scores[measure] = Score(**dict(zip(SCORE_KINDS, estimates, strict=True)))
    return scores
