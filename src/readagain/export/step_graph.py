"""One step of the decoder as a graph: last words in, the k best next words out."""

import numpy as np
from onnx import ModelProto

from readagain.config.schema import RunSpec
from readagain.export.graph import Graph
from readagain.export.products import Products
from readagain.export.readings import LSTM_BOUND, lstm_cell, lstm_order, states_bound
from readagain.export.weights import Weights
from readagain.export.words import MINUS_INFINITY, Copying, choose_words, score_vocabulary
from readagain.text.vocab import UNK

LOWEST = np.float32(np.finfo(np.float32).min)


def build_step_graph(run: RunSpec, weights: Weights, products: Products) -> ModelProto:
    """Build the graph that takes one step.

    The R hypotheses of D documents share their documents' memory; where both meet, in attention
    and copying, hypotheses stand in a (D, K) grid of rows, K those of the widest beam.

    Inputs: `previous_ids` (R,), `hidden`, `cell` (R, H); `grid` (D, K) the row in each place of
    the grid, `place` (R,) the place of each row in the flattened grid; `k`; the memory `states`
    (D, S, H), `keys` (D, 1, S, A), `valid` (D, 1, S). A model that copies also takes `document`
    (R,), `copy_logits` (R, S) of the last step, `copy_keys` (D, H, S), `copy_words` (D, S, E), and
    what `words.Copying` describes: `ext_ids`, `columns` (D, S), `same_word` (D, S, S).

    Outputs: `ids`, `log_probs`, `copied_from` (R, k), `end_log_probs` (R,), `attention` (R, S), the
    next `hidden` and `cell`, and `copy_logits` (R, S) where the model copies. Outputs that are also
    inputs are called `next_...`.
    """
    return _StepGraph(run, weights, products).build()


