"""Shortlists in graphs: what the encoder makes of each source, and how a step scores them.

`networks/outputs/shortlist.py` says which words are on a list. A step multiplies by the frequent
words alone. The rest of the output matrix is a table of the encoder graph, in which the few rare
words of a source are looked up.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from readagain.config.schema import ModelSpec, RunSpec
from readagain.export.graph import Graph
from readagain.export.inputs import Part
from readagain.export.places import numbers
from readagain.export.products import Products
from readagain.export.weights import Weights
from readagain.export.words import (
    FIRST_WORD,
    MINUS_INFINITY,
    RareWords,
    Vocabulary,
    score_vocabulary,
)


def list_size(run: RunSpec, model: ModelSpec) -> int:
    """Return W, the words that compete at once; 0 where all do."""
    return model.shortlist_size if model.shortlist_size < run.vocab_size else 0


def list_words(
    graph: Graph, products: Products, weights: Weights, ext_ids: str, *, size: int
) -> None:
    """Make the lists of (D, S) extended ids, and output them.

    Outputs: `rare_keys` (D, H, S) the output matrix's rows of rarer words, laid out for the step's
    product; `rare_biases` (D, 1, S) their biases, -inf at places where no rarer word first stands;
    `last_biases` (D, S) -inf at those of the last S frequent words that give way, else 0.
    """
    table, biases = weights.tensor("weight")[size:], weights.tensor("bias")[size:]
    same = graph.add("Equal", graph.unsqueeze(ext_ids, 2), graph.unsqueeze(ext_ids, 1))
    first = graph.add("ArgMax", graph.cast(same, np.float32), axis=2, keepdims=0)  # (D, S)
    is_first = graph.add("Equal", first, numbers(graph, graph.size(ext_ids, 1)))
    beyond = graph.add("Sub", ext_ids, graph.ints(size))
    is_beyond = graph.add("GreaterOrEqual", beyond, graph.ints(0))
    is_known = graph.add("Less", beyond, graph.ints(len(table)))
    is_rare = graph.add("And", graph.add("And", is_first, is_beyond), is_known)  # (D, S)
    _give_way(graph, ext_ids, is_rare, size=size)

    rows = graph.add("Where", is_rare, beyond, graph.ints(0))
    keys = products.embed(graph, graph.reshape(rows, -1), table)
    keys = graph.reshape(keys, graph.size(ext_ids, 0), graph.size(ext_ids, 1), table.shape[1])
    keys = graph.add("Transpose", keys, perm=[0, 2, 1])
    graph.output(keys, "rare_keys", np.float32, ["D", table.shape[1], "S"])
    bias = graph.add("Gather", graph.constant(biases, np.float32), rows)
    bias = graph.add("Where", is_rare, bias, graph.constant(MINUS_INFINITY))
    graph.output(graph.unsqueeze(bias, 1), "rare_biases", np.float32, ["D", 1, "S"])


def _give_way(graph: Graph, ext_ids: str, is_rare: str, *, size: int) -> None:
    """Let each rare word take the place of the least frequent word that the source does not hold.

    A source has at most S words, frequent and rare, so only the last S frequent ones can go; that
    there are as many is what settings are checked for.
    """
    last_ids = last_words(graph, graph.size(ext_ids, 1), end=size)  # (S,)
    is_own = graph.add("Equal", graph.unsqueeze(ext_ids, 2), last_ids)  # (D, S, S)
    is_own = graph.add("ReduceMax", graph.cast(is_own, np.float32), graph.ints(1), keepdims=0)
    others = graph.add("Sub", graph.constant(np.float32(1)), is_own)  # (D, S)
    rank = graph.add("CumSum", others, graph.constant(np.int64(1)), reverse=1)
    num_rare = graph.add("ReduceSum", graph.cast(is_rare, np.float32), graph.ints(1), keepdims=1)
    goes = graph.add("And", graph.cast(others, np.bool_), graph.add("LessOrEqual", rank, num_rare))
    biases = graph.add("Where", goes, graph.constant(MINUS_INFINITY), graph.constant(np.float32(0)))
    graph.output(biases, "last_biases", np.float32, ["D", "S"])


def last_words(graph: Graph, count: str, *, end: int) -> str:
    """Count the (1,) `count` numbers before `end`: (count,)."""
    return graph.add("Add", numbers(graph, count), graph.add("Sub", graph.ints(end), count))


@dataclass(frozen=True)
class Shortlist:
    """The lists of D documents, as values of a step graph with R rows.

    Args:
        size: W, frequent words that are scored for all documents.
        document: (R,) the document of each row.
        ext_ids: (R, S) extended ids of the source words.
        rare_keys: (D, H, S) as `list_words` gives them.
        rare_biases: (D, 1, S) likewise.
        last_biases: (D, S) likewise.
        in_grid: stands rows in the grid, (R, n) -> (D, K, n).
        in_rows: takes them from it, (D, K, n) -> (R, n).
    """

    size: int
    document: str
    ext_ids: str
    rare_keys: str
    rare_biases: str
    last_biases: str
    in_grid: Callable[[str], str]
    in_rows: Callable[[str, str | int], str]

    def score(
        self,
        graph: Graph,
        products: Products,
        hidden: str,
        seen: Sequence[Part],
        weights: Weights,
        k: str,
    ) -> Vocabulary:
        """Score the words on each list, and keep the k best of the frequent ones."""
        frequent = score_vocabulary(
            graph, products, seen, weights, k, size=self.size, adjust=self._without_gone
        )
        rare = graph.add("MatMul", self.in_grid(hidden), self.rare_keys)  # (D, K, S)
        rare = graph.add("Add", rare, self.rare_biases)
        rare = self.in_rows(rare, graph.size(self.ext_ids, 1))  # (R, S)
        return replace(frequent, rare=RareWords(self.ext_ids, rare))

    def _without_gone(self, graph: Graph, logits: str) -> str:
        """Take from (R, W - 4) logits those that give way, a few of the last."""
        biases = graph.add("Gather", self.last_biases, self.document)  # (R, S)
        columns = last_words(graph, graph.size(biases, 1), end=self.size - FIRST_WORD)
        columns = graph.add("Expand", columns, graph.add("Shape", biases))
        return graph.add("ScatterElements", logits, columns, biases, axis=1, reduction="add")
