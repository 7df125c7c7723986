"""Importance weights of the second reading pass by word class (Figure 4 of the paper)."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from readagain.evaluation.dataset import DataSet
from readagain.experiments.catalog import PAPER_EXAMPLES
from readagain.text.part_of_speech import part_of_speech

if TYPE_CHECKING:
    from readagain.experiments.trained_model import ExperimentModel, WeightedText

WordClass = Literal["function", "content", "number", "sign"]
WORD_CLASSES: tuple[WordClass, ...] = ("function", "content", "number", "sign")
_CONTENT_PARTS = ("noun", "verb", "noun or verb", "adjective", "adverb")
_FUNCTION_PARTS = (
    "determiner", "pronoun", "preposition", "conjunction", "auxiliary", "particle",
)  # fmt: skip
_CLASS_OF: dict[str, WordClass] = {
    **dict.fromkeys(_FUNCTION_PARTS, "function"),
    "number": "number",
    "punctuation": "sign",
}
_BRACKETS = ("-lrb-", "-rrb-", "-lcb-", "-rcb-", "-lsb-", "-rsb-")
_MAX_TEXTS = 2_000
_NUM_RESAMPLES = 1000
"""Number of bootstrap samples for the interval."""


def word_class(norm: str) -> WordClass:
    """Return the class of a normalized word.

    >>> [word_class(norm) for norm in ("the", "bridge", "##", "-lrb-", ",")]
    ['function', 'content', 'number', 'sign', 'sign']
    """
    return "sign" if norm in _BRACKETS else _CLASS_OF.get(part_of_speech(norm), "content")


def measure_importance(model: "ExperimentModel", data: DataSet) -> dict[str, Any] | None:
    """Return importance weights by word class; None for a network without a second reading pass."""
    texts = [example.text for example in data.rows[:_MAX_TEXTS]]
    kind, weighted = model.importance(texts, is_tokenized=data.is_tokenized)
    if kind is None:
        return None
    classes = [np.array([word_class(norm) for norm in norms]) for norms, _ in weighted]
    parts = [np.array([part_of_speech(norm) for norm in norms]) for norms, _ in weighted]
    is_function = [each == "function" for each in classes]
    compared = {"content": classes, "noun": parts, "verb": parts}
    examples = [example.text for example in PAPER_EXAMPLES]
    _, samples = model.importance(examples, is_tokenized=True)
    return {
        "kind": kind,
        "texts": len(weighted),
        "classes": _means(weighted, classes, WORD_CLASSES),
        "parts": _means(weighted, parts, _CONTENT_PARTS),
        **{
            f"{name}_over_function": _difference(
                weighted, [each == name for each in labels], is_function
            )
            for name, labels in compared.items()
        },
        "samples": [
            {"words": norms, "weights": np.round(weights, 4).tolist()} for norms, weights in samples
        ],
    }


def _means(
    weighted: "Sequence[WeightedText]", labels: Sequence[Any], names: Sequence[str]
) -> dict[str, dict[str, float]]:
    """Return the mean weight of the words with each label."""
    weights = np.concatenate([text_weights for _, text_weights in weighted])
    label = np.concatenate(labels)
    groups = {name: weights[label == name] for name in names}
    return {
        name: {"words": len(group), "mean": float(group.mean()) if len(group) else 0.0}
        for name, group in groups.items()
    }


def _difference(
    weighted: "Sequence[WeightedText]", selected: Sequence[Any], is_function: Sequence[Any]
) -> dict[str, float]:
    """Return the mean difference between selected words and function words of a text.

    The 95% interval is from a bootstrap over the texts.
    """
    values = np.array(
        [
            weights[mask].mean() - weights[function].mean()
            for (_, weights), mask, function in zip(weighted, selected, is_function, strict=True)
            if mask.any() and function.any()
        ],
        np.float64,
    )
    if not len(values):
        return {"texts": 0, "mean": 0.0, "low": 0.0, "high": 0.0, "positive_share": 0.0}
    draws = np.random.default_rng(0).integers(len(values), size=(_NUM_RESAMPLES, len(values)))
    low, high = np.percentile(values[draws].mean(axis=1), [2.5, 97.5])
    return {
        "texts": len(values),
        "mean": float(values.mean()),
        "low": float(low),
        "high": float(high),
        "positive_share": float((values > 0).mean()),
    }
