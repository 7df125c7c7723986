"""Confidence of a headline: a logistic model over features of the headline and its text."""

import math
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
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
    "language",
    *CHECKS,
)
"""Names of the features of `features_and_checks`.

The feature of a check is 1 if it fails; "language" is 1 if the text seems to be in another language
than that of the model.
"""


@dataclass(frozen=True, kw_only=True)
class ConfidenceModel:
    """Logistic regression of the probability that a headline has no fault.

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
        intercept: Any = content.get("intercept")
        weights = content.get("weights")
        if not isinstance(weights, dict) or not all(
            map(_is_finite, (intercept, *weights.values()))
        ):
            raise ArtifactError(
                f"{where}: expected an intercept and weights, all finite numbers; fit it again"
            )
        unknown = sorted(weights.keys() - set(FEATURES))
        if unknown:
            raise ArtifactError(
                f"{where}: unknown feature {quoted(unknown[0])}; fit it again with this version"
            )
        return cls(intercept=float(intercept), weights=weights)

    def confidence(self, features: Mapping[str, float]) -> float:
        """Return the confidence of a summary, from 0 to 1, rounded to four decimals."""
        log_odds = self.intercept + sum(
            weight * features[name] for name, weight in self.weights.items()
        )
        return round(1 / (1 + math.exp(-max(-30.0, min(30.0, log_odds)))), 4)


def features_and_checks(
    summary: Summary, source: SourceText, language: Language = ENGLISH
) -> tuple[dict[str, float], list[str]]:
    """Return the features of a summary by name, and the codes of its failed checks.

    The summary has at least one word, `source` is its text, and `language` is that of the model.
    """
    document = source.document
    text = [CheckedWord(word.norm, document.surface(word)) for word in document.words]
    printed_words = [
        CheckedWord(
            word.norm,
            word.surface,
            word.copied_from if word.digits_from is None else word.digits_from,
        )
        for word in summary.words
        if word.surface
    ]
    headline = align(printed_words, text)
    failed = failed_checks(headline, text, language)
    log_probs = [word.log_prob for word in summary.words]
    num_words = max(1, len(headline))
    positions = [word.position for word in headline if word.position is not None]  # in `text`
    steps = [after - before for before, after in pairwise(positions)]
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
        # Distances in the text are divided by 10, so that all features have similar ranges.
        "longest_gap": max((step - 1 for step in steps), default=0) / 10,
        "start": first / 10,
        "skipped_verbs": _count_verbs(text[first : last + 1]) - _count_verbs(headline),
        "two_sentences": first < end_of_first_sentence <= last,
        "truncated": summary.truncated,
        "language": any(warning.code == "language" for warning in summary.warnings),
        **{name: name in failed for name in CHECKS},
    }
    return {name: float(value) for name, value in values.items()}, failed


def _is_finite(value: Any) -> bool:
    """Return whether a value of a JSON file is a number that a float can represent."""
    return type(value) in (int, float) and abs(value) <= sys.float_info.max


def _count_verbs(words: Words) -> int:
    """Count the verbs among words."""
    return sum(part_of_speech(word.norm) in ("verb", "auxiliary") for word in words)


def _longest_increasing(positions: Sequence[int]) -> int:
    """Return the length of the longest increasing subsequence."""
    lengths: list[int] = []  # of the longest increasing subsequence that ends at each index
    for index, position in enumerate(positions):
        smaller = (lengths[i] for i in range(index) if positions[i] < position)
        lengths.append(1 + max(smaller, default=0))
    return max(lengths, default=0)
