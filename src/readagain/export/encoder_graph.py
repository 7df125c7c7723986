"""ONNX graph of the encoders: source ids in, the memory of a source out."""

from dataclasses import dataclass
from functools import partial
from typing import assert_never

import numpy as np
from onnx import ModelProto

from readagain.config.schema import (
    HierarchicalSpec,
    ModelSpec,
    OnePassSpec,
    ReadAgainSpec,
    RunSpec,
)
from readagain.export.graph_builder import Array, GraphBuilder
from readagain.export.precision_ops import PrecisionOps
from readagain.export.rnn import (
    GRU_BOUND,
    LSTM_BOUND,
    LinearInput,
    RnnDirection,
    SentenceLayout,
    gru,
    lstm,
    reorder_gates,
    run_directions,
    states_bound,
    sum_of_linears,
)
from readagain.export.shortlist import add_shortlist, shortlist_size
from readagain.export.state_dict import StateDict


def build_encoder_graph(
    run: RunSpec, model: ModelSpec, weights: StateDict, ops: PrecisionOps
) -> ModelProto:
    """Build the encoder graph.

    Inputs: `source_ids` (D, N, L) and `lengths` (D, N). Outputs, with S = N * L: `states`
    (D, S, H), `keys` (D, 1, S, A), `hidden` and `cell` (D, H); where the model copies `copy_keys`
    (D, H, S) and `copy_words` (D, S, E); for a Read-Again GRU
    `importance` (D, S), the mean over dimensions as in the paper's figure. A GRU decoder has no
    `cell`. With a shortlist: the input `ext_ids` (D, S) and the outputs of `add_shortlist`.
    """
    graph = GraphBuilder("encoder")
    ids = graph.input("source_ids", np.int64, ["D", "N", "L"])
    lengths = graph.input("lengths", np.int64, ["D", "N"])
    encoder = _EncoderGraph(graph, run, model, weights, ops, ids, lengths)
    encoded = encoder.build()

    bound, size = encoded.bound, encoded.size
    states = encoder.by_document(encoded.states, size)  # (D, S, H)
    rows = graph.reshape(states, -1, size)
    graph.output(states, "states", np.float32, ["D", "S", size])
    decoder, E = weights.module("decoder"), model.embedding_size
    A, H = model.decoder.attention_size, model.decoder.hidden_size
    keys = ops.linear(graph, rows, decoder.matrix("key.weight"), None, bound=bound)
    keys = graph.reshape(keys, encoder.documents, 1, -1, A)
    graph.output(keys, "keys", np.float32, ["D", 1, "S", A])

    last = graph.reshape(encoded.last, graph.size(ids, 0), -1)  # (D, Z)
    begin = decoder.module("begin")
    start = ops.linear(graph, last, begin.matrix("weight"), begin.tensor("bias"), bound=bound)
    state_names = ["hidden", "cell"] if model.decoder.cell == "lstm" else ["hidden"]
    initial = graph.split(graph.add("Tanh", start), *[H] * len(state_names))
    for name, value in zip(state_names, initial, strict=True):
        graph.output(value, name, np.float32, ["D", H])

    if model.output == "copy":
        projections = [("copy_keys", weights.module("copy_scores.project"), H)]
        if model.copied_words == "place":
            projections.append(("copy_words", weights.module("previous_words.copied"), E))
        for name, layer, width in projections:
            product = ops.linear(
                graph, rows, layer.matrix("weight"), layer.tensor("bias"), bound=bound
            )
            value = encoder.split_documents(graph.add("Tanh", product), width)
            if name == "copy_keys":
                value = graph.add("Transpose", value, perm=[0, 2, 1])
                graph.output(value, name, np.float32, ["D", width, "S"])
            else:
                graph.output(value, name, np.float32, ["D", "S", width])
    shortlist = shortlist_size(run, model)
    if shortlist:
        ext_ids = graph.input("ext_ids", np.int64, ["D", "S"])
        add_shortlist(graph, ops, weights.module("output.project"), ext_ids, size=shortlist)
    if encoded.importance is not None:
        mean = graph.add("ReduceMean", encoded.importance, graph.ints(-1), keepdims=1)
        mean = graph.reshape(encoder.by_document(mean, 1), graph.size(ids, 0), -1)
        graph.output(mean, "importance", np.float32, ["D", "S"])
    return graph.model()


