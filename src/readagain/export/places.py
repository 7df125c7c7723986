"""Source words in a graph as the rivals read them: one sequence, all places at once."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from readagain.export.graph import Graph
from readagain.export.products import Products
from readagain.export.weights import Weights


@dataclass(frozen=True)
class Places:
    """The sources of a graph, one sequence each, as values.

    Args:
        ids: (D * S,) their words.
        documents: (1,) D.
        length: (1,) S.
        valid: (D, S, 1) 1 at real words, 0 at padding.
    """

    ids: str
    documents: str
    length: str
    valid: str

    @classmethod
    def of(cls, graph: Graph) -> "Places":
        """Declare the inputs of an encoder graph: `source_ids` (D, N, L) and `lengths` (D, N)."""
        ids = graph.input("source_ids", np.int64, ["D", "N", "L"])
        lengths = graph.input("lengths", np.int64, ["D", "N"])
        length = graph.size(ids, 2)
        is_word = graph.add("Less", numbers(graph, length), lengths)  # (D, S), since N is 1
        valid = graph.unsqueeze(graph.cast(is_word, np.float32), 2)
        return cls(graph.reshape(ids, -1), graph.size(ids, 0), length, valid)

    def words(self, graph: Graph, products: Products, weights: Weights) -> str:
        """Look up the source words: (D, S, width)."""
        table = weights.tensor("source_embedding.weight")
        words = products.embed(graph, self.ids, table)
        return self.by_document(graph, words, table.shape[1])

    def by_document(self, graph: Graph, rows: str, width: int) -> str:
        """Give (D * S, width) rows their two dimensions."""
        return graph.reshape(rows, self.documents, self.length, width)


def numbers(graph: Graph, count: str) -> str:
    """Count from 0 to a (1,) number, exclusive: (count,)."""
    zero, one = graph.constant(np.int64(0)), graph.constant(np.int64(1))
    return graph.add("Range", zero, graph.add("Squeeze", count), one)


def shifted(graph: Graph, values: str, length: str, *, before: int, after: int) -> Sequence[str]:
    """Give each place its neighbours, first to last: (D, S, n) values, zeros beyond the ends."""
    padded = graph.add("Pad", values, graph.ints(0, before, 0, 0, after, 0))
    return [
        graph.add(
            "Slice",
            padded,
            graph.ints(offset),
            graph.add("Add", length, graph.ints(offset)),
            graph.ints(1),
        )
        for offset in range(before + 1 + after)
    ]


def multiply_windows(
    graph: Graph,
    products: Products,
    values: str,
    length: str,
    weights: Weights,
    *,
    before: int,
    after: int,
) -> str:
    """Multiply every place and its neighbours by a weight: (D, S, n) -> (D * S, O)."""
    weight = weights.matrix("weight")
    around = shifted(graph, values, length, before=before, after=after)
    joined = graph.add("Concat", *around, axis=2)
    rows = graph.reshape(joined, -1, weight.shape[0])
    return products.multiply(graph, rows, weight, None, bound=None)
