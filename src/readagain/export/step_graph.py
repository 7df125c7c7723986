"""ONNX graph of a decoder step: previous words in, the k best next words out."""

import numpy as np
from onnx import ModelProto

from readagain.config.schema import ModelSpec, RunSpec
from readagain.export.baseline_graphs import LOWEST
from readagain.export.candidates import (
    MINUS_INFINITY,
    CopyInputs,
    output_candidates,
    score_vocab,
)
from readagain.export.graph_builder import Array, GraphBuilder
from readagain.export.precision_ops import PrecisionOps
from readagain.export.rnn import (
    GRU_BOUND,
    LSTM_BOUND,
    LinearInput,
    gru_gates,
    gru_state,
    lstm_cell,
    reorder_gates,
    states_bound,
)
from readagain.export.shortlist import Shortlist, shortlist_size
from readagain.export.state_dict import StateDict
from readagain.text.vocab import UNK


def build_step_graph(
    run: RunSpec, model: ModelSpec, weights: StateDict, ops: PrecisionOps
) -> ModelProto:
    """Build the step graph.

    The R hypotheses of D documents share the memory of their document. For attention and copying
    they are gathered into a (D, K) grid of rows, K being the largest number of a document.

    Inputs: `previous_ids` (R,), `hidden` (R, H), `cell` (R, H) for an LSTM; `grid` (D, K), the row
    at each grid position; `place` (R,), the position of each row in the flattened grid; `k`; the
    memory `states` (D, S, H), `keys` (D, 1, S, A), `valid` (D, 1, S). With copying: `document`
    (R,), `copy_logits` (R, S) of the previous step, `copy_keys` (D, H, S), `copy_words` (D, S, E),
    and `ext_ids`, `columns` (D, S), `same_word` (D, S, S) as in `candidates.CopyInputs`. With a
    shortlist: `document`, `ext_ids` and the outputs of `shortlist.add_shortlist`.

    Outputs: `ids`, `log_probs`, `copied_from` (R, k), `end_log_probs` (R,), `attention` (R, S), the
    next `hidden` and `cell`, and `copy_logits` (R, S) where the model copies. Outputs that are also
    inputs have the prefix `next_`.
    """
    return _StepGraph(run, model, weights, ops).build()


