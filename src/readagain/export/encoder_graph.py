"""The encoder as a graph: source ids in, everything a decoder looks back at out."""

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
from readagain.export.graph import Graph
from readagain.export.inputs import Part, multiply_parts
from readagain.export.products import Products
from readagain.export.readings import (
    GRU_BOUND,
    LSTM_BOUND,
    Reading,
    Sentences,
    lstm_order,
    read_directions,
    read_gru,
    read_lstm,
    states_bound,
)
from readagain.export.shortlist import list_size, list_words
from readagain.export.weights import Weights


def build_encoder_graph(
    run: RunSpec, model: ModelSpec, weights: Weights, products: Products
) -> ModelProto:
    """Build the graph that reads sources.

    Inputs: `source_ids` (D, N, L) and `lengths` (D, N). Outputs, with S = N * L: `states`
    (D, S, H), `keys` (D, 1, S, A), `hidden` and `cell` (D, H); where the model copies `copy_keys`
    (D, H, S), laid out for the step's product, and `copy_words` (D, S, E); for a Read-Again GRU
    `importance` (D, S), the mean over dimensions as in the paper's figure. A GRU that writes has no
    `cell`. With a shortlist the input `ext_ids` (D, S), and what `list_words` gives.
    """
    graph = Graph("encoder")
    ids = graph.input("source_ids", np.int64, ["D", "N", "L"])
    lengths = graph.input("lengths", np.int64, ["D", "N"])
    encoder = _EncoderGraph(graph, run, model, weights, products, ids, lengths)
    encoded = encoder.read()

    bound, size = encoded.bound, encoded.size
    states = encoder.by_document(encoded.states, size)  # (D, S, H)
    rows = graph.reshape(states, -1, size)
    graph.output(states, "states", np.float32, ["D", "S", size])
    decoder, E = weights.of("decoder"), model.embedding_size
    A, H = model.decoder.attention_size, model.decoder.hidden_size
    keys = products.multiply(graph, rows, decoder.matrix("key.weight"), None, bound=bound)
    keys = graph.reshape(keys, encoder.documents, 1, -1, A)
    graph.output(keys, "keys", np.float32, ["D", 1, "S", A])

    last = graph.reshape(encoded.last, graph.size(ids, 0), -1)  # (D, Z)
    begin = decoder.of("begin")
    start = products.multiply(
        graph, last, begin.matrix("weight"), begin.tensor("bias"), bound=bound
    )
    carried = ["hidden", "cell"] if model.decoder.cell == "lstm" else ["hidden"]
    begun = graph.split(graph.add("Tanh", start), *[H] * len(carried))
    for name, value in zip(carried, begun, strict=True):
        graph.output(value, name, np.float32, ["D", H])

    if model.output == "copy":
        parts = [("copy_keys", weights.of("copy_scores.project"), H)]
        if model.copied_words == "place":
            parts.append(("copy_words", weights.of("previous_words.copied"), E))
        for name, part, width in parts:
            product = products.multiply(
                graph, rows, part.matrix("weight"), part.tensor("bias"), bound=bound
            )
            value = encoder.with_places(graph.add("Tanh", product), width)
            if name == "copy_keys":
                value = graph.add("Transpose", value, perm=[0, 2, 1])
                graph.output(value, name, np.float32, ["D", width, "S"])
            else:
                graph.output(value, name, np.float32, ["D", "S", width])
    shortlist = list_size(run, model)
    if shortlist:
        ext_ids = graph.input("ext_ids", np.int64, ["D", "S"])
        list_words(graph, products, weights.of("output.project"), ext_ids, size=shortlist)
    if encoded.importance is not None:
        mean = graph.add("ReduceMean", encoded.importance, graph.ints(-1), keepdims=1)
        mean = graph.reshape(encoder.by_document(mean, 1), graph.size(ids, 0), -1)
        graph.output(mean, "importance", np.float32, ["D", "S"])
    return graph.model()


@dataclass(frozen=True)
class _Encoded:
    """What a reading leaves: (L, B, size) states, (B, size) last ones, (L, B, ...) importance."""

    states: str
    last: str
    size: int
    bound: float | None
    importance: str | None = None


