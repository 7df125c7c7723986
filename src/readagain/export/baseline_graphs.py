"""Parts that the graphs of ABS and RAS share: source words, attention, candidates."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from onnx import ModelProto

from readagain.export.candidates import output_candidates, score_vocab
from readagain.export.graph_builder import GraphBuilder
from readagain.export.precision_ops import PrecisionOps
from readagain.export.rnn import LinearInput
from readagain.export.state_dict import StateDict
from readagain.text.vocab import UNK

LOWEST = np.float32(np.finfo(np.float32).min)
"""Attention score of padding: finite, so that a source without words gives no NaN."""


@dataclass(frozen=True)
class SourceSequence:
    """Sources of one sequence each, as values of an encoder graph.

    Args:
        ids: (D * S,) word ids.
        documents: (1,) D.
        length: (1,) S.
        valid: (D, S, 1) 1 at real words, 0 at padding.
    """

    ids: str
    documents: str
    length: str
    valid: str

    @classmethod
    def add_inputs(cls, graph: GraphBuilder) -> "SourceSequence":
        """Add the inputs of an encoder graph: `source_ids` (D, N, L) and `lengths` (D, N)."""
        ids = graph.input("source_ids", np.int64, ["D", "N", "L"])
        lengths = graph.input("lengths", np.int64, ["D", "N"])
        length = graph.size(ids, 2)
        is_word = graph.add("Less", graph.arange(length), lengths)  # (D, S), since N is 1
        valid = graph.unsqueeze(graph.cast(is_word, np.float32), 2)
        return cls(graph.reshape(ids, -1), graph.size(ids, 0), length, valid)

    def embedding(self, graph: GraphBuilder, ops: PrecisionOps, weights: StateDict) -> str:
        """Embed the source words: (D, S, width)."""
        table = weights.tensor("source_embedding.weight")
        words = ops.embedding(graph, self.ids, table)
        return self.by_document(graph, words, table.shape[1])

    def by_document(self, graph: GraphBuilder, rows: str, width: int) -> str:
        """Reshape (D * S, width) rows to (D, S, width)."""
        return graph.reshape(rows, self.documents, self.length, width)


class BaselineStep:
    """Step graph of a network that scores words from its state and a context.

    Inputs as in `step_graph.build_step_graph`: `previous_ids` (R,), `grid` (D, K), `place` (R,),
    `k`, `states` (D, S, n), `valid` (D, 1, S), and `keys` (D, H, S) for dot-product attention.
    """

    def __init__(self, weights: StateDict, ops: PrecisionOps, *, vocab_size: int) -> None:
        self.graph = graph = GraphBuilder("step")
        self.weights, self.ops = weights, ops
        self.vocab_size = vocab_size
        self.previous_ids = graph.input("previous_ids", np.int64, ["R"])
        self.grid = graph.input("grid", np.int64, ["D", "K"])
        self.place = graph.input("place", np.int64, ["R"])
        self.k = graph.input("k", np.int64, [1])
        self.valid = graph.input("valid", np.bool_, ["D", 1, "S"])

    def embedding(self, ids: str, table: str) -> str:
        """Embed (n,) extended ids; words outside the vocabulary as UNK."""
        graph = self.graph
        is_known = graph.add("Less", ids, graph.ints(self.vocab_size))
        known_ids = graph.add("Where", is_known, ids, graph.ints(UNK))
        return self.ops.embedding(graph, known_ids, self.weights.tensor(table))

    def attend(self, query: str, keys: str, states: str, width: int) -> tuple[str, str]:
        """Compute attention: (R, H) queries -> (R, width) contexts, (R, S) weights."""
        graph = self.graph
        scores = graph.add("MatMul", graph.add("Gather", query, self.grid), keys)  # (D, K, S)
        scores = graph.add("Where", self.valid, scores, graph.constant(LOWEST))
        weights = graph.add("Softmax", scores, axis=-1)
        weights = graph.add("Where", self.valid, weights, graph.constant(np.float32(0)))
        contexts = graph.add("MatMul", weights, states)  # (D, K, width)
        return self.to_rows(contexts, width), self.to_rows(weights, graph.size(self.valid, 2))

    def to_rows(self, grid: str, width: int | str) -> str:
        """Gather rows from the grid: (D, K, width) -> (R, width)."""
        return self.graph.add("Gather", self.graph.reshape(grid, -1, width), self.place)

    def finish(self, inputs: Sequence[LinearInput], attention: str) -> ModelProto:
        """Score words from the inputs of the output layer, select the best, finish the graph."""
        graph = self.graph
        weights = self.weights.module("output.project")
        scores = score_vocab(graph, self.ops, inputs, weights, self.k)
        output_candidates(graph, scores, self.k)
        graph.output(attention, "attention", np.float32, ["R", "S"])
        return graph.model()