class _StepGraph:
    """Builder of a step graph."""

    def __init__(
        self, run: RunSpec, model: ModelSpec, weights: StateDict, ops: PrecisionOps
    ) -> None:
        self.graph = graph = GraphBuilder("step")
        self.weights, self.ops = weights, ops
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
        self.copying: CopyInputs | None = None
        self.shortlist: Shortlist | None = None
        self.copy_words: str | None = None
        size = shortlist_size(run, model)
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
                to_grid=self.to_grid,
                to_rows=self.to_rows,
            )
        if model.output == "copy":
            self.last_copy_logits = graph.input("copy_logits", np.float32, ["R", "S"])
            self.copy_keys = graph.input("copy_keys", np.float32, ["D", H, "S"])
            if model.copied_words == "place":
                self.copy_words = graph.input("copy_words", np.float32, ["D", "S", self.E])
            columns = graph.input("columns", np.int64, ["D", "S"])
            columns = graph.add("Gather", columns, self.document)
            self.copying = CopyInputs(
                ext_ids=ext_ids,
                columns=columns,
                same_word=graph.input("same_word", np.float32, ["D", "S", "S"]),
                to_grid=self.to_grid,
                to_rows=self.to_rows,
            )

    def build(self) -> ModelProto:
        """Build the graph."""
        graph, H = self.graph, self.H
        word = self._previous_word()  # (R, E)
        hidden, cell, attention = self._lstm(word, self.cell) if self.cell else self._gru(word)
        inputs = [LinearInput(hidden, H, LSTM_BOUND)]
        output = self.weights.module("output.project")
        if self.shortlist is None:
            scores = score_vocab(graph, self.ops, inputs, output, self.k)
        else:
            scores = self.shortlist.score(graph, self.ops, hidden, inputs, output, self.k)
        copy_logits = self._copy_logits(hidden)
        output_candidates(graph, scores, self.k, copying=self.copying, copy_logits=copy_logits)
        graph.output(attention, "attention", np.float32, ["R", "S"])
        graph.output(hidden, "next_hidden", np.float32, ["R", H])
        if cell is not None:
            graph.output(cell, "next_cell", np.float32, ["R", H])
        if copy_logits is not None:
            graph.output(copy_logits, "next_copy_logits", np.float32, ["R", "S"])
        return graph.model()

    def _lstm(self, word: str, cell: str) -> tuple[str, str | None, str]:
        """Add an LSTM step: (R, H) state and cell, (R, S) attention."""
        graph, ops, decoder = self.graph, self.ops, self.weights.module("decoder")
        weight_hidden = reorder_gates(decoder.matrix("weight_hidden"))  # (H, 4H)
        query, hidden_gates = self._project_hidden(weight_hidden)
        context, attention = self._attend(query)  # (R, D), (R, S)
        word_gates = ops.linear(
            graph,
            word,
            reorder_gates(decoder.matrix("input.weight")),
            reorder_gates(decoder.tensor("input.bias")),
            bound=None,
        )
        context_gates = ops.linear(
            graph,
            context,
            reorder_gates(decoder.matrix("weight_context")),
            None,
            bound=self.states_bound,
        )
        gates = graph.add("Add", graph.add("Add", word_gates, context_gates), hidden_gates)
        return *lstm_cell(graph, gates, cell, self.H), attention

    def _gru(self, word: str) -> tuple[str, str | None, str]:
        """Add a GRU step: (R, H) state, no cell, (R, S) attention."""
        graph, ops, decoder, H = self.graph, self.ops, self.weights.module("decoder"), self.H
        weight_hidden = decoder.matrix("weight_hidden")  # (H, 3H)
        query, hidden_gates = self._project_hidden(weight_hidden[:, : 2 * H])
        context, attention = self._attend(query)  # (R, D), (R, S)
        from_word = ops.linear(
            graph, word, decoder.matrix("input.weight"), decoder.tensor("input.bias"), bound=None
        )
        from_context = ops.linear(
            graph, context, decoder.matrix("weight_context"), None, bound=self.states_bound
        )
        input_gates, input_candidate = graph.split(
            graph.add("Add", from_word, from_context), 2 * H, H
        )
        update, candidate = gru_gates(
            graph,
            ops,
            self.hidden,
            (input_gates, input_candidate),
            hidden_gates,
            weight_hidden[:, 2 * H :],
            GRU_BOUND,
        )
        return gru_state(graph, self.hidden, update, candidate), None, attention

    def _project_hidden(self, weight: Array) -> tuple[str, str]:
        """Project the state with one product: attention query and gates."""
        query = self.weights.matrix("decoder.weight_query")
        joined = np.concatenate([query, weight], axis=1)
        product = self.ops.linear(self.graph, self.hidden, joined, None, bound=LSTM_BOUND)
        projected, gates = self.graph.split(product, self.A, weight.shape[1])
        return projected, gates

    def to_grid(self, rows: str) -> str:
        """Gather rows into the grid: (R, n) -> (D, K, n)."""
        return self.graph.add("Gather", rows, self.grid)

    def to_rows(self, grid: str, width: str | int) -> str:
        """Gather rows from the grid: (D, K, width) -> (R, width)."""
        return self.graph.add("Gather", self.graph.reshape(grid, -1, width), self.place)

    def _previous_word(self) -> str:
        """Embed the previous words; a copied word by its most probable position."""
        graph, table = self.graph, self.weights.tensor("previous_words.embedding.weight")
        is_known = graph.add("Less", self.previous_ids, graph.ints(self.V))
        known_ids = graph.add("Where", is_known, self.previous_ids, graph.ints(UNK))
        known = self.ops.embedding(graph, known_ids, table)  # (R, E)
        if self.copying is None or self.copy_words is None:
            return known
        S = graph.size(self.states, 1)
        position = self.copying.most_probable_position(
            graph, self.previous_ids, self.last_copy_logits
        )
        row = graph.add("Add", graph.add("Mul", self.document, S), position)
        copied = graph.add("Gather", graph.reshape(self.copy_words, -1, self.E), row)
        return graph.add("Where", graph.unsqueeze(is_known, 1), known, copied)

    def _attend(self, query: str) -> tuple[str, str]:
        """Compute attention: (R, A) queries -> (R, H) contexts, (R, S) weights."""
        graph = self.graph
        scores = self._attention_scores(self.to_grid(query))  # (D, K, S)
        scores = graph.add("Where", self.valid, scores, graph.constant(LOWEST))
        weights = graph.add("Softmax", scores, axis=-1)
        weights = graph.add("Where", self.valid, weights, graph.constant(np.float32(0)))
        contexts = graph.add("MatMul", weights, self.states)  # (D, K, H)
        S = graph.size(self.states, 1)
        return self.to_rows(contexts, self.source_size), self.to_rows(weights, S)

    def _attention_scores(self, queries: str) -> str:
        """Compute v . tanh(query + key) for each position: (D, K, A) -> (D, K, S).

        A Scan over documents keeps the (K, S, A) sums of one document in the processor's cache.
        """
        body = self.graph.body("attention_scores")
        document_queries = body.input("queries", np.float32, ["K", self.A])
        keys = body.input("keys", np.float32, [1, "S", self.A])
        energy = body.add("Tanh", body.add("Add", body.unsqueeze(document_queries, 1), keys))
        weight = body.constant(self.weights.tensor("decoder.weight_score")[:, None])
        scores = body.add("Squeeze", body.add("MatMul", energy, weight), body.ints(2))
        body.output(scores, "scores", np.float32, ["K", "S"])
        (all_scores,) = self.graph.scan(body, [], [queries, self.keys])
        return all_scores

    def _copy_logits(self, hidden: str) -> str | None:
        """Compute the copy logits: (R, S), -inf at padding."""
        if self.copying is None:
            return None
        graph = self.graph
        logits = graph.add("MatMul", self.to_grid(hidden), self.copy_keys)  # (D, K, S)
        logits = graph.add("Where", self.valid, logits, graph.constant(MINUS_INFINITY))
        return self.to_rows(logits, graph.size(self.states, 1))
