"""Inputs of a step graph, and the operations that all decoders share."""

import numpy as np

from readagain.export.graph_builder import GraphBuilder, StateDict
from readagain.text.vocab import UNK

PADDING_SCORE = np.float32(np.finfo(np.float32).min)
"""Attention score of padding: finite, so that the softmax of a source without words is not NaN."""


class StepGraph:
    """Builder of a step graph, from the previous words to the k best next words.

    A step has R rows, one per hypothesis. The hypotheses of a document share its memory: the
    outputs of the encoder. For attention and copying, the rows are gathered into a (D, K) grid with
    the hypotheses of D documents, where K is the largest number of hypotheses of a document.

    Inputs: `previous_ids` (R,); `grid` (D, K) and `place` (R,), which are `grid` and
    `grid_position` of `BeamLayout`; `k` (1,); `valid` (D, 1, S), True at real words; and the memory
    and the state of the network.

    Outputs: `ids`, `log_probs`, `copied_from` (R, k), `end_log_probs` (R,) of EOS, `attention`
    (R, S) and the next state. The next value of `hidden` is the output `next_hidden`, and so on.
    """

    def __init__(self, graph: GraphBuilder, weights: StateDict, *, vocab_size: int) -> None:
        self.graph, self.weights, self.vocab_size = graph, weights, vocab_size
        self.previous_ids = graph.input("previous_ids", np.int64, ["R"])
        self.grid = graph.input("grid", np.int64, ["D", "K"])
        self.grid_position = graph.input("place", np.int64, ["R"])
        self.k = graph.input("k", np.int64, [1])
        self.valid = graph.input("valid", np.bool_, ["D", 1, "S"])

    def to_grid(self, rows: str) -> str:
        """Gather rows into the grid: (R, n) -> (D, K, n)."""
        return self.graph.op("Gather", rows, self.grid)

    def to_rows(self, grid: str, width: int | str) -> str:
        """Gather rows from the grid: (D, K, width) -> (R, width)."""
        return self.graph.op("Gather", self.graph.reshape(grid, -1, width), self.grid_position)

    def source_to_rows(self, grid: str) -> str:
        """Gather one value per source position from the grid: (D, K, S) -> (R, S)."""
        return self.to_rows(grid, self.graph.size(self.valid, 2))

    def embedding(self, ids: str, table: str) -> str:
        """Embed (n,) extended ids with the tensor `table`; OOV words have the embedding of UNK."""
        known_ids = self.graph.op("Where", self.is_known(ids), ids, self.graph.ints(UNK))
        return self.graph.embedding(known_ids, self.weights.tensor(table))

    def is_known(self, ids: str) -> str:
        """Return which extended ids are in the vocabulary, in the shape of `ids`."""
        return self.graph.op("Less", ids, self.graph.ints(self.vocab_size))

    def attend(self, scores: str, states: str, width: int) -> str:
        """Return (R, width) contexts, the means of (D, S, width) states, weighted by attention.

        `scores` are the (D, K, S) attention scores. The attention weights become the graph output
        `attention`.
        """
        graph = self.graph
        scores = graph.op("Where", self.valid, scores, graph.constant(PADDING_SCORE))
        weights = graph.op("Softmax", scores, axis=-1)
        weights = graph.op("Where", self.valid, weights, graph.constant(np.float32(0)))
        contexts = graph.op("MatMul", weights, states)  # (D, K, width)
        graph.output(self.source_to_rows(weights), "attention", np.float32, ["R", "S"])
        return self.to_rows(contexts, width)
