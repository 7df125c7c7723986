"""ONNX graphs of ABS: the attention-based encoder and a step of its language model."""

import numpy as np
from onnx import ModelProto

from readagain.config.schema import AbsSpec, RunSpec
from readagain.export.baseline_graphs import BaselineStep, SourceSequence
from readagain.export.graph_builder import GraphBuilder
from readagain.export.precision_ops import PrecisionOps
from readagain.export.rnn import LinearInput
from readagain.export.state_dict import StateDict
from readagain.text.vocab import BOS

TANH_BOUND = 1.0


def build_abs_encoder_graph(model: AbsSpec, weights: StateDict, ops: PrecisionOps) -> ModelProto:
    """Build the encoder graph.

    Inputs: `source_ids` (D, 1, S) and `lengths` (D, 1). Outputs: `context_ids` (D, C), all BOS;
    `states` (D, S, H), the smoothed embeddings; `keys` (D, H, S), the embeddings.
    """
    graph, H, Q = GraphBuilder("encoder"), model.hidden_size, model.encoder.smoothing
    source = SourceSequence.add_inputs(graph)
    words = source.embedding(graph, ops, weights)  # (D, S, H)
    words = graph.add("Mul", words, source.valid)
    keys = graph.add("Transpose", words, perm=[0, 2, 1])  # (D, H, S)
    graph.output(keys, "keys", np.float32, ["D", H, "S"])
    smoothed = graph.add(
        "AveragePool", keys, kernel_shape=[2 * Q + 1], pads=[Q, Q], count_include_pad=1
    )
    states = graph.add("Transpose", smoothed, perm=[0, 2, 1])
    graph.output(states, "states", np.float32, ["D", "P", H])
    start = graph.constant(np.full((1, model.context_words), BOS), np.int64)
    shape = graph.concat_sizes(source.documents, model.context_words)
    start = graph.add("Expand", start, shape)
    graph.output(start, "context_ids", np.int64, ["D", model.context_words])
    return graph.model()


def build_abs_step_graph(
    run: RunSpec, model: AbsSpec, weights: StateDict, ops: PrecisionOps
) -> ModelProto:
    """Build the step graph, with the inputs and outputs of `BaselineStep`.

    The state of a row is `context_ids` (R, C), its last words.
    """
    step = BaselineStep(weights, ops, vocab_size=run.vocab_size)
    graph, C, H = step.graph, model.context_words, model.hidden_size
    before = graph.input("context_ids", np.int64, ["R", C])
    last_ids = graph.add("Slice", before, graph.ints(1), graph.ints(C), graph.ints(1))
    context_ids = graph.add("Concat", last_ids, graph.unsqueeze(step.previous_ids, 1), axis=1)
    graph.output(context_ids, "next_context_ids", np.int64, ["R", C])
    fed_ids = graph.reshape(context_ids, -1)  # (R * C,)

    width = C * model.embedding_size
    words = graph.reshape(step.embedding(fed_ids, "previous_words.embedding.weight"), -1, width)
    U = weights.module("hidden")
    hidden = ops.linear(graph, words, U.matrix("weight"), U.tensor("bias"), bound=None)
    hidden = graph.add("Tanh", hidden)

    states = graph.input("states", np.float32, ["D", "P", H])
    keys = graph.input("keys", np.float32, ["D", H, "S"])
    context_words = graph.reshape(step.embedding(fed_ids, "encoder.embedding.weight"), -1, width)
    P = weights.matrix("encoder.query.weight")
    query = ops.linear(graph, context_words, P, None, bound=None)
    context, attention = step.attend(query, keys, states, H)
    return step.finish(
        [LinearInput(hidden, H, TANH_BOUND), LinearInput(context, H, None)], attention
    )
