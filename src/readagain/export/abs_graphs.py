"""ONNX graphs of ABS: the attention-based encoder and a step of its language model."""

import numpy as np
from onnx import ModelProto

from readagain.config.schema import AbsSpec, RunSpec
from readagain.export.graph import Graph
from readagain.export.inputs import Part
from readagain.export.places import Places
from readagain.export.products import Products
from readagain.export.rival_step import RivalStep
from readagain.export.weights import Weights
from readagain.text.vocab import BOS

TANH_BOUND = 1.0


def build_abs_encoder_graph(model: AbsSpec, weights: Weights, products: Products) -> ModelProto:
    """Build the graph that reads sources.

    Inputs: `source_ids` (D, 1, S) and `lengths` (D, 1). Outputs: `context_ids` (D, C), all BOS;
    `states` (D, S, H), the smoothed embeddings; `keys` (D, H, S), the embeddings.
    """
    graph, H, Q = Graph("encoder"), model.hidden_size, model.encoder.smoothing
    places = Places.of(graph)
    words = places.words(graph, products, weights)  # (D, S, H)
    words = graph.add("Mul", words, places.valid)
    keys = graph.add("Transpose", words, perm=[0, 2, 1])  # (D, H, S)
    graph.output(keys, "keys", np.float32, ["D", H, "S"])
    smoothed = graph.add(
        "AveragePool", keys, kernel_shape=[2 * Q + 1], pads=[Q, Q], count_include_pad=1
    )
    states = graph.add("Transpose", smoothed, perm=[0, 2, 1])
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
    keys = graph.input("keys", np.float32, ["D", H, "S"])
    context_words = graph.reshape(step.embed(fed_ids, "encoder.embedding.weight"), -1, width)
    P = weights.matrix("encoder.query.weight")
    query = products.multiply(graph, context_words, P, None, bound=None)
    context, attention = step.attend(query, keys, states, H)
    return step.finish([Part(hidden, H, TANH_BOUND), Part(context, H, None)], attention)
