"""Recurrent layers in ONNX graphs: the LSTM and the paper's GRU as Scan operators.

Sequences are time first, (L, B, ...), since Scan runs along the first dimension. ONNX's LSTM
operator was no faster in float32; int8 and importance weights need the Scan
(`docs/decisions/0070-graphs-by-hand.md`).
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from readagain.config.schema import EncoderSpec, OnePassSpec
from readagain.export.graph_builder import Array, GraphBuilder, StateDict

STATE_BOUND = 1.0
"""Largest absolute value of a state of either cell.

The state of an LSTM is a sigmoid times a tanh. That of a GRU is between its previous state and a
tanh, unless α is negative.
"""

RnnDirection = tuple[Callable[..., str], Sequence[str]]
"""A function from (L, B, ...) inputs to (L, B, H) states, and its inputs."""


def states_bound(spec: EncoderSpec) -> float | None:
    """Return the largest absolute value of an encoder's states; None if they are unbounded."""
    if spec.cell == "lstm":
        return STATE_BOUND
    if isinstance(spec, OnePassSpec) or spec.importance == "none":
        return STATE_BOUND
    return None if spec.importance_activation == "tanh" else STATE_BOUND


@dataclass(frozen=True)
class SentenceLayout:
    """Sizes of a batch of B sentences of up to L words, as values of a graph.

    Args:
        length: (1,) L.
        count: (1,) B.
        lengths: (B,) number of words of each sentence.
    """

    length: str
    count: str
    lengths: str

    def reverse(self, graph: GraphBuilder, values: str) -> str:
        """Reverse the real words of each sentence, (L, B, ...); padding stays at the end."""
        return graph.add("ReverseSequence", values, self.lengths, time_axis=0, batch_axis=1)

    def last(self, graph: GraphBuilder, states: str, width: int) -> str:
        """Return the state at the last word: (L, B, width) -> (B, width); 0 for no words."""
        last_word = graph.add("Max", graph.add("Sub", self.lengths, graph.ints(1)), graph.ints(0))
        column = graph.arange(self.count)
        position = graph.add("Add", graph.add("Mul", last_word, self.count), column)  # (B,)
        picked = graph.add("Gather", graph.reshape(states, -1, width), position)
        is_nonempty = graph.cast(graph.add("Greater", self.lengths, graph.ints(0)), np.float32)
        return graph.add("Mul", picked, graph.unsqueeze(is_nonempty, 1))


def reorder_gates(gates: Array) -> Array:
    """Reorder gates from i, f, g, o to i, f, o, g, so that the sigmoids are contiguous."""
    input_gate, forget, candidate, output = np.split(gates, 4, axis=-1)
    return np.concatenate([input_gate, forget, output, candidate], axis=-1)


def lstm_cell(graph: GraphBuilder, gates: str, cell: str, hidden_size: int) -> tuple[str, str]:
    """Return the (B, H) state and cell of an LSTM step from (B, 4H) gates i, f, o, g."""
    H = hidden_size
    sigmoids, candidate = graph.split(gates, 3 * H, H)
    input_gate, forget, output = graph.split(graph.add("Sigmoid", sigmoids), H, H, H)
    update = graph.add("Mul", input_gate, graph.add("Tanh", candidate))
    cell = graph.add("Add", graph.add("Mul", forget, cell), update)
    return graph.add("Mul", output, graph.add("Tanh", cell)), cell


def lstm(graph: GraphBuilder, gates: str, *, weight_hidden: Array) -> str:
    """Run an LSTM over (L, B, 4H) projected words with biases; return the (L, B, H) states.

    The projected words and the (H, 4H) recurrent weight are in the order of `reorder_gates`.
    """
    H = weight_hidden.shape[0]
    body = graph.body("lstm_step")
    hidden = body.input("hidden", np.float32, ["B", H])
    cell = body.input("cell", np.float32, ["B", H])
    word_gates = body.input("gates", np.float32, ["B", 4 * H])
    state_gates = body.linear(hidden, weight_hidden, bound=STATE_BOUND)
    hidden, cell = lstm_cell(body, body.add("Add", word_gates, state_gates), cell, H)
    for value in (hidden, cell, hidden):
        body.output(value, "next", np.float32, ["B", H])
    zeros = _zeros(graph, gates, H)
    return graph.scan(body, [zeros, zeros], [gates])[2]


