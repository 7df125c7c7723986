"""ONNX graphs of the baselines ABS and RAS."""

import numpy as np
from onnx import ModelProto

from readagain.config.schema import AbsSpec, RasSpec, RunSpec
from readagain.export.candidates import output_candidates, score_vocab
from readagain.export.graph_builder import GraphBuilder, StateDict
from readagain.export.rnn import LinearInput
from readagain.export.step_graph import StepGraph
from readagain.text.vocab import BOS

# Largest absolute values, for int8. The state of RAS's LSTM has no bound (`_ras_lstm_cell`).
ELMAN_BOUND = 1.0  # the state is a sigmoid
TANH_BOUND = 1.0


def build_abs_encoder(graph: GraphBuilder, model: AbsSpec, weights: StateDict) -> ModelProto:
    """Build the encoder graph of ABS.

    Inputs: `source_ids` (D, 1, S) and `lengths` (D, 1). Outputs: `context_ids` (D, C), the words
    before the summary, all BOS; `states` (D, S, H), the smoothed embeddings; `keys` (D, H, S), the
    embeddings.
    """
    H, Q, C = model.hidden_size, model.encoder.smoothing, model.context_words
    words, valid, documents, _ = _embed_source(graph, weights)
    words = graph.op("Mul", words, valid)  # (D, S, H)
    keys = graph.op("Transpose", words, perm=[0, 2, 1])  # (D, H, S)
    graph.output(keys, "keys", np.float32, ["D", H, "S"])
    smoothed = graph.op(
        "AveragePool", keys, kernel_shape=[2 * Q + 1], pads=[Q, Q], count_include_pad=1
    )
    states = graph.op("Transpose", smoothed, perm=[0, 2, 1])
    graph.output(states, "states", np.float32, ["D", "P", H])  # P = S
    last_ids = graph.constant(np.full((1, C), BOS), np.int64)
    last_ids = graph.op("Expand", last_ids, graph.concat_sizes(documents, C))
    graph.output(last_ids, "context_ids", np.int64, ["D", C])
    return graph.model()


def build_abs_step(
    graph: GraphBuilder, run: RunSpec, model: AbsSpec, weights: StateDict
) -> ModelProto:
    """Build the step graph of ABS, with the inputs and outputs of `StepGraph`.

    The state is `context_ids` (R, C), the last C words before the previous word.
    """
    step = StepGraph(graph, weights, vocab_size=run.vocab_size)
    C, H = model.context_words, model.hidden_size
    old_ids = graph.input("context_ids", np.int64, ["R", C])
    old_ids = graph.op("Slice", old_ids, graph.ints(1), graph.ints(C), graph.ints(1))
    last_ids = graph.op("Concat", old_ids, graph.unsqueeze(step.previous_ids, 1), axis=1)
    graph.output(last_ids, "next_context_ids", np.int64, ["R", C])
    input_ids = graph.reshape(last_ids, -1)  # (R * C,)

    width = C * model.embedding_size
    words = graph.reshape(step.embedding(input_ids, "previous_words.embedding.weight"), -1, width)
    hidden = graph.op("Tanh", graph.linear(words, *weights.affine("hidden"), bound=None))

    states = graph.input("states", np.float32, ["D", "P", H])
    keys = graph.input("keys", np.float32, ["D", H, "S"])  # P = S
    query_words = graph.reshape(step.embedding(input_ids, "encoder.embedding.weight"), -1, width)
    query = graph.linear(query_words, weights.matrix("encoder.query.weight"), bound=None)
    context = step.attend(graph.op("MatMul", step.to_grid(query), keys), states, H)
    inputs = [LinearInput(hidden, H, TANH_BOUND), LinearInput(context, H, None)]
    output_candidates(step, score_vocab(step, inputs))
    return graph.model()


def build_ras_encoder(graph: GraphBuilder, model: RasSpec, weights: StateDict) -> ModelProto:
    """Build the encoder graph of RAS.

    Inputs: `source_ids` (D, 1, S) and `lengths` (D, 1). Outputs: `states` (D, S, E), the
    embeddings; `keys` (D, H, S), `hidden` (D, H) and, for the LSTM, `cell` (D, H).
    """
    E, H = model.embedding_size, model.hidden_size
    words, valid, documents, length = _embed_source(graph, weights)  # words: (D, S, E)
    table = graph.constant(weights.tensor("encoder.positions"), np.float32)
    last = graph.ints(model.num_positions - 1)
    position = graph.op("Min", graph.arange(length), last)
    positioned = graph.op("Add", words, graph.op("Gather", table, position))
    positioned = graph.op("Mul", positioned, valid)
    windows = _concat_windows(graph, positioned, length, model.window)
    filters = weights.matrix("encoder.filters.weight")  # (window * E, H)
    keys = graph.linear(graph.reshape(windows, -1, len(filters)), filters, bound=None)
    keys = graph.op("Transpose", graph.reshape(keys, documents, length, H), perm=[0, 2, 1])
    graph.output(words, "states", np.float32, ["D", "S", E])
    graph.output(keys, "keys", np.float32, ["D", H, "S"])
    initial_state = np.tanh(weights.tensor("decoder.first"))  # (1 or 2, H)
    shape = graph.concat_sizes(documents, H)
    for name, vector in zip(_state_names(model), initial_state, strict=True):
        initial = graph.op("Expand", graph.constant(vector[None]), shape)
        graph.output(initial, name, np.float32, ["D", H])
    return graph.model()