class _EncoderGraph:
    """The readings of one encoder, put into a graph."""

    def __init__(
        self,
        graph: Graph,
        run: RunSpec,
        model: ModelSpec,
        weights: Weights,
        products: Products,
        ids: str,
        lengths: str,
    ) -> None:
        self.graph = graph
        self.spec = model.encoder
        self.num_sentences = run.data.num_sentences
        self.weights = weights.of("encoder")
        self.products = products
        self.documents = graph.size(ids, 0)
        self.sentences = Sentences(
            length=graph.size(ids, 2),
            count=graph.size(graph.reshape(lengths, -1), 0),
            lengths=graph.reshape(lengths, -1),
        )
        rows = graph.reshape(ids, self.sentences.count, self.sentences.length)  # (B, L)
        by_word = graph.reshape(graph.add("Transpose", rows, perm=[1, 0]), -1)  # (L * B,)
        table = weights.tensor("source_embedding.weight")
        # A row of the table has its own scale, so its bound is not one number.
        embedded = products.embed(graph, by_word, table)  # (L * B, E)
        self.words = Part(embedded, model.embedding_size, bound=None)

    def read(self) -> _Encoded:
        """Read as the spec says."""
        spec = self.spec
        match spec:
            case OnePassSpec():
                return self._plain_reading(self.weights.of("reading"), [self.words])
            case ReadAgainSpec():
                first = self._plain_reading(self.weights.of("first"), [self.words])
                return self._second_reading(first, [self._of_sentence(first.last, first)])
            case HierarchicalSpec():
                first = self._plain_reading(self.weights.of("first"), [self.words])
                return self._second_reading(first, self._of_all_sentences(spec, first))
            case _:
                assert_never(spec)

    def by_document(self, states: str, width: int) -> str:
        """Lay the sentences of each document end to end: (L, B, width) -> (D, S, width)."""
        turned = self.graph.add("Transpose", states, perm=[1, 0, 2])  # (B, L, width)
        return self.graph.reshape(turned, self.documents, -1, width)

    def with_places(self, rows: str, width: int) -> str:
        """Give (D * S, width) rows their two dimensions."""
        return self.graph.reshape(rows, self.documents, -1, width)

    def _of_sentence(self, rows: str, first: _Encoded) -> Part:
        return Part(rows, first.size, first.bound, of_sentence=True)

    def _of_all_sentences(self, spec: HierarchicalSpec, first: _Encoded) -> list[Part]:
        """Combine the sentences' vectors as option 1 or option 2 does (section 3.1.3)."""
        graph, N, H = self.graph, self.num_sentences, first.size
        joined = graph.reshape(first.last, self.documents, N * H)  # (D, N * H)
        if spec.combine == "concat":
            return [Part(self._repeated(joined, N * H), N * H, first.bound, of_sentence=True)]
        weights = self.weights.of("combine.combine")
        whole = self.products.multiply(
            graph, joined, weights.matrix("weight"), weights.tensor("bias"), bound=first.bound
        )
        whole = self._repeated(graph.add("Tanh", whole), H)
        return [self._of_sentence(first.last, first), Part(whole, H, 1.0, of_sentence=True)]

    def _repeated(self, rows: str, width: int) -> str:
        """Give each sentence its document's vector: (D, width) -> (B, width)."""
        graph = self.graph
        shape = graph.joined(self.documents, self.num_sentences, width)
        return graph.reshape(graph.add("Expand", graph.unsqueeze(rows, 1), shape), -1, width)

    def _plain_reading(self, weights: Weights, parts: list[Part]) -> _Encoded:
        """Read once, in as many directions as the spec says."""
        spec, directions = self.spec, range(1 + self.spec.bidirectional)
        readings = [self._direction(weights.of(f"directions.{d}"), parts) for d in directions]
        states, last = read_directions(self.graph, self.sentences, readings, spec.hidden_size)
        size = spec.hidden_size * len(directions)
        return _Encoded(states, last, size, LSTM_BOUND if spec.cell == "lstm" else GRU_BOUND)

    def _direction(self, weights: Weights, parts: list[Part]) -> Reading:
        """Prepare one direction: what reads, and what it is given."""
        if self.spec.cell == "gru":
            read = partial(read_gru, self.graph, self.products, weights=weights, bound=GRU_BOUND)
            return read, [self._product(parts, weights.of("input"))]
        lstm = weights.of("lstm")
        bias = lstm.tensor("bias_ih_l0") + lstm.tensor("bias_hh_l0")
        gates = multiply_parts(
            self.graph,
            self.products,
            self.sentences,
            parts,
            lstm_order(lstm.matrix("weight_ih_l0")),
            lstm_order(bias),
        )
        weight_hidden = lstm_order(lstm.matrix("weight_hh_l0"))
        return partial(read_lstm, self.graph, self.products, weight_hidden=weight_hidden), [gates]

    def _second_reading(self, first: _Encoded, context: list[Part]) -> _Encoded:
        """Read again, knowing the first reading and the whole."""
        rows = self.graph.reshape(first.states, -1, first.size)
        seen = [self.words, Part(rows, first.size, first.bound), *context]
        if self.spec.cell == "lstm":
            return self._plain_reading(self.weights.of("second.reading"), seen)
        return self._second_gru(self.weights.of("second"), seen)

    def _second_gru(self, weights: Weights, seen: list[Part]) -> _Encoded:
        graph, spec = self.graph, self.spec
        assert not isinstance(spec, OnePassSpec)
        activation = spec.importance_activation.capitalize()
        bound = states_bound(spec)
        readings: list[Reading] = []
        importance = []
        for direction in range(1 + spec.bidirectional):
            of_alpha = weights.of(f"importance.{direction}")
            # In the order of the parts: the word, its first-read state, the whole.
            weight = np.concatenate(
                [of_alpha.matrix(f"{name}.weight") for name in ("word", "state", "whole")]
            )
            product = multiply_parts(graph, self.products, self.sentences, seen, weight, None)
            alpha = graph.add(activation, product)  # (L, B, H or 1)
            importance.append(alpha)
            of_gru = weights.of(f"directions.{direction}")
            inputs = self._product([self.words], of_gru.of("input"))
            read = partial(read_gru, graph, self.products, weights=of_gru, bound=bound)
            readings.append((read, [inputs, alpha]))
        states, last = read_directions(graph, self.sentences, readings, spec.hidden_size)
        joined = importance[0] if len(importance) == 1 else graph.add("Concat", *importance, axis=2)
        return _Encoded(states, last, spec.hidden_size * len(readings), bound, joined)

    def _product(self, parts: list[Part], weights: Weights) -> str:
        return multiply_parts(
            self.graph,
            self.products,
            self.sentences,
            parts,
            weights.matrix("weight"),
            weights.tensor("bias"),
        )
