"""One step of the decoder as a graph: last words in, the k best next words out."""

import numpy as np
from onnx import ModelProto

from readagain.config.schema import ModelSpec, RunSpec
from readagain.export.graph import Array, Graph
from readagain.export.inputs import Part
from readagain.export.products import Products
from readagain.export.readings import (
    GRU_BOUND,
    LSTM_BOUND,
    gru_gates,
    gru_state,
    lstm_cell,
    lstm_order,
    states_bound,
)
from readagain.export.shortlist import Shortlist, list_size
from readagain.export.weights import Weights
from readagain.export.words import (
    MINUS_INFINITY,
    Copying,
    choose_words,
    score_vocabulary,
)
from readagain.text.vocab import UNK

LOWEST = np.float32(np.finfo(np.float32).min)


def build_step_graph(
    run: RunSpec, model: ModelSpec, weights: Weights, products: Products
) -> ModelProto:
    """Build the graph that takes one step.

    The R hypotheses of D documents share their documents' memory; where both meet, in attention
    and copying, hypotheses stand in a (D, K) grid of rows, K those of the widest beam.

    Inputs: `previous_ids` (R,), `hidden` (R, H), `cell` (R, H) for an LSTM; `grid` (D, K) the row
    in each place of the grid, `place` (R,) the place of each row in the flattened grid; `k`; the
    memory `states` (D, S, H), `keys` (D, 1, S, A), `valid` (D, 1, S). A model that copies takes
    `document` (R,), `copy_logits` (R, S) of the last step, `copy_keys` (D, H, S), `copy_words`
    (D, S, E), and what `words.Copying` describes: `ext_ids`, `columns` (D, S), `same_word`
    (D, S, S). One with a shortlist takes `document`, `ext_ids` and what
    `shortlist.list_words` gives.

    Outputs: `ids`, `log_probs`, `copied_from` (R, k), `end_log_probs` (R,), `attention` (R, S), the
    next `hidden` and `cell`, and `copy_logits` (R, S) where the model copies. Outputs that are also
    inputs are called `next_...`.
    """
    return _StepGraph(run, model, weights, products).build()