def build_ras_step(
    graph: GraphBuilder, run: RunSpec, model: RasSpec, weights: StateDict
) -> ModelProto:
    """Build the step graph of RAS, with the inputs and outputs of `StepGraph`."""
    step = StepGraph(graph, weights, vocab_size=run.vocab_size)
    decoder = weights.module("decoder")
    E, H = model.embedding_size, model.hidden_size
    state = [graph.input(name, np.float32, ["R", H]) for name in _state_names(model)]
    states = graph.input("states", np.float32, ["D", "S", E])
    keys = graph.input("keys", np.float32, ["D", H, "S"])

    bound = ELMAN_BOUND if model.cell == "elman" else None
    context = step.attend(graph.op("MatMul", step.to_grid(state[0]), keys), states, E)
    word = step.embedding(step.previous_ids, "previous_words.embedding.weight")
    sums = graph.linear(word, *decoder.affine("input"), bound=None)
    context_sums = graph.linear(context, decoder.matrix("weight_context"), bound=None)
    sums = graph.op("Add", sums, context_sums)
    state_sums = graph.linear(state[0], decoder.matrix("weight_hidden"), bound=bound)
    sums = graph.op("Add", sums, state_sums)
    if model.cell == "elman":
        next_state = [graph.op("Sigmoid", sums)]
    else:
        next_state = _ras_lstm_cell(graph, sums, state[1], H)
    for name, value in zip(_state_names(model), next_state, strict=True):
        graph.output(value, f"next_{name}", np.float32, ["R", H])
    inputs = [LinearInput(next_state[0], H, bound), LinearInput(context, E, bound=None)]
    output_candidates(step, score_vocab(step, inputs))
    return graph.model()


def _ras_lstm_cell(graph: GraphBuilder, sums: str, cell: str, hidden_size: int) -> list[str]:
    """Return the next (R, H) state and cell of the LSTM of RAS.

    Unlike in a standard LSTM, the state is output gate * cell, without a tanh.
    """
    H = hidden_size
    input_gate, forget_gate, candidate, output_gate = graph.split(sums, H, H, H, H)
    remembered = graph.op("Mul", graph.op("Sigmoid", forget_gate), cell)
    update = graph.op("Mul", graph.op("Sigmoid", input_gate), graph.op("Tanh", candidate))
    cell = graph.op("Add", remembered, update)
    return [graph.op("Mul", graph.op("Sigmoid", output_gate), cell), cell]


def _state_names(model: RasSpec) -> tuple[str, ...]:
    """Return the names of the decoder state in the graphs."""
    return ("hidden", "cell") if model.cell == "lstm" else ("hidden",)


def _concat_windows(graph: GraphBuilder, values: str, length: str, size: int) -> str:
    """Concatenate the values in a window around each position: (D, S, n) -> (D, S, size * n).

    Values before the start and after the end are zeros. `length` is S, as a (1,) value.
    """
    before = size // 2
    padded = graph.op("Pad", values, graph.ints(0, before, 0, 0, size - 1 - before, 0))
    shifted = []  # (D, S, n) each
    for offset in range(size):
        end = graph.op("Add", length, graph.ints(offset))
        shifted.append(graph.op("Slice", padded, graph.ints(offset), end, graph.ints(1)))
    return graph.op("Concat", *shifted, axis=2)


def _embed_source(graph: GraphBuilder, weights: StateDict) -> tuple[str, str, str, str]:
    """Add the inputs `source_ids` (D, N, L) and `lengths` (D, N), and embed the words.

    ABS and RAS read one sequence, so N = 1 and S = L.

    Returns:
        (D, S, width) embeddings; (D, S, 1) 1 at real words and 0 at padding; (1,) D; (1,) S.
    """
    ids = graph.input("source_ids", np.int64, ["D", "N", "L"])
    lengths = graph.input("lengths", np.int64, ["D", "N"])
    length = graph.size(ids, 2)
    is_word = graph.op("Less", graph.arange(length), lengths)  # (D, S)
    valid = graph.unsqueeze(graph.cast(is_word, np.float32), 2)
    rows, documents = graph.reshape(ids, -1), graph.size(ids, 0)
    table = weights.tensor("source_embedding.weight")
    words = graph.reshape(graph.embedding(rows, table), documents, length, table.shape[1])
    return words, valid, documents, length
