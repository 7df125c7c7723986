"""What the step graphs of the rivals share: a grid of beams, attention by products, the words."""

from collections.abc import Sequence

import numpy as np
from onnx import ModelProto

from readagain.export.graph import Graph
from readagain.export.inputs import Part
from readagain.export.products import Products
from readagain.export.step_graph import LOWEST
from readagain.export.weights import Weights
from readagain.export.words import choose_words, score_vocabulary
from readagain.text.vocab import UNK


class RivalStep:
    """A step graph of a network that scores words from its state and a context.

    Inputs as `step_graph.build_step_graph` has them: `previous_ids` (R,), `grid` (D, K), `place`
    (R,), `k`, `states` (D, S, n), `valid` (D, 1, S); `keys` lie as (D, H, S), since a product
    compares them.
    """

    def __init__(self, weights: Weights, products: Products, *, vocab_size: int) -> None:
        self.graph = graph = Graph("step")
        self.weights, self.products = weights, products
        self.vocab_size = vocab_size
        self.previous_ids = graph.input("previous_ids", np.int64, ["R"])
        self.grid = graph.input("grid", np.int64, ["D", "K"])
        self.place = graph.input("place", np.int64, ["R"])
        self.k = graph.input("k", np.int64, [1])
        self.valid = graph.input("valid", np.bool_, ["D", 1, "S"])

    def embed(self, ids: str, table: str) -> str:
        """Look up (n,) extended ids, words outside the vocabulary as UNK."""
        graph = self.graph
        is_known = graph.add("Less", ids, graph.ints(self.vocab_size))
        known_ids = graph.add("Where", is_known, ids, graph.ints(UNK))
        return self.products.embed(graph, known_ids, self.weights.tensor(table))

    def attend(self, query: str, keys: str, states: str, width: int) -> tuple[str, str]:
        """Look at the source: (R, H) queries -> (R, width) contexts, (R, S) weights."""
        graph = self.graph
        scores = graph.add("MatMul", graph.add("Gather", query, self.grid), keys)  # (D, K, S)
        scores = graph.add("Where", self.valid, scores, graph.constant(LOWEST))
        weights = graph.add("Softmax", scores, axis=-1)
        weights = graph.add("Where", self.valid, weights, graph.constant(np.float32(0)))
        contexts = graph.add("MatMul", weights, states)  # (D, K, width)
        return self.in_rows(contexts, width), self.in_rows(weights, graph.size(self.valid, 2))

    def in_rows(self, grid: str, width: int | str) -> str:
        """Take rows from their places: (D, K, width) -> (R, width)."""
        return self.graph.add("Gather", self.graph.reshape(grid, -1, width), self.place)

    def finish(self, seen: Sequence[Part], attention: str) -> ModelProto:
        """Score words from what a row sees, choose the best, and close the graph."""
        graph = self.graph
        weights = self.weights.of("output.project")
        vocabulary = score_vocabulary(graph, self.products, seen, weights, self.k)
        chosen = choose_words(graph, vocabulary, None, None, self.k)
        graph.output(chosen.ids, "ids", np.int64, ["R", "k"])
        graph.output(chosen.log_probs, "log_probs", np.float32, ["R", "k"])
        graph.output(chosen.copied_from, "copied_from", np.int64, ["R", "k"])
        graph.output(chosen.end_log_probs, "end_log_probs", np.float32, ["R"])
        graph.output(attention, "attention", np.float32, ["R", "S"])
        return graph.model()
