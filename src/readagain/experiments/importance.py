"""Importance of words in the second reading pass, by word class (Figure 4 of the paper)."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from readagain.evaluation.dataset import DataSet
from readagain.experiments.catalog import PAPER_EXAMPLES
from readagain.experiments.store import bootstrap_interval
from readagain.text.part_of_speech import part_of_speech

if TYPE_CHECKING:
    from readagain.experiments.trained_model import ExperimentModel, WeightedText

WordClass = Literal["function", "content", "number", "sign"]
WORD_CLASSES: tuple[WordClass, ...] = ("function", "content", "number", "sign")
_CONTENT_PARTS = ("noun", "verb", "noun or verb", "adjective", "adverb")
_FUNCTION_PARTS = (
    "determiner", "pronoun", "preposition", "conjunction", "auxiliary", "particle",
)  # fmt: skip
# Every part of speech that is not listed is of the class "content".
_CLASS_BY_PART: dict[str, WordClass] = {
    **dict.fromkeys(_FUNCTION_PARTS, "function"),
    "number": "number",
    "punctuation": "sign",
}
_BRACKETS = ("-lrb-", "-rrb-", "-lcb-", "-rcb-", "-lsb-", "-rsb-")
_MAX_TEXTS = 2_000
"""Number of texts of a data set that are measured."""


def word_class(norm: str) -> WordClass:
    """Return the class of a normalized word.

    >>> [word_class(norm) for norm in ("the", "bridge", "##", "-lrb-", ",")]
    ['function', 'content', 'number', 'sign', 'sign']
    """
    return "sign" if norm in _BRACKETS else _CLASS_BY_PART.get(part_of_speech(norm), "content")


def measure_importance(model: "ExperimentModel", data: DataSet) -> dict[str, Any] | None:
    """Measure the importance of words by class; return None without a second reading pass.

    Returns:
        `kind` of importance; number of `texts`; means by word class (`classes`) and part of speech
        (`parts`); the difference between a class and function words (`content_over_function` and
        so on); the importance of each word in the inputs that the paper prints (`samples`).
    """
    texts = [row.text for row in data.rows[:_MAX_TEXTS]]
    kind, weighted = model.importance(texts, is_tokenized=data.is_tokenized)
    if kind is None:
        return None
    classes = [np.array([word_class(norm) for norm in norms]) for norms, _ in weighted]
    parts = [np.array([part_of_speech(norm) for norm in norms]) for norms, _ in weighted]
    is_function = [text_classes == "function" for text_classes in classes]
    labels_by_name = {"content": classes, "noun": parts, "verb": parts}
    paper_inputs = [example.text for example in PAPER_EXAMPLES]
    _, samples = model.importance(paper_inputs, is_tokenized=True)
    return {
        "kind": kind,
        "texts": len(weighted),
        "classes": _mean_importance(weighted, classes, WORD_CLASSES),
        "parts": _mean_importance(weighted, parts, _CONTENT_PARTS),
        **{
            f"{name}_over_function": _mean_difference(
                weighted, [text_labels == name for text_labels in labels], is_function
            )
            for name, labels in labels_by_name.items()
        },
        "samples": [
            {"words": norms, "weights": np.round(weights, 4).tolist()} for norms, weights in samples
        ],
    }


def _mean_importance(
    weighted: "Sequence[WeightedText]", labels: Sequence[Any], names: Sequence[str]
) -> dict[str, dict[str, float]]:
    """Return the number and the mean importance of the words that have each of the labels `names`.

    `labels` has, for each text, an array with the label of each word.
    """
    all_weights = np.concatenate([weights for _, weights in weighted])
    all_labels = np.concatenate(labels)
    means = {}
    for name in names:
        weights = all_weights[all_labels == name]
        means[name] = {
            "words": len(weights),
            "mean": float(weights.mean()) if len(weights) else 0.0,
        }
    return means


def _mean_difference(
    weighted: "Sequence[WeightedText]", is_selected: Sequence[Any], is_function: Sequence[Any]
) -> dict[str, float]:
    """Return the mean difference between selected words and function words of the same text.

    The 95% interval is from a bootstrap over the texts. `is_selected` and `is_function` have a mask
    of the words of each text.
    """
    differences = np.array(
        [
            weights[selected].mean() - weights[function].mean()
            for (_, weights), selected, function in zip(
                weighted, is_selected, is_function, strict=True
            )
            if selected.any() and function.any()
        ],
        np.float64,
    )
    num_texts = len(differences)
    if not num_texts:
        return {"texts": 0, "mean": 0.0, "low": 0.0, "high": 0.0, "positive_share": 0.0}
    low, high = bootstrap_interval(differences)
    return {
        "texts": num_texts,
        "mean": float(differences.mean()),
        "low": float(low),
        "high": float(high),
        "positive_share": float((differences > 0).mean()),
    }