@dataclass(frozen=True)
class _Encoded:
    """Outputs of a pass: (L, B, size) states, (B, size) last states, (L, B, ...) importance."""

    states: str
    last: str
    size: int
    bound: float | None
    importance: str | None = None


class _EncoderGraph:
    """Builder of an encoder graph."""

    def __init__(
        self,
        graph: GraphBuilder,
        run: RunSpec,
        model: ModelSpec,
        weights: StateDict,
        ops: PrecisionOps,
        ids: str,
        lengths: str,
    ) -> None:
        self.graph = graph
        self.spec = model.encoder
        self.num_sentences = run.data.num_sentences
        self.weights = weights.module("encoder")
        self.ops = ops
        self.documents = graph.size(ids, 0)
        self.sentences = SentenceLayout(
            length=graph.size(ids, 2),
            count=graph.size(graph.reshape(lengths, -1), 0),
            lengths=graph.reshape(lengths, -1),
        )
        rows = graph.reshape(ids, self.sentences.count, self.sentences.length)  # (B, L)
        by_word = graph.reshape(graph.add("Transpose", rows, perm=[1, 0]), -1)  # (L * B,)
        table = weights.tensor("source_embedding.weight")
        # Each row of the table has its own scale, so there is no common bound.
        embedded = ops.embedding(graph, by_word, table)  # (L * B, E)
        self.words = LinearInput(embedded, model.embedding_size, bound=None)

    def build(self) -> _Encoded:
        """Add the encoder that the spec describes."""
        spec = self.spec
        match spec:
            case OnePassSpec():
                return self._first_pass(self.weights.module("reading"), [self.words])
            case ReadAgainSpec():
                first = self._first_pass(self.weights.module("first"), [self.words])
                return self._second_pass(first, [self._sentence_input(first.last, first)])
            case HierarchicalSpec():
                first = self._first_pass(self.weights.module("first"), [self.words])
                return self._second_pass(first, self._combined_sentences(spec, first))
            case _:
                assert_never(spec)

    def by_document(self, states: str, width: int) -> str:
        """Concatenate the sentences of each document: (L, B, width) -> (D, S, width)."""
        turned = self.graph.add("Transpose", states, perm=[1, 0, 2])  # (B, L, width)
        return self.graph.reshape(turned, self.documents, -1, width)

    def split_documents(self, rows: str, width: int) -> str:
        """Reshape (D * S, width) rows to (D, S, width)."""
        return self.graph.reshape(rows, self.documents, -1, width)

    def _sentence_input(self, rows: str, first: _Encoded) -> LinearInput:
        return LinearInput(rows, first.size, first.bound, per_sentence=True)

    def _combined_sentences(self, spec: HierarchicalSpec, first: _Encoded) -> list[LinearInput]:
        """Combine the sentence vectors as in option 1 or 2 (section 3.1.3)."""
        graph, N, H = self.graph, self.num_sentences, first.size
        joined = graph.reshape(first.last, self.documents, N * H)  # (D, N * H)
        if spec.combine == "concat":
            return [
                LinearInput(self._repeated(joined, N * H), N * H, first.bound, per_sentence=True)
            ]
        weights = self.weights.module("combine.combine")
        whole = self.ops.linear(
            graph, joined, weights.matrix("weight"), weights.tensor("bias"), bound=first.bound
        )
        whole = self._repeated(graph.add("Tanh", whole), H)
        return [
            self._sentence_input(first.last, first),
            LinearInput(whole, H, 1.0, per_sentence=True),
        ]

    def _repeated(self, rows: str, width: int) -> str:
        """Repeat each document's vector for its sentences: (D, width) -> (B, width)."""
        graph = self.graph
        shape = graph.concat_sizes(self.documents, self.num_sentences, width)
        return graph.reshape(graph.add("Expand", graph.unsqueeze(rows, 1), shape), -1, width)

    def _first_pass(self, weights: StateDict, inputs: list[LinearInput]) -> _Encoded:
        """Add an RNN layer with one or two directions."""
        spec, directions = self.spec, range(1 + self.spec.bidirectional)
        runs = [self._direction(weights.module(f"directions.{d}"), inputs) for d in directions]
        states, last = run_directions(self.graph, self.sentences, runs, spec.hidden_size)
        size = spec.hidden_size * len(directions)
        return _Encoded(states, last, size, LSTM_BOUND if spec.cell == "lstm" else GRU_BOUND)

    def _direction(self, weights: StateDict, inputs: list[LinearInput]) -> RnnDirection:
        """Return the function and the projected inputs of one direction."""
        if self.spec.cell == "gru":
            run = partial(gru, self.graph, self.ops, weights=weights, bound=GRU_BOUND)
            return run, [self._project(inputs, weights.module("input"))]
        layer = weights.module("lstm")
        bias = layer.tensor("bias_ih_l0") + layer.tensor("bias_hh_l0")
        weight = reorder_gates(layer.matrix("weight_ih_l0"))
        gates = self._linear(inputs, weight, reorder_gates(bias))
        weight_hidden = reorder_gates(layer.matrix("weight_hh_l0"))
        return partial(lstm, self.graph, self.ops, weight_hidden=weight_hidden), [gates]

    def _second_pass(self, first: _Encoded, context: list[LinearInput]) -> _Encoded:
        """Add the second pass over words, first-pass states and context."""
        rows = self.graph.reshape(first.states, -1, first.size)
        inputs = [self.words, LinearInput(rows, first.size, first.bound), *context]
        if self.spec.cell == "lstm":
            return self._first_pass(self.weights.module("second.reading"), inputs)
        return self._second_gru(self.weights.module("second"), inputs)

    def _second_gru(self, weights: StateDict, inputs: list[LinearInput]) -> _Encoded:
        graph, spec = self.graph, self.spec
        assert not isinstance(spec, OnePassSpec)
        activation = spec.importance_activation.capitalize()
        bound = states_bound(spec)
        directions: list[RnnDirection] = []
        importance = []
        for direction in range(1 + spec.bidirectional):
            importance_weights = weights.module(f"importance.{direction}")
            # In the order of the inputs: word, first-pass state, context.
            weight = np.concatenate(
                [importance_weights.matrix(f"{name}.weight") for name in ("word", "state", "whole")]
            )
            alpha = graph.add(activation, self._linear(inputs, weight, None))  # (L, B, H or 1)
            importance.append(alpha)
            gru_weights = weights.module(f"directions.{direction}")
            projected = self._project([self.words], gru_weights.module("input"))
            run = partial(gru, graph, self.ops, weights=gru_weights, bound=bound)
            directions.append((run, [projected, alpha]))
        states, last = run_directions(graph, self.sentences, directions, spec.hidden_size)
        joined = importance[0] if len(importance) == 1 else graph.add("Concat", *importance, axis=2)
        return _Encoded(states, last, spec.hidden_size * len(directions), bound, joined)

    def _project(self, inputs: list[LinearInput], weights: StateDict) -> str:
        return self._linear(inputs, weights.matrix("weight"), weights.tensor("bias"))

    def _linear(self, inputs: list[LinearInput], weight: Array, bias: Array | None) -> str:
        return sum_of_linears(self.graph, self.ops, inputs, weight, bias, sentences=self.sentences)
