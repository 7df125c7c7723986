"""ABS as graphs: its three encoders, and a step of its language model."""

from typing import assert_never

import numpy as np
from onnx import ModelProto

from readagain.config.schema import (
    AbsSpec,
    AttentiveBagSpec,
    BagOfWordsSpec,
    ConvolutionSpec,
    RunSpec,
)
from readagain.export.graph import Graph
from readagain.export.inputs import Part
from readagain.export.places import Places, multiply_windows
from readagain.export.products import Products
from readagain.export.rival_step import RivalStep
from readagain.export.weights import Weights
from readagain.text.vocab import BOS

TANH_BOUND = 1.0
LOWEST = np.float32(np.finfo(np.float32).min)


def build_abs_encoder_graph(model: AbsSpec, weights: Weights, products: Products) -> ModelProto:
    """Build the graph that reads sources.

    Inputs: `source_ids` (D, 1, S) and `lengths` (D, 1). Outputs: `context_ids` (D, C), START; and
    `states`, the (D, S, H) words that are averaged, or (D, 1, H) the whole; with attention `keys`
    (D, H, S) too.
    """
    graph, H = Graph("encoder"), model.hidden_size
    places = Places.of(graph)
    words = places.words(graph, products, weights)  # (D, S, H)
    words = graph.add("Mul", words, places.valid)
    match model.encoder:
        case AttentiveBagSpec(smoothing=Q):
            keys = graph.add("Transpose", words, perm=[0, 2, 1])  # (D, H, S)
            graph.output(keys, "keys", np.float32, ["D", H, "S"])
            smoothed = graph.add(
                "AveragePool", keys, kernel_shape=[2 * Q + 1], pads=[Q, Q], count_include_pad=1
            )
            states = graph.add("Transpose", smoothed, perm=[0, 2, 1])
        case BagOfWordsSpec():
            states = words
        case ConvolutionSpec():
            states = _convolved(graph, products, weights, model.encoder, words, places, H)
        case _:
            assert_never(model.encoder)
    graph.output(states, "states", np.float32, ["D", "P", H])
    start = graph.constant(np.full((1, model.context_words), BOS), np.int64)
    shape = graph.joined(places.documents, model.context_words)
    start = graph.add("Expand", start, shape)
    graph.output(start, "context_ids", np.int64, ["D", model.context_words])
    return graph.model()


def build_abs_step_graph(
    run: RunSpec, model: AbsSpec, weights: Weights, products: Products
) -> ModelProto:
    """Build the graph that takes one step; `RivalStep` says what goes in and out.

    A row carries `context_ids` (R, C), the words it was last fed.
    """
    step = RivalStep(weights, products, vocab_size=run.vocab_size)
    graph, C, H = step.graph, model.context_words, model.hidden_size
    before = graph.input("context_ids", np.int64, ["R", C])
    kept = graph.add("Slice", before, graph.ints(1), graph.ints(C), graph.ints(1))
    context_ids = graph.add("Concat", kept, graph.unsqueeze(step.previous_ids, 1), axis=1)
    graph.output(context_ids, "next_context_ids", np.int64, ["R", C])
    fed_ids = graph.reshape(context_ids, -1)  # (R * C,)

    width = C * model.embedding_size
    words = graph.reshape(step.embed(fed_ids, "previous_words.embedding.weight"), -1, width)
    U = weights.of("hidden")
    hidden = products.multiply(graph, words, U.matrix("weight"), U.tensor("bias"), bound=None)
    hidden = graph.add("Tanh", hidden)

    states = graph.input("states", np.float32, ["D", "P", H])
    bound = None
    match model.encoder:
        case AttentiveBagSpec():
            keys = graph.input("keys", np.float32, ["D", H, "S"])
            asking = graph.reshape(step.embed(fed_ids, "encoder.embedding.weight"), -1, width)
            P = weights.matrix("encoder.query.weight")
            query = products.multiply(graph, asking, P, None, bound=None)
            context, attention = step.attend(query, keys, states, H)
        case BagOfWordsSpec():
            is_word = graph.cast(step.valid, np.float32)  # (D, 1, S)
            count = graph.add("ReduceSum", is_word, graph.ints(2), keepdims=1)
            share = graph.add(
                "Div", is_word, graph.add("Max", count, graph.constant(np.float32(1)))
            )
            context = step.for_all(graph.add("MatMul", share, states), H)
            attention = step.for_all(share, graph.size(step.valid, 2))
        case ConvolutionSpec():
            is_word = graph.cast(step.valid, np.float32)
            nothing = graph.add("Mul", is_word, graph.constant(np.float32(0)))
            context, bound = step.for_all(states, H), TANH_BOUND
            attention = step.for_all(nothing, graph.size(step.valid, 2))
        case _:
            assert_never(model.encoder)
    return step.finish([Part(hidden, H, TANH_BOUND), Part(context, H, bound)], attention)


def _convolved(
    graph: Graph,
    products: Products,
    weights: Weights,
    spec: ConvolutionSpec,
    words: str,
    places: Places,
    hidden_size: int,
) -> str:
    """Convolve and pool (D, S, H) words to (D, 1, H)."""
    valid, length = places.valid, places.length  # (D, S, 1), (1,)
    lowest = graph.constant(LOWEST)
    for layer in range(spec.num_layers):
        convolved = multiply_windows(
            graph,
            products,
            words,
            length,
            weights.of(f"encoder.layers.{layer}"),
            before=spec.reach,
            after=spec.reach,
        )
        convolved = graph.reshape(convolved, places.documents, length, hidden_size)
        convolved = graph.add("Where", graph.cast(valid, np.bool_), convolved, lowest)
        words, valid = (
            _halved(graph, value, places.documents, length, width, fill)
            for value, width, fill in ((convolved, hidden_size, LOWEST), (valid, 1, np.float32(0)))
        )
        words = graph.add("Mul", graph.add("Tanh", words), valid)
        length = graph.size(valid, 1)
    floor = graph.constant(np.float32(-1))
    words = graph.add("Where", graph.cast(valid, np.bool_), words, floor)
    return graph.add("ReduceMax", words, graph.ints(1), keepdims=1)


def _halved(
    graph: Graph, value: str, documents: str, length: str, width: int, fill: np.float32
) -> str:
    """Keep the larger of every two places: (D, S, width) -> (D, ⌈S / 2⌉, width)."""
    odd = graph.add("Mod", length, graph.ints(2))
    pads = graph.joined(0, 0, 0, 0, odd, 0)
    padded = graph.add("Pad", value, pads, graph.constant(fill))
    pairs = graph.reshape(padded, documents, -1, 2, width)
    return graph.add("ReduceMax", pairs, graph.ints(2), keepdims=0)
