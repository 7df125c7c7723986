"""What a reading or the output is given: products of several parts, added up."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from readagain.export.graph import Array, Graph
from readagain.export.products import Products
from readagain.export.readings import Sentences


@dataclass(frozen=True)
class Part:
    """Something a reading sees.

    Args:
        rows: (L * B, width), one row for each word; or (B, width), one for each sentence.
        width: how wide.
        bound: what no entry exceeds in size; None where that is not known.
        of_sentence: whether there is one row for each sentence; it is multiplied once, not at
            every word.
    """

    rows: str
    width: int
    bound: float | None
    of_sentence: bool = False


def multiply_parts(
    graph: Graph,
    products: Products,
    sentences: Sentences,
    parts: Sequence[Part],
    weight: Array,
    bias: Array | None,
) -> str:
    """Multiply parts, laid end to end, by an (I, O) weight and add a bias: (L, B, O)."""
    ends = np.cumsum([part.width for part in parts])
    total = ""
    for part, rows_of_weight in zip(parts, np.split(weight, ends[:-1]), strict=True):
        product = products.multiply(graph, part.rows, rows_of_weight, bias, bound=part.bound)
        bias = None  # the first part has brought it
        if not part.of_sentence:
            product = sentences.by_word(graph, product, weight.shape[1])
        total = graph.add("Add", total, product) if total else product
    return total


def multiply_rows(
    graph: Graph, products: Products, parts: Sequence[Part], weight: Array, bias: Array | None
) -> str:
    """Multiply parts with one row each for R things, laid end to end, by an (I, O) weight: (R, O).

    Every part is multiplied on its own, and in int8 has a scale of its own.
    """
    ends = np.cumsum([part.width for part in parts])
    total = ""
    for part, rows_of_weight in zip(parts, np.split(weight, ends[:-1]), strict=True):
        product = products.multiply(graph, part.rows, rows_of_weight, bias, bound=part.bound)
        bias = None  # the first part has brought it
        total = graph.add("Add", total, product) if total else product
    return total
