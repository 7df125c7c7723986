"""The scores of a corpus, with all one needs to believe them."""

from dataclasses import dataclass

from readagain.rouge.protocol import Protocol
from readagain.rouge.scores import Numbers


@dataclass(frozen=True)
class Estimate:
    """A figure as the script prints it, and its bootstrap interval."""

    value: float
    low: float
    high: float


@dataclass(frozen=True, kw_only=True)
class Score:
    """One measure over the whole corpus."""

    recall: Estimate
    precision: Estimate
    f1: Estimate


@dataclass(frozen=True, kw_only=True, eq=False)
class Report:
    """The scores of a corpus under one protocol.

    `report["rouge-1"].recall.value` is a figure; `report.item_scores` holds those of every item:
    (items, measures, 3) with the measures in the order of `report.scores` and then recall,
    precision, F1.
    """

    scores: dict[str, Score]
    item_scores: Numbers
    protocol: Protocol
    fingerprint: str
    """SHA-256 over all summaries and references, as they were before any limit."""

    def __getitem__(self, measure: str) -> Score:
        return self.scores[measure]

    def headline(self, measure: str) -> Estimate:
        """Return the figure that the protocol quotes."""
        estimate: Estimate = getattr(self.scores[measure], self.protocol.headline)
        return estimate

    def as_json(self) -> dict[str, object]:
        """Return what `readagain rouge --json` prints; low and high bound the headline figure."""
        measures: dict[str, object] = {
            name: {
                "recall": score.recall.value,
                "precision": score.precision.value,
                "f1": score.f1.value,
                "low": self.headline(name).low,
                "high": self.headline(name).high,
            }
            for name, score in self.scores.items()
        }
        return measures | {
            "options": self.protocol.options.flags(),
            "items": len(self.item_scores),
            "fingerprint": self.fingerprint,
        }