def gru(
    graph: GraphBuilder,
    inputs: str,
    importance: str | None = None,
    *,
    weights: StateDict,
    bound: float | None,
) -> str:
    """Run the paper's GRU over (L, B, 3H) projected words; return the (L, B, H) states.

    `importance` is (L, B, H or 1), α of each word, or None for a plain GRU. `bound` is the largest
    absolute value of a state, or None if α may be negative.
    """
    weight_gates = weights.matrix("weight_gates")  # (H, 2H)
    weight_candidate = weights.matrix("weight_candidate")  # (H, H)
    H = weight_candidate.shape[0]
    body = graph.body("gru_step")
    state = body.input("state", np.float32, ["B", H])
    word = body.input("word", np.float32, ["B", 3 * H])
    alpha = None if importance is None else body.input("importance", np.float32, ["B", "W"])
    state_gates = body.linear(state, weight_gates, bound=bound)
    state = gru_cell(body, state, word, state_gates, weight_candidate, alpha, bound=bound)
    for value in (state, state):
        body.output(value, "next", np.float32, ["B", H])
    sequences = [inputs] if importance is None else [inputs, importance]
    return graph.scan(body, [_zeros(graph, inputs, H)], sequences)[1]


def gru_cell(
    graph: GraphBuilder,
    state: str,
    inputs: str,
    state_gates: str,
    weight_candidate: Array,
    importance: str | None = None,
    *,
    bound: float | None,
) -> str:
    """Return the (B, H) state of a GRU step after a (B, H) state.

    `inputs` are (B, 3H), projected for z, r and the candidate; `state_gates` (B, 2H), the projected
    state for z and r; `importance` (B, H or 1), α, which scales the update gate.
    """
    H = weight_candidate.shape[0]
    input_gates, input_candidate = graph.split(inputs, 2 * H, H)
    gates = graph.add("Sigmoid", graph.add("Add", input_gates, state_gates))
    update, reset = graph.split(gates, H, H)
    projected = graph.linear(graph.add("Mul", reset, state), weight_candidate, bound=bound)
    candidate = graph.add("Tanh", graph.add("Add", input_candidate, projected))
    if importance is not None:
        update = graph.add("Mul", importance, update)
    change = graph.add("Mul", update, graph.add("Sub", candidate, state))
    return graph.add("Add", state, change)


def run_directions(
    graph: GraphBuilder,
    sentences: SentenceLayout,
    directions: Sequence[RnnDirection],
    hidden_size: int,
) -> tuple[str, str]:
    """Run a recurrent layer from left to right and, with two directions, from right to left.

    The inputs are in text order; `hidden_size` is the width of the states of one direction.

    Returns:
        (L, B, H) states in text order and the (B, H) last states; directions are concatenated.
    """
    states, last = [], []
    for index, (run, inputs) in enumerate(directions):
        is_backward = index == 1
        if is_backward:
            inputs = [sentences.reverse(graph, each) for each in inputs]
        result = run(*inputs)
        last.append(sentences.last(graph, result, hidden_size))
        states.append(sentences.reverse(graph, result) if is_backward else result)
    if len(states) == 1:
        return states[0], last[0]
    return graph.add("Concat", *states, axis=2), graph.add("Concat", *last, axis=1)


def _zeros(graph: GraphBuilder, inputs: str, width: int) -> str:
    """Return the (B, width) initial state, zeros."""
    return graph.add("ConstantOfShape", graph.concat_sizes(graph.size(inputs, 1), width))


@dataclass(frozen=True)
class LinearInput:
    """One of the inputs whose concatenation a linear layer is applied to.

    Args:
        rows: (L * B, width), one row per word; or (B, width), one per sentence.
        width: number of columns.
        bound: largest absolute value, or None if unknown.
        per_sentence: whether there is one row per sentence, used for all of its words.
    """

    rows: str
    width: int
    bound: float | None
    per_sentence: bool = False


def sum_of_linears(
    graph: GraphBuilder,
    inputs: Sequence[LinearInput],
    weight: Array,
    bias: Array | None,
    *,
    sentences: SentenceLayout | None = None,
    is_float32: bool = False,
) -> str:
    """Apply a linear layer with an (I, O) weight to the concatenation of inputs.

    Each input is multiplied separately and, in int8, has its own scale. The result is (R, O), or
    (L, B, O) with `sentences`. With `is_float32`, the product is computed in float32 even in an
    int8 graph.
    """
    ends = np.cumsum([each.width for each in inputs])
    total = ""
    for each, weight_rows in zip(inputs, np.split(weight, ends[:-1]), strict=True):
        if is_float32:
            product = graph.linear_float32(each.rows, weight_rows, bias)
        else:
            product = graph.linear(each.rows, weight_rows, bias, bound=each.bound)
        bias = None  # added once
        if sentences is not None and not each.per_sentence:
            product = graph.reshape(product, sentences.length, sentences.count, weight.shape[1])
        total = graph.add("Add", total, product) if total else product
    return total
