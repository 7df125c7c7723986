"""Confidence of a headline: a logistic model over features of the headline and its text."""

import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from readagain.engine.checks import CHECKS, CheckedWord, Words, align, failed_checks
from readagain.engine.source import SourceText
from readagain.engine.summary import Summary
from readagain.errors import ArtifactError, quoted
from readagain.text.language import ENGLISH, Language
from readagain.text.part_of_speech import part_of_speech

FEATURES = (
    "mean_log_prob",
    "min_log_prob",
    "end_log_prob",
    "num_words",
    "length_ratio",
    "copied",
    "not_in_text",
    "in_order",
    "jumps",
    "longest_gap",
    "start",
    "skipped_verbs",
    "two_sentences",
    "truncated",
    *CHECKS,
)
"""Names of the features, computed by `_features`; each check adds 1 if it fails."""


@dataclass(frozen=True, kw_only=True)
class ConfidenceModel:
    """Logistic regression from features to the probability that a headline is faultless.

    Args:
        intercept: log-odds if all features are 0.
        weights: weight of each feature; features without a weight are not used.
    """

    intercept: float
    weights: Mapping[str, float]

    @classmethod
    def parse(cls, content: Mapping[str, Any], where: str) -> "ConfidenceModel":
        """Read the content of `confidence.json`.

        Raises:
            ArtifactError: if a number is missing or invalid, or a feature is unknown.
        """
        weights = content.get("weights")
        weights = weights if isinstance(weights, dict) else {"": None}  # None is refused below
        values = [content.get("intercept"), *weights.values()]
        if not all(type(value) in (int, float) and math.isfinite(value) for value in values):
            raise ArtifactError(
                f"{where}: expected an intercept and weights, all finite numbers; fit it again"
            )
        unknown = sorted(weights.keys() - set(FEATURES))
        if unknown:
            raise ArtifactError(
                f"{where}: unknown feature {quoted(unknown[0])}; fit it again with this version"
            )
        return cls(intercept=float(values[0]), weights=weights)

    def confidence(self, values: Mapping[str, float]) -> float:
        """Return the confidence, from 0 to 1 with four decimals, for the features of a summary."""
        log_odds = self.intercept + sum(
            weight * values[name] for name, weight in self.weights.items()
        )
        return round(1 / (1 + math.exp(-max(-30.0, min(30.0, log_odds)))), 4)


def aligned_words(summary: Summary, source: SourceText) -> tuple[list[CheckedWord], Words]:
    """Return the printed words of a summary, aligned with its text, and the words of the text."""
    document = source.document
    text_words = [CheckedWord(word.norm, document.surface(word)) for word in document.words]
    printed_words = [
        CheckedWord(
            word.norm,
            word.surface,
            word.copied_from if word.digits_from is None else word.digits_from,
        )
        for word in summary.words
        if word.surface
    ]
    return align(printed_words, text_words), text_words


def features_and_checks(
    summary: Summary, source: SourceText, language: Language = ENGLISH
) -> tuple[dict[str, float], list[str]]:
    """Return the features of a summary by name, and the codes of its failed checks.

    The summary has at least one word; `source` is its text, `language` that of the model.
    """
    headline, text = aligned_words(summary, source)
    failed = failed_checks(headline, text, language)
    return _features(summary, source, headline, text, failed), failed


def _features(
    summary: Summary, source: SourceText, headline: Words, text: Words, failed: Collection[str]
) -> dict[str, float]:
    """Return the features by name; `headline` is aligned with `text`.

    `positions` are indices into `text`. Distances between them are divided by 10.
    """
    log_probs = [word.log_prob for word in summary.words]
    num_words = max(1, len(headline))
    positions = [word.position for word in headline if word.position is not None]
    steps = [after - before for before, after in zip(positions, positions[1:], strict=False)]
    first, last = (min(positions), max(positions)) if positions else (0, 0)
    end_of_first_sentence = len(source.document.sentences[0])
    values = {
        "mean_log_prob": sum(log_probs) / max(1, len(log_probs)),
        "min_log_prob": min(log_probs, default=0.0),
        "end_log_prob": summary.end_log_prob,
        "num_words": num_words,
        "length_ratio": num_words / len(text),
        "copied": sum(word.origin == "copied" for word in summary.words) / num_words,
        "not_in_text": sum(word.position is None for word in headline) / num_words,
        "in_order": _longest_increasing(positions) / num_words,
        "jumps": sum(step != 1 for step in steps) / num_words,
        "longest_gap": max((step - 1 for step in steps), default=0) / 10,
        "start": first / 10,
        "skipped_verbs": _num_verbs(text[first : last + 1]) - _num_verbs(headline),
        "two_sentences": first < end_of_first_sentence <= last,
        "truncated": summary.truncated,
    }
    values.update({name: name in failed for name in CHECKS})
    return {name: float(value) for name, value in values.items()}


def _num_verbs(words: Words) -> int:
    return sum(part_of_speech(word.norm) in ("verb", "auxiliary") for word in words)


def _longest_increasing(positions: Sequence[int]) -> int:
    """Return the length of the longest increasing subsequence."""
    lengths: list[int] = []  # of the longest increasing subsequence that ends at each index
    for index, position in enumerate(positions):
        extendable = (lengths[i] for i in range(index) if positions[i] < position)
        lengths.append(1 + max(extendable, default=0))
    return max(lengths, default=0)