class _StepGraph:
    """The parts of a step, in order."""

    def __init__(
        self, run: RunSpec, model: ModelSpec, weights: Weights, products: Products
    ) -> None:
        self.graph = graph = Graph("step")
        self.weights, self.products = weights, products
        self.states_bound = states_bound(model.encoder)
        self.H = H = model.decoder.hidden_size
        self.A = model.decoder.attention_size
        self.E = model.embedding_size
        self.V = run.vocab_size
        encoder = model.encoder
        self.source_size = encoder.hidden_size * (1 + encoder.bidirectional)
        self.previous_ids = graph.input("previous_ids", np.int64, ["R"])
        self.hidden = graph.input("hidden", np.float32, ["R", H])
        self.cell: str | None = None
        if model.decoder.cell == "lstm":
            self.cell = graph.input("cell", np.float32, ["R", H])
        self.grid = graph.input("grid", np.int64, ["D", "K"])
        self.place = graph.input("place", np.int64, ["R"])
        self.k = graph.input("k", np.int64, [1])
        self.states = graph.input("states", np.float32, ["D", "S", self.source_size])
        self.keys = graph.input("keys", np.float32, ["D", 1, "S", self.A])
        self.valid = graph.input("valid", np.bool_, ["D", 1, "S"])
        self.copying: Copying | None = None
        self.shortlist: Shortlist | None = None
        self.copy_words: str | None = None
        size = list_size(run, model)
        if model.output == "copy" or size:
            self.document = graph.input("document", np.int64, ["R"])
            ext_ids = graph.input("ext_ids", np.int64, ["D", "S"])
            ext_ids = graph.add("Gather", ext_ids, self.document)
        if size:
            self.shortlist = Shortlist(
                size=size,
                document=self.document,
                ext_ids=ext_ids,
                rare_keys=graph.input("rare_keys", np.float32, ["D", H, "S"]),
                rare_biases=graph.input("rare_biases", np.float32, ["D", 1, "S"]),
                last_biases=graph.input("last_biases", np.float32, ["D", "S"]),
                in_grid=self._in_grid,
                in_rows=self._in_rows,
            )
        if model.output == "copy":
            self.last_copy_logits = graph.input("copy_logits", np.float32, ["R", "S"])
            self.copy_keys = graph.input("copy_keys", np.float32, ["D", H, "S"])
            if model.copied_words == "place":
                self.copy_words = graph.input("copy_words", np.float32, ["D", "S", self.E])
            columns = graph.input("columns", np.int64, ["D", "S"])
            columns = graph.add("Gather", columns, self.document)
            self.copying = Copying(
                ext_ids=ext_ids,
                columns=columns,
                same_word=graph.input("same_word", np.float32, ["D", "S", "S"]),
                in_grid=self._in_grid,
                in_rows=self._in_rows,
            )

    def build(self) -> ModelProto:
        """Put everything into the graph."""
        graph, H = self.graph, self.H
        word = self._previous_word()  # (R, E)
        hidden, cell, attention = self._lstm(word, self.cell) if self.cell else self._gru(word)
        seen = [Part(hidden, H, LSTM_BOUND)]
        of_output = self.weights.of("output.project")
        if self.shortlist is None:
            vocabulary = score_vocabulary(graph, self.products, seen, of_output, self.k)
        else:
            vocabulary = self.shortlist.score(graph, self.products, hidden, seen, of_output, self.k)
        copy_logits = self._copy_logits(hidden)
        chosen = choose_words(graph, vocabulary, self.copying, copy_logits, self.k)
        graph.output(chosen.ids, "ids", np.int64, ["R", "k"])
        graph.output(chosen.log_probs, "log_probs", np.float32, ["R", "k"])
        graph.output(chosen.copied_from, "copied_from", np.int64, ["R", "k"])
        graph.output(chosen.end_log_probs, "end_log_probs", np.float32, ["R"])
        graph.output(attention, "attention", np.float32, ["R", "S"])
        graph.output(hidden, "next_hidden", np.float32, ["R", H])
        if cell is not None:
            graph.output(cell, "next_cell", np.float32, ["R", H])
        if copy_logits is not None:
            graph.output(copy_logits, "next_copy_logits", np.float32, ["R", "S"])
        return graph.model()

    def _lstm(self, word: str, cell: str) -> tuple[str, str | None, str]:
        """Take a step of the LSTM: (R, H) state and cell, (R, S) attention."""
        graph, products, decoder = self.graph, self.products, self.weights.of("decoder")
        weight_hidden = lstm_order(decoder.matrix("weight_hidden"))  # (H, 4H)
        query, hidden_gates = self._of_hidden(weight_hidden)
        context, attention = self._attend(query)  # (R, D), (R, S)
        word_gates = products.multiply(
            graph,
            word,
            lstm_order(decoder.matrix("input.weight")),
            lstm_order(decoder.tensor("input.bias")),
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
        return *lstm_cell(graph, gates, cell, self.H), attention

    def _gru(self, word: str) -> tuple[str, str | None, str]:
        """Take a step of the GRU: (R, H) state, no cell, (R, S) attention."""
        graph, products, decoder, H = self.graph, self.products, self.weights.of("decoder"), self.H
        weight_hidden = decoder.matrix("weight_hidden")  # (H, 3H)
        query, hidden_gates = self._of_hidden(weight_hidden[:, : 2 * H])
        context, attention = self._attend(query)  # (R, D), (R, S)
        of_word = products.multiply(
            graph, word, decoder.matrix("input.weight"), decoder.tensor("input.bias"), bound=None
        )
        of_context = products.multiply(
            graph, context, decoder.matrix("weight_context"), None, bound=self.states_bound
        )
        seen_gates, seen_candidate = graph.split(graph.add("Add", of_word, of_context), 2 * H, H)
        update, candidate = gru_gates(
            graph,
            products,
            self.hidden,
            (seen_gates, seen_candidate),
            hidden_gates,
            weight_hidden[:, 2 * H :],
            GRU_BOUND,
        )
        return gru_state(graph, self.hidden, update, candidate), None, attention

    def _of_hidden(self, weight: Array) -> tuple[str, str]:
        """Multiply the last state once, for attention and by a weight for the gates."""
        query = self.weights.matrix("decoder.weight_query")
        joined = np.concatenate([query, weight], axis=1)
        product = self.products.multiply(self.graph, self.hidden, joined, None, bound=LSTM_BOUND)
        of_query, of_gates = self.graph.split(product, self.A, weight.shape[1])
        return of_query, of_gates

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
        S = graph.size(self.states, 1)
        within = self.copying.strongest(graph, self.previous_ids, self.last_copy_logits)
        place = graph.add("Add", graph.add("Mul", self.document, S), within)
        copied = graph.add("Gather", graph.reshape(self.copy_words, -1, self.E), place)
        return graph.add("Where", graph.unsqueeze(is_known, 1), known, copied)

    def _attend(self, query: str) -> tuple[str, str]:
        """Look back at the source: (R, A) queries -> (R, H) contexts, (R, S) weights."""
        graph = self.graph
        scores = self._compare(self._in_grid(query))  # (D, K, S)
        scores = graph.add("Where", self.valid, scores, graph.constant(LOWEST))
        weights = graph.add("Softmax", scores, axis=-1)
        weights = graph.add("Where", self.valid, weights, graph.constant(np.float32(0)))
        contexts = graph.add("MatMul", weights, self.states)  # (D, K, H)
        S = graph.size(self.states, 1)
        return self._in_rows(contexts, self.source_size), self._in_rows(weights, S)

    def _compare(self, queries: str) -> str:
        """Score each place by v . tanh(query + key): (D, K, A) -> (D, K, S).

        One document after the other: the (K, S, A) sums of one stay in a processor's cache, those
        of a batch would be written to memory and read back by each operation.
        """
        body = self.graph.body("compare")
        of_document = body.input("queries", np.float32, ["K", self.A])
        keys = body.input("keys", np.float32, [1, "S", self.A])
        compared = body.add("Tanh", body.add("Add", body.unsqueeze(of_document, 1), keys))
        weight = body.constant(self.weights.tensor("decoder.weight_score")[:, None])
        scores = body.add("Squeeze", body.add("MatMul", compared, weight), body.ints(2))
        body.output(scores, "scores", np.float32, ["K", "S"])
        (of_all,) = self.graph.scan(body, [], [queries, self.keys])
        return of_all

    def _copy_logits(self, hidden: str) -> str | None:
        """Score copying each place: (R, S), -inf at padding."""
        if self.copying is None:
            return None
        graph = self.graph
        logits = graph.add("MatMul", self._in_grid(hidden), self.copy_keys)  # (D, K, S)
        logits = graph.add("Where", self.valid, logits, graph.constant(MINUS_INFINITY))
        return self._in_rows(logits, graph.size(self.states, 1))
