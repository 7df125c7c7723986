"""ONNX graph of a step of the attention decoder."""

import numpy as np
from onnx import ModelProto

from readagain.config.schema import ModelSpec, RunSpec
from readagain.export.candidates import CopyInputs, output_candidates, score_vocab
from readagain.export.graph_builder import GraphBuilder, StateDict
from readagain.export.rnn import (
    STATE_BOUND,
    LinearInput,
    gru_cell,
    lstm_cell,
    reorder_gates,
    states_bound,
)
from readagain.export.shortlist import MINUS_INFINITY, Shortlist, shortlist_size
from readagain.export.step_graph import StepGraph


class AttentionStep(StepGraph):
    """Builder of the step graph of the attention decoder.

    The state is `hidden` (R, H) and, for an LSTM, `cell` (R, H). The memory is `states` (D, S, U)
    and `keys` (D, 1, S, A). The letters are explained in docs/symbols.md.

    Further inputs with copying: `document` (R,), `copy_logits` (R, S) of the previous step,
    `copy_keys` (D, H, S), `copy_words` (D, S, E), `ext_ids` and `columns` (D, S), and `same_word`
    (D, S, S); `candidates.CopyInputs` explains the last three. Further inputs with a shortlist:
    `document`, `ext_ids` and the outputs of `shortlist.add_shortlist`.
    """

    def __init__(
        self, graph: GraphBuilder, run: RunSpec, model: ModelSpec, weights: StateDict
    ) -> None:
        super().__init__(graph, weights, vocab_size=run.vocab_size)
        self.decoder = weights.module("decoder")
        self.states_bound = states_bound(model.encoder)
        self.H = H = model.decoder.hidden_size
        self.A = model.decoder.attention_size
        self.E = model.embedding_size
        self.source_size = model.encoder.hidden_size * (1 + model.encoder.bidirectional)
        self.hidden = graph.input("hidden", np.float32, ["R", H])
        self.is_lstm = model.decoder.cell == "lstm"
        if self.is_lstm:
            self.cell = graph.input("cell", np.float32, ["R", H])
        self.states = graph.input("states", np.float32, ["D", "S", self.source_size])
        self.keys = graph.input("keys", np.float32, ["D", 1, "S", self.A])
        self.ext_ids: str | None = None  # (R, S)
        self.shortlist: Shortlist | None = None
        self.copying: CopyInputs | None = None
        self.copy_words: str | None = None
        size = shortlist_size(run, model)
        if model.output == "copy" or size:
            self.document = graph.input("document", np.int64, ["R"])
            ext_ids = graph.input("ext_ids", np.int64, ["D", "S"])
            self.ext_ids = graph.op("Gather", ext_ids, self.document)
        if size:
            self.shortlist = Shortlist(graph, size=size, hidden_size=H, document=self.document)
        if model.output == "copy":
            assert self.ext_ids is not None
            self.previous_copy_logits = graph.input("copy_logits", np.float32, ["R", "S"])
            self.copy_keys = graph.input("copy_keys", np.float32, ["D", H, "S"])
            if model.copied_words == "place":
                self.copy_words = graph.input("copy_words", np.float32, ["D", "S", self.E])
            self.copying = CopyInputs(graph, ext_ids=self.ext_ids, document=self.document)

    def build(self) -> ModelProto:
        """Build the graph."""
        graph, H = self.graph, self.H
        word = self._embed_previous_words()  # (R, E)
        hidden = self._decoder_step(word)  # (R, H)
        scores = score_vocab(self, [LinearInput(hidden, H, STATE_BOUND)], self.shortlist)
        copy_logits = None if self.copying is None else self._copy_logits(hidden)
        output_candidates(
            self, scores, ext_ids=self.ext_ids, copying=self.copying, copy_logits=copy_logits
        )
        graph.output(hidden, "next_hidden", np.float32, ["R", H])
        if copy_logits is not None:
            graph.output(copy_logits, "next_copy_logits", np.float32, ["R", "S"])
        return graph.model()

    def _decoder_step(self, word: str) -> str:
        """Return the next (R, H) state; for an LSTM, also add `next_cell` to the outputs."""
        graph, decoder, H = self.graph, self.decoder, self.H
        order = reorder_gates if self.is_lstm else np.asarray  # the gates of a GRU keep their order
        weight_hidden = order(decoder.matrix("weight_hidden"))  # (H, 4H), or (H, 3H) for a GRU
        # The candidate of a GRU needs the state after the reset gate, so it is computed later.
        num_gates = 4 if self.is_lstm else 2
        # One matrix product projects the state to attention queries and gates.
        weights = [decoder.matrix("weight_query"), weight_hidden[:, : num_gates * H]]
        product = graph.linear(self.hidden, np.concatenate(weights, axis=1), bound=STATE_BOUND)
        query, hidden_gates = graph.split(product, self.A, num_gates * H)
        context = self._additive_attention(query)  # (R, U)
        word_gates = graph.linear(word, *map(order, decoder.affine("input")), bound=None)
        weight_context = order(decoder.matrix("weight_context"))
        context_gates = graph.linear(context, weight_context, bound=self.states_bound)
        gates = graph.op("Add", word_gates, context_gates)  # (R, 4H), or (R, 3H) for a GRU
        if not self.is_lstm:
            candidate = weight_hidden[:, 2 * H :]
            return gru_cell(graph, self.hidden, gates, hidden_gates, candidate, bound=STATE_BOUND)
        hidden, cell = lstm_cell(graph, graph.op("Add", gates, hidden_gates), self.cell, H)
        graph.output(cell, "next_cell", np.float32, ["R", H])
        return hidden

    def _embed_previous_words(self) -> str:
        """Embed the previous words: (R, E).

        The embedding of an OOV word is the row of `copy_words` at the source position from which it
        was most probably copied.
        """
        graph, ids = self.graph, self.previous_ids
        vocab_embeddings = self.embedding(ids, "previous_words.embedding.weight")  # (R, E)
        if self.copying is None or self.copy_words is None:
            return vocab_embeddings
        position = self.copying.most_probable_positions(
            graph.unsqueeze(ids, 1), self.previous_copy_logits
        )  # (R, 1)
        position = graph.op("Squeeze", position, graph.ints(1))
        flat_index = graph.op("Mul", self.document, graph.size(self.states, 1))
        flat_index = graph.op("Add", flat_index, position)
        flat_embeddings = graph.reshape(self.copy_words, -1, self.E)
        oov_embeddings = graph.op("Gather", flat_embeddings, flat_index)
        is_known = graph.unsqueeze(self.is_known(ids), 1)
        return graph.op("Where", is_known, vocab_embeddings, oov_embeddings)

    def _additive_attention(self, query: str) -> str:
        """Compute the (R, U) contexts of (R, A) queries, with the scores v . tanh(query + key).

        A Scan processes one document after the other, so that the (K, S, A) values of a document
        stay in the CPU cache.
        """
        body = self.graph.body("attention_scores")
        queries = body.input("queries", np.float32, ["K", self.A])
        keys = body.input("keys", np.float32, [1, "S", self.A])
        energy = body.op("Tanh", body.op("Add", body.unsqueeze(queries, 1), keys))  # (K, S, A)
        weight = body.constant(self.decoder.tensor("weight_score")[:, None])
        scores = body.op("Squeeze", body.op("MatMul", energy, weight), body.ints(2))
        body.output(scores, "scores", np.float32, ["K", "S"])
        (all_scores,) = self.graph.scan(body, [], [self.to_grid(query), self.keys])  # (D, K, S)
        return self.attend(all_scores, self.states, self.source_size)

    def _copy_logits(self, hidden: str) -> str:
        """Compute the logits of copying from each position, (R, S), -inf at padding."""
        graph = self.graph
        logits = graph.op("MatMul", self.to_grid(hidden), self.copy_keys)  # (D, K, S)
        logits = graph.op("Where", self.valid, logits, graph.constant(MINUS_INFINITY))
        return self.source_to_rows(logits)
