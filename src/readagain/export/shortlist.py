"""Shortlists in graphs: what the encoder makes of each source, and how a step scores them.

`networks/outputs/shortlist.py` says which words are on a list and how its columns are laid out.
The output matrix of a large vocabulary is a table of the encoder graph, in which the few rare
words of a source are looked up; a step multiplies by the frequent words alone.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from readagain.export.graph import Graph
from readagain.export.inputs import Part, multiply_rows
from readagain.export.places import numbers
from readagain.export.products import PRODUCTS, Products
from readagain.export.weights import Weights
from readagain.export.words import FIRST_WORD, MINUS_INFINITY, Vocabulary, best_logits


def list_words(
    graph: Graph, products: Products, weights: Weights, ext_ids: str, *, size: int
) -> None:
    """Make the lists of (D, S) extended ids, and output them.

    Outputs: `listed` (D, W - 4), 1 at the frequent words on the list, reserved ones left out;
    `rare_keys` (D, H, S) the output matrix's rows of rarer words, laid out for the step's product;
    `rare_biases` (D, 1, S) their biases, -inf at places where no rarer word first stands.
    """
    table, biases = weights.tensor("weight"), weights.tensor("bias")
    V, H = table.shape
    same = graph.add("Equal", graph.unsqueeze(ext_ids, 2), graph.unsqueeze(ext_ids, 1))
    first = graph.add("ArgMax", graph.cast(same, np.float32), axis=2, keepdims=0)  # (D, S)
    is_first = graph.add("Equal", first, numbers(graph, graph.size(ext_ids, 1)))
    is_beyond = graph.add("GreaterOrEqual", ext_ids, graph.ints(size))
    is_known = graph.add("Less", ext_ids, graph.ints(V))
    is_rare = graph.add("And", graph.add("And", is_first, is_beyond), is_known)  # (D, S)

    # Each rare word takes the place of the least frequent word that the source does not hold.
    ones = graph.add("Expand", graph.constant([[1.0]], np.float32), graph.add("Shape", ext_ids))
    column = graph.add("Min", ext_ids, graph.ints(size))
    nobody = graph.add("ConstantOfShape", graph.joined(graph.size(ext_ids, 0), size + 1))
    is_own = graph.add("ScatterElements", nobody, column, ones, axis=1)  # (D, W + 1)
    is_own = graph.add(
        "Slice", is_own, graph.ints(FIRST_WORD), graph.ints(size), graph.ints(1)
    )  # (D, W - 4)
    others = graph.add("Sub", graph.constant(np.float32(1)), is_own)
    rank = graph.add("CumSum", others, graph.constant(np.int64(1)), reverse=1)
    num_rare = graph.add("ReduceSum", graph.cast(is_rare, np.float32), graph.ints(1), keepdims=1)
    stays = graph.cast(graph.add("Greater", rank, num_rare), np.float32)
    listed = graph.add("Max", is_own, stays)
    graph.output(listed, "listed", np.float32, ["D", size - FIRST_WORD])

    rare_ids = graph.add("Where", is_rare, ext_ids, graph.ints(0))
    rows = products.embed(graph, graph.reshape(rare_ids, -1), table)
    rows = graph.reshape(rows, graph.size(ext_ids, 0), graph.size(ext_ids, 1), H)
    keys = graph.add("Transpose", rows, perm=[0, 2, 1])
    graph.output(keys, "rare_keys", np.float32, ["D", H, "S"])
    bias = graph.add("Gather", graph.constant(biases, np.float32), rare_ids)
    bias = graph.add("Where", is_rare, bias, graph.constant(MINUS_INFINITY))
    graph.output(graph.unsqueeze(bias, 1), "rare_biases", np.float32, ["D", 1, "S"])


@dataclass(frozen=True)
class Shortlist:
    """The lists of D documents, as values of a step graph with R rows.

    Args:
        size: W, frequent words that have a column.
        document: (R,) the document of each row.
        listed: (D, W - 4) as `list_words` gives them.
        rare_keys: (D, H, S) likewise.
        rare_biases: (D, 1, S) likewise.
        ext_ids: (R, S) extended ids of the source words.
        in_grid: stands rows in the grid, (R, n) -> (D, K, n).
        in_rows: takes them from it, (D, K, n) -> (R, n).
    """

    size: int
    document: str
    listed: str
    rare_keys: str
    rare_biases: str
    ext_ids: str
    in_grid: Callable[[str], str]
    in_rows: Callable[[str, str | int], str]

    @property
    def num_frequent(self) -> int:
        """Count the columns of frequent words."""
        return self.size - FIRST_WORD

    def score(
        self,
        graph: Graph,
        products: Products,
        hidden: str,
        seen: Sequence[Part],
        weights: Weights,
        k: str,
    ) -> Vocabulary:
        """Score the words on each list, and keep the k best; the rest as `score_vocabulary`."""
        weight, bias = weights.matrix("weight"), weights.tensor("bias")
        reserved = multiply_rows(
            graph, PRODUCTS["float32"], seen, weight[:, :FIRST_WORD], bias[:FIRST_WORD]
        )
        columns = slice(FIRST_WORD, self.size)
        frequent = multiply_rows(graph, products, seen, weight[:, columns], bias[columns])
        is_listed = graph.cast(graph.add("Gather", self.listed, self.document), np.bool_)
        frequent = graph.add("Where", is_listed, frequent, graph.constant(MINUS_INFINITY))
        rare = graph.add("MatMul", self.in_grid(hidden), self.rare_keys)  # (D, K, S)
        rare = graph.add("Add", rare, self.rare_biases)
        rare = self.in_rows(rare, graph.size(self.ext_ids, 1))  # (R, S)
        logits = graph.add("Concat", frequent, rare, axis=1)  # (R, W - 4 + S)
        num_words = graph.size(logits, 1)
        best, places, log_total = best_logits(graph, logits, k, num_words)
        return Vocabulary(logits, reserved, best, self._ids(graph, places), log_total, num_words)

    def columns(self, graph: Graph, columns: str) -> str:
        """Move the (R, S) columns of copied words, as of the vocabulary, to those of the list."""
        place = graph.add(
            "Add", numbers(graph, graph.size(columns, 1)), graph.ints(self.num_frequent)
        )  # an unknown word's own column, too: nothing can be generated there
        is_frequent = graph.add("Less", columns, graph.ints(self.num_frequent))
        return graph.add("Where", is_frequent, columns, place)

    def _ids(self, graph: Graph, places: str) -> str:
        """Return the extended ids of the words in (R, k) columns."""
        beyond = graph.add("Sub", places, graph.ints(self.num_frequent))
        beyond = graph.add("Max", beyond, graph.ints(0))
        rare = graph.add("GatherElements", self.ext_ids, beyond, axis=1)
        is_frequent = graph.add("Less", places, graph.ints(self.num_frequent))
        return graph.add(
            "Where", is_frequent, graph.add("Add", places, graph.ints(FIRST_WORD)), rare
        )
