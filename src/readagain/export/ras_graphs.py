"""ONNX graphs of RAS: the convolutional attentive encoder and a decoder step."""

import numpy as np
from onnx import ModelProto

from readagain.config.schema import RasSpec, RunSpec
from readagain.export.baseline_graphs import BaselineStep, SourceSequence
from readagain.export.graph_builder import GraphBuilder
from readagain.export.precision_ops import PrecisionOps
from readagain.export.rnn import LinearInput
from readagain.export.state_dict import StateDict

ELMAN_BOUND = 1.0  # a state is a sigmoid; that of the LSTM is o m_t, which nothing bounds


def build_ras_encoder_graph(model: RasSpec, weights: StateDict, ops: PrecisionOps) -> ModelProto:
    """Build the encoder graph.

    Inputs: `source_ids` (D, 1, S) and `lengths` (D, 1). Outputs: `states` (D, S, E) the words,
    `keys` (D, H, S), `hidden` (D, H) and, for the LSTM, `cell` (D, H).
    """
    graph, E, H = GraphBuilder("encoder"), model.embedding_size, model.hidden_size
    source = SourceSequence.add_inputs(graph)
    words = source.embedding(graph, ops, weights)  # (D, S, E)
    table = graph.constant(weights.tensor("encoder.positions"), np.float32)
    last = graph.ints(model.num_positions - 1)
    position = graph.add("Min", graph.arange(source.length), last)
    positioned = graph.add("Add", words, graph.add("Gather", table, position))
    positioned = graph.add("Mul", positioned, source.valid)
    before = model.window // 2
    neighbours = _windows(
        graph, positioned, source.length, before=before, after=model.window - 1 - before
    )
    filters = weights.matrix("encoder.filters.weight")
    keys = ops.linear(graph, graph.reshape(neighbours, -1, len(filters)), filters, None, bound=None)
    keys = graph.add("Transpose", source.by_document(graph, keys, H), perm=[0, 2, 1])
    graph.output(words, "states", np.float32, ["D", "S", E])
    graph.output(keys, "keys", np.float32, ["D", H, "S"])
    first = np.tanh(weights.tensor("decoder.first"))  # (1 or 2, H)
    shape = graph.concat_sizes(source.documents, H)
    for name, value in zip(_state_names(model), first, strict=True):
        initial = graph.add("Expand", graph.constant(value[None]), shape)
        graph.output(initial, name, np.float32, ["D", H])
    return graph.model()


def build_ras_step_graph(
    run: RunSpec, model: RasSpec, weights: StateDict, ops: PrecisionOps
) -> ModelProto:
    """Build the step graph, with the inputs and outputs of `BaselineStep`."""
    step = BaselineStep(weights, ops, vocab_size=run.vocab_size)
    graph, decoder = step.graph, weights.module("decoder")
    E, H = model.embedding_size, model.hidden_size
    state = [graph.input(name, np.float32, ["R", H]) for name in _state_names(model)]
    states = graph.input("states", np.float32, ["D", "S", E])
    keys = graph.input("keys", np.float32, ["D", H, "S"])

    bound = ELMAN_BOUND if model.cell == "elman" else None
    context, attention = step.attend(state[0], keys, states, E)
    word = step.embedding(step.previous_ids, "previous_words.embedding.weight")
    of_input = decoder.module("input")
    sums = ops.linear(graph, word, of_input.matrix("weight"), of_input.tensor("bias"), bound=None)
    for rows, name, rows_bound in (
        (context, "weight_context", None),
        (state[0], "weight_hidden", bound),
    ):
        product = ops.linear(graph, rows, decoder.matrix(name), None, bound=rows_bound)
        sums = graph.add("Add", sums, product)
    if model.cell == "elman":
        following = [graph.add("Sigmoid", sums)]
    else:
        following = _lstm(graph, sums, state[1], H)
    for name, value in zip(_state_names(model), following, strict=True):
        graph.output(value, f"next_{name}", np.float32, ["R", H])
    return step.finish(
        [LinearInput(following[0], H, bound), LinearInput(context, E, bound=None)], attention
    )


def _lstm(graph: GraphBuilder, sums: str, cell: str, hidden_size: int) -> list[str]:
    """Return the (R, H) state o m_t and cell m_t of a step of the paper's LSTM."""
    H = hidden_size
    input_gate, forget, candidate, output = graph.split(sums, H, H, H, H)
    kept = graph.add("Mul", graph.add("Sigmoid", forget), cell)
    update = graph.add("Mul", graph.add("Sigmoid", input_gate), graph.add("Tanh", candidate))
    cell = graph.add("Add", kept, update)
    return [graph.add("Mul", graph.add("Sigmoid", output), cell), cell]


def _state_names(model: RasSpec) -> tuple[str, ...]:
    return ("hidden", "cell") if model.cell == "lstm" else ("hidden",)


def _windows(graph: GraphBuilder, values: str, length: str, *, before: int, after: int) -> str:
    """Concatenate each position with its neighbours, zeros beyond the ends: (D, S, window * n)."""
    padded = graph.add("Pad", values, graph.ints(0, before, 0, 0, after, 0))
    neighbours = [
        graph.add(
            "Slice",
            padded,
            graph.ints(offset),
            graph.add("Add", length, graph.ints(offset)),
            graph.ints(1),
        )
        for offset in range(before + 1 + after)
    ]
    return graph.add("Concat", *neighbours, axis=2)
