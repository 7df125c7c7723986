"""ONNX graph of the encoders, from source ids to the memory that the decoder attends to."""

from functools import partial

import numpy as np
from onnx import ModelProto

from readagain.config.schema import HierarchicalSpec, ModelSpec, OnePassSpec, ReadAgainSpec, RunSpec
from readagain.export.graph_builder import Array, GraphBuilder, StateDict
from readagain.export.rnn import (
    STATE_BOUND,
    LinearInput,
    RnnDirection,
    SentenceLayout,
    apply_linear,
    gru,
    lstm,
    reorder_gates,
    run_directions,
    states_bound,
)
from readagain.export.shortlist import add_shortlist, shortlist_size


def build_encoder_graph(
    graph: GraphBuilder, run: RunSpec, model: ModelSpec, weights: StateDict
) -> ModelProto:
    """Build the encoder graph.

    Inputs: `source_ids` (D, N, L) and `lengths` (D, N). Outputs, with S = N * L:
        `states` (D, S, U) and `keys` (D, 1, S, A): the memory for attention.
        `hidden` (D, H) and, for an LSTM decoder, `cell` (D, H): the initial state of the decoder.
        `copy_keys` (D, H, S): if the model copies.
        `copy_words` (D, S, E): if it embeds copied words by their encoder states.
        `importance` (D, S): for a Read-Again GRU, mean of α over its dimensions, as in Figure 4.
    With a shortlist, there are also the input `ext_ids` (D, S) and the outputs of `add_shortlist`.

    The letters are those of docs/symbols.md, but B is the number of sentences in the batch, D * N.
    """
    encoder = _EncoderGraph(graph, run, model, weights)
    states, last_states, importance = encoder.encode()
    documents, U, state_bound = encoder.documents, encoder.state_size, states_bound(model.encoder)
    states = encoder.by_document(states, U)  # (D, S, U)
    rows = graph.reshape(states, -1, U)  # (D * S, U)
    graph.output(states, "states", np.float32, ["D", "S", U])
    A, H, E = model.decoder.attention_size, model.decoder.hidden_size, model.embedding_size
    keys = graph.linear(rows, weights.matrix("decoder.key.weight"), bound=state_bound)
    keys = graph.reshape(keys, documents, 1, -1, A)
    graph.output(keys, "keys", np.float32, ["D", 1, "S", A])

    state_names = ["hidden", "cell"] if model.decoder.cell == "lstm" else ["hidden"]
    if model.decoder.initial_state == "zero":
        zeros = graph.constant(np.zeros((1, H)), np.float32)
        shape = graph.concat_sizes(documents, H)
        initial = [graph.op("Expand", zeros, shape) for _ in state_names]
    else:
        last = graph.reshape(last_states, documents, -1)  # (D, Z)
        start = graph.linear(last, *weights.affine("decoder.begin"), bound=state_bound)
        initial = graph.split(graph.op("Tanh", start), *[H] * len(state_names))
    for name, value in zip(state_names, initial, strict=True):
        graph.output(value, name, np.float32, ["D", H])

    if model.output == "copy":
        copy_keys = graph.linear(rows, *weights.affine("copy_scores.project"), bound=state_bound)
        copy_keys = graph.reshape(graph.op("Tanh", copy_keys), documents, -1, H)
        copy_keys = graph.op("Transpose", copy_keys, perm=[0, 2, 1])
        graph.output(copy_keys, "copy_keys", np.float32, ["D", H, "S"])
        if model.copied_words == "place":
            words = graph.linear(rows, *weights.affine("previous_words.copied"), bound=state_bound)
            words = graph.reshape(graph.op("Tanh", words), documents, -1, E)
            graph.output(words, "copy_words", np.float32, ["D", "S", E])
    W = shortlist_size(run, model)
    if W:
        ext_ids = graph.input("ext_ids", np.int64, ["D", "S"])
        add_shortlist(graph, weights.module("output.project"), ext_ids, size=W)
    if importance is not None:
        mean = graph.op("ReduceMean", importance, graph.ints(-1), keepdims=1)
        mean = graph.reshape(encoder.by_document(mean, 1), documents, -1)
        graph.output(mean, "importance", np.float32, ["D", "S"])
    return graph.model()