class _StepGraph:
    """The parts of a step, in order."""

    def __init__(self, run: RunSpec, weights: Weights, products: Products) -> None:
        self.graph = graph = Graph("step")
        self.weights, self.products = weights, products
        self.states_bound = states_bound(run.model.encoder)
        self.H = H = run.model.decoder.hidden_size
        self.A = run.model.decoder.attention_size
        self.E = run.model.embedding_size
        self.V = run.vocab_size
        encoder = run.model.encoder
        self.source_size = encoder.hidden_size * (1 + encoder.bidirectional)
        self.previous_ids = graph.input("previous_ids", np.int64, ["R"])
        self.hidden = graph.input("hidden", np.float32, ["R", H])
        self.cell = graph.input("cell", np.float32, ["R", H])
        self.grid = graph.input("grid", np.int64, ["D", "K"])
        self.place = graph.input("place", np.int64, ["R"])
        self.k = graph.input("k", np.int64, [1])
        self.states = graph.input("states", np.float32, ["D", "S", self.source_size])
        self.keys = graph.input("keys", np.float32, ["D", 1, "S", self.A])
        self.valid = graph.input("valid", np.bool_, ["D", 1, "S"])
        self.copying: Copying | None = None
        self.copy_words: str | None = None
        if run.model.output == "copy":
            self.document = graph.input("document", np.int64, ["R"])
            self.last_copy_logits = graph.input("copy_logits", np.float32, ["R", "S"])
            self.copy_keys = graph.input("copy_keys", np.float32, ["D", H, "S"])
            if run.model.copied_words == "place":
                self.copy_words = graph.input("copy_words", np.float32, ["D", "S", self.E])
            ext_ids = graph.input("ext_ids", np.int64, ["D", "S"])
            columns = graph.input("columns", np.int64, ["D", "S"])
            self.copying = Copying(
                ext_ids=graph.add("Gather", ext_ids, self.document),
                columns=graph.add("Gather", columns, self.document),
                same_word=graph.input("same_word", np.float32, ["D", "S", "S"]),
                in_grid=self._in_grid,
                in_rows=self._in_rows,
            )

    def build(self) -> ModelProto:
        """Put everything into the graph."""
        graph, H = self.graph, self.H
        decoder = self.weights.of("decoder")
        word = self._previous_word()  # (R, E)

        # One product of the last state: for attention, and for the gates.
        weight_hidden = lstm_order(decoder.matrix("weight_hidden"))  # (H, 4H)
        weight = np.concatenate([decoder.matrix("weight_query"), weight_hidden], axis=1)
        products = self.products
        of_hidden = products.multiply(graph, self.hidden, weight, None, bound=LSTM_BOUND)
        query, hidden_gates = graph.split(of_hidden, self.A, 4 * H)
        context, attention = self._attend(query)  # (R, H), (R, S)

        of_input = decoder.of("input")
        word_gates = products.multiply(
            graph,
            word,
            lstm_order(of_input.matrix("weight")),
            lstm_order(of_input.tensor("bias")),
            bound=None,
        )
        context_gates = products.multiply(
            graph,
            context,
            lstm_order(decoder.matrix("weight_context")),
            None,
            bound=self.states_bound,
        )
        gates = graph.add("Add", graph.add("Add", word_gates, context_gates), hidden_gates)
        hidden, cell = lstm_cell(graph, gates, self.cell, H)

        copy_logits = self._copy_logits(hidden)
        vocabulary = score_vocabulary(
            graph, products, hidden, self.weights.of("output.project"), self.k, bound=LSTM_BOUND
        )
        chosen = choose_words(graph, vocabulary, self.copying, copy_logits, self.k)
        graph.output(chosen.ids, "ids", np.int64, ["R", "k"])
        graph.output(chosen.log_probs, "log_probs", np.float32, ["R", "k"])
        graph.output(chosen.copied_from, "copied_from", np.int64, ["R", "k"])
        graph.output(chosen.end_log_probs, "end_log_probs", np.float32, ["R"])
        graph.output(attention, "attention", np.float32, ["R", "S"])
        graph.output(hidden, "next_hidden", np.float32, ["R", H])
        graph.output(cell, "next_cell", np.float32, ["R", H])
        if copy_logits is not None:
            graph.output(copy_logits, "next_copy_logits", np.float32, ["R", "S"])
        return graph.model()

    def _in_grid(self, rows: str) -> str:
        """Stand rows in their places: (R, n) -> (D, K, n)."""
        return self.graph.add("Gather", rows, self.grid)

    def _in_rows(self, grid: str, width: str | int) -> str:
        """Take rows from their places: (D, K, width) -> (R, width)."""
        return self.graph.add("Gather", self.graph.reshape(grid, -1, width), self.place)

    def _previous_word(self) -> str:
        """Embed the last words, those outside the vocabulary by their most probable place."""
        graph, table = self.graph, self.weights.tensor("previous_words.embedding.weight")
        is_known = graph.add("Less", self.previous_ids, graph.ints(self.V))
        known_ids = graph.add("Where", is_known, self.previous_ids, graph.ints(UNK))
        known = self.products.embed(graph, known_ids, table)  # (R, E)
        if self.copying is None or self.copy_words is None:
            return known
        strongest = self.copying.strongest(graph, self.previous_ids, self.last_copy_logits)  # (R,)
        S = graph.size(self.states, 1)
        place = graph.add("Add", graph.add("Mul", self.document, S), strongest)
        copied = graph.add("Gather", graph.reshape(self.copy_words, -1, self.E), place)
        return graph.add("Where", graph.unsqueeze(is_known, 1), known, copied)

    def _attend(self, query: str) -> tuple[str, str]:
        """Look back at the source: (R, A) queries -> (R, H) contexts, (R, S) weights."""
        graph = self.graph
        in_grid = graph.unsqueeze(self._in_grid(query), 2)  # (D, K, 1, A)
        compared = graph.add("Tanh", graph.add("Add", in_grid, self.keys))  # (D, K, S, A)
        score = graph.constant(self.weights.tensor("decoder.weight_score")[:, None])
        scores = graph.add("MatMul", compared, score)  # (D, K, S, 1)
        scores = graph.add("Squeeze", scores, graph.ints(3))
        scores = graph.add("Where", self.valid, scores, graph.constant(LOWEST))
        weights = graph.add("Softmax", scores, axis=-1)
        weights = graph.add("Where", self.valid, weights, graph.constant(np.float32(0)))
        contexts = graph.add("MatMul", weights, self.states)  # (D, K, H)
        S = graph.size(self.states, 1)
        return self._in_rows(contexts, self.source_size), self._in_rows(weights, S)

    def _copy_logits(self, hidden: str) -> str | None:
        """Score copying each place: (R, S), -inf at padding."""
        if self.copying is None:
            return None
        graph = self.graph
        logits = graph.add("MatMul", self._in_grid(hidden), self.copy_keys)  # (D, K, S)
        logits = graph.add("Where", self.valid, logits, graph.constant(MINUS_INFINITY))
        return self._in_rows(logits, graph.size(self.states, 1))