class _EncoderGraph:
    """Inputs and passes of an encoder graph."""

    def __init__(
        self, graph: GraphBuilder, run: RunSpec, model: ModelSpec, weights: StateDict
    ) -> None:
        self.graph = graph
        self.spec = model.encoder
        self.state_size = model.encoder.hidden_size * (1 + model.encoder.bidirectional)  # U
        self.sentences_per_document = run.data.num_sentences
        self.weights = weights.module("encoder")
        ids = graph.input("source_ids", np.int64, ["D", "N", "L"])
        lengths = graph.reshape(graph.input("lengths", np.int64, ["D", "N"]), -1)
        self.documents = graph.size(ids, 0)
        self.sentences = SentenceLayout(
            max_length=graph.size(ids, 2),
            num_sentences=graph.size(lengths, 0),
            lengths=lengths,
        )
        rows = graph.reshape(ids, self.sentences.num_sentences, self.sentences.max_length)  # (B, L)
        flat_ids = graph.reshape(graph.op("Transpose", rows, perm=[1, 0]), -1)  # (L * B,)
        # Embeddings, unlike states, have no known largest value.
        words = graph.embedding(flat_ids, weights.tensor("source_embedding.weight"))  # (L * B, E)
        self.words = LinearInput(words, model.embedding_size, bound=None)

    def encode(self) -> tuple[str, str, str | None]:
        """Add the passes of the encoder.

        Returns:
            (L, B, U) states and (B, U) last states of the last pass, and the (L, B, ...) importance
            α of each word, or None.
        """
        spec, U = self.spec, self.state_size
        if isinstance(spec, OnePassSpec):
            return *self._rnn_layer(self.weights.module("reading"), [self.words]), None
        first_states, vectors = self._rnn_layer(self.weights.module("first"), [self.words])
        if isinstance(spec, HierarchicalSpec):
            context = self._combine_sentences(spec, vectors)
        else:
            context = [LinearInput(vectors, U, STATE_BOUND, per_sentence=True)]
        rows = self.graph.reshape(first_states, -1, U)
        inputs = [self.words, LinearInput(rows, U, STATE_BOUND), *context]
        if spec.cell == "lstm" or spec.importance == "none":
            return *self._rnn_layer(self.weights.module("second.reading"), inputs), None
        return self._second_gru(spec, self.weights.module("second"), inputs)

    def by_document(self, states: str, width: int) -> str:
        """Concatenate the sentences of each document: (L, B, width) -> (D, S, width)."""
        batch_first = self.graph.op("Transpose", states, perm=[1, 0, 2])  # (B, L, width)
        return self.graph.reshape(batch_first, self.documents, -1, width)

    def _combine_sentences(self, spec: HierarchicalSpec, vectors: str) -> list[LinearInput]:
        """Return the context of the second pass: option 1 or 2 of the paper's section 3.1.3.

        Option 1 is the concatenation of all sentence vectors of a document. Option 2 is the vector
        of the sentence, and a projection of this concatenation. `vectors` is (B, U).
        """
        graph, N, U = self.graph, self.sentences_per_document, self.state_size
        joined = graph.reshape(vectors, self.documents, N * U)  # (D, N * U)
        if spec.combine == "concat":
            context = self._repeat_for_sentences(joined, N * U)
            return [LinearInput(context, N * U, STATE_BOUND, per_sentence=True)]
        context = graph.linear(joined, *self.weights.affine("combine.combine"), bound=STATE_BOUND)
        context = self._repeat_for_sentences(graph.op("Tanh", context), U)
        return [
            LinearInput(vectors, U, STATE_BOUND, per_sentence=True),
            LinearInput(context, U, 1.0, per_sentence=True),
        ]

    def _repeat_for_sentences(self, rows: str, width: int) -> str:
        """Repeat the vector of each document for its sentences: (D, width) -> (B, width)."""
        graph = self.graph
        shape = graph.concat_sizes(self.documents, self.sentences_per_document, width)
        return graph.reshape(graph.op("Expand", graph.unsqueeze(rows, 1), shape), -1, width)

    def _rnn_layer(self, weights: StateDict, inputs: list[LinearInput]) -> tuple[str, str]:
        """Add an RNN layer with one or two directions; return its states and last states."""
        directions = [
            self._build_direction(weights.module(f"directions.{index}"), inputs)
            for index in range(1 + self.spec.bidirectional)
        ]
        return run_directions(self.graph, self.sentences, directions, self.spec.hidden_size)

    def _build_direction(self, weights: StateDict, inputs: list[LinearInput]) -> RnnDirection:
        """Return the function and the projected inputs of one direction."""
        if self.spec.cell == "gru":
            run_gru = partial(gru, self.graph, weights=weights, bound=STATE_BOUND)
            return run_gru, [self._linear(inputs, *weights.affine("input"))]
        layer = weights.module("lstm")
        bias = layer.tensor("bias_ih_l0") + layer.tensor("bias_hh_l0")
        weight = reorder_gates(layer.matrix("weight_ih_l0"))
        gates = self._linear(inputs, weight, reorder_gates(bias))
        weight_hidden = reorder_gates(layer.matrix("weight_hh_l0"))
        return partial(lstm, self.graph, weight_hidden=weight_hidden), [gates]

    def _second_gru(
        self,
        spec: ReadAgainSpec | HierarchicalSpec,
        weights: StateDict,
        inputs: list[LinearInput],
    ) -> tuple[str, str, str]:
        """Add the second pass of a Read-Again GRU; return states, last states and importance.

        Only the importance α depends on all inputs.
        """
        graph, state_bound = self.graph, states_bound(spec)
        directions: list[RnnDirection] = []
        importance = []
        for index in range(1 + spec.bidirectional):
            importance_weights = weights.module(f"importance.{index}")
            # In the order of the inputs: word, state of the first pass, context (`whole`).
            weight = np.concatenate(
                [importance_weights.matrix(f"{name}.weight") for name in ("word", "state", "whole")]
            )
            alpha = self._linear(inputs, weight, None)  # (L, B, H or 1)
            importance.append(graph.op(spec.importance_activation.capitalize(), alpha))
            gru_weights = weights.module(f"directions.{index}")
            projected = self._linear([self.words], *gru_weights.affine("input"))
            run_gru = partial(gru, graph, weights=gru_weights, bound=state_bound)
            directions.append((run_gru, [projected, importance[-1]]))
        states, last = run_directions(graph, self.sentences, directions, spec.hidden_size)
        joined = importance[0] if len(importance) == 1 else graph.op("Concat", *importance, axis=2)
        return states, last, joined

    def _linear(self, inputs: list[LinearInput], weight: Array, bias: Array | None) -> str:
        """Apply a linear layer to the concatenation of inputs: (L, B, O)."""
        return apply_linear(self.graph, inputs, weight, bias, sentences=self.sentences)
