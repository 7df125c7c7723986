"""Recurrent layers in ONNX graphs: the LSTM and the paper's GRU as Scan operators.

Sequences are time first, (L, B, ...), since Scan runs along the first dimension. ONNX's own LSTM
operator supports neither int8 nor importance weights, and was no faster in float32
(`docs/decisions/0070-graphs-by-hand.md`).
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from readagain.config.schema import EncoderSpec, OnePassSpec
from readagain.export.graph_builder import Array, GraphBuilder, StateDict

STATE_BOUND = 1.0
"""Largest absolute value of a state of an LSTM or GRU.

The state of an LSTM is a sigmoid times a tanh. The state of a GRU is between its previous state and
a tanh, unless its importance α is negative.
"""

RnnDirection = tuple[Callable[..., str], Sequence[str]]
"""One direction of a layer: a function from (L, B, ...) inputs to (L, B, H) states, and its inputs.
"""


def states_bound(spec: EncoderSpec) -> float | None:
    """Return the largest absolute value of an encoder's states; None if they are unbounded."""
    if spec.cell == "lstm" or isinstance(spec, OnePassSpec) or spec.importance == "none":
        return STATE_BOUND
    can_be_negative = spec.importance_activation == "tanh"
    return None if can_be_negative else STATE_BOUND


@dataclass(frozen=True)
class SentenceLayout:
    """Sizes of a batch of B sentences of up to L words, as values of a graph.

    Args:
        max_length: (1,) L.
        num_sentences: (1,) B.
        lengths: (B,) number of words of each sentence.
    """

    max_length: str
    num_sentences: str
    lengths: str

    def reverse(self, graph: GraphBuilder, values: str) -> str:
        """Reverse the words of each sentence, (L, B, ...); padding stays at the end."""
        return graph.op("ReverseSequence", values, self.lengths, time_axis=0, batch_axis=1)

    def last_states(self, graph: GraphBuilder, states: str, width: int) -> str:
        """Return the state at the last word of each sentence: (L, B, width) -> (B, width).

        The state of a sentence without words is 0.
        """
        last_word = graph.op("Max", graph.op("Sub", self.lengths, graph.ints(1)), graph.ints(0))
        sentence = graph.arange(self.num_sentences)
        row_offset = graph.op("Mul", last_word, self.num_sentences)
        flat_index = graph.op("Add", row_offset, sentence)  # (B,)
        last = graph.op("Gather", graph.reshape(states, -1, width), flat_index)
        is_nonempty = graph.cast(graph.op("Greater", self.lengths, graph.ints(0)), np.float32)
        return graph.op("Mul", last, graph.unsqueeze(is_nonempty, 1))


def reorder_gates(gates: Array) -> Array:
    """Move the candidate of an LSTM behind the three sigmoid gates, so that these are adjacent.

    `gates` is a weight (I, 4H) or a bias (4H,) in torch's order: input, forget, candidate, output.
    """
    input_gate, forget, candidate, output = np.split(gates, 4, axis=-1)
    return np.concatenate([input_gate, forget, output, candidate], axis=-1)


def lstm_cell(graph: GraphBuilder, gates: str, cell: str, hidden_size: int) -> tuple[str, str]:
    """Return the next (B, H) state and cell of an LSTM.

    `gates` are (B, 4H) sums in the order of `reorder_gates`, before sigmoid and tanh.
    """
    H = hidden_size
    sigmoids, candidate = graph.split(gates, 3 * H, H)
    input_gate, forget, output = graph.split(graph.op("Sigmoid", sigmoids), H, H, H)
    update = graph.op("Mul", input_gate, graph.op("Tanh", candidate))
    cell = graph.op("Add", graph.op("Mul", forget, cell), update)
    return graph.op("Mul", output, graph.op("Tanh", cell)), cell


def lstm(graph: GraphBuilder, gates: str, *, weight_hidden: Array) -> str:
    """Run an LSTM over (L, B, 4H) `gates` and return the (L, B, H) states.

    `gates` are the projected words with biases. They and the (H, 4H) recurrent weight have the
    order of `reorder_gates`.
    """
    H = weight_hidden.shape[0]
    body = graph.body("lstm_step")
    hidden = body.input("hidden", np.float32, ["B", H])
    cell = body.input("cell", np.float32, ["B", H])
    word_gates = body.input("gates", np.float32, ["B", 4 * H])
    state_gates = body.linear(hidden, weight_hidden, bound=STATE_BOUND)
    hidden, cell = lstm_cell(body, body.op("Add", word_gates, state_gates), cell, H)
    for value in (hidden, cell, hidden):  # the next states of the Scan, then its output
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
    """Run the paper's GRU over (L, B, 3H) `inputs`, the projected words; return (L, B, H) states.

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
    for value in (state, state):  # the next state of the Scan, then its output
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
    """Return the next (B, H) state of a GRU.

    `inputs` is (B, 3H), the projected input for the update gate, the reset gate and the candidate.
    `state_gates` is (B, 2H), the projected state for both gates. `importance` is (B, H or 1), α,
    which scales the update gate.
    """
    H = weight_candidate.shape[0]
    input_gates, input_candidate = graph.split(inputs, 2 * H, H)
    gates = graph.op("Sigmoid", graph.op("Add", input_gates, state_gates))
    update, reset = graph.split(gates, H, H)
    projected = graph.linear(graph.op("Mul", reset, state), weight_candidate, bound=bound)
    candidate = graph.op("Tanh", graph.op("Add", input_candidate, projected))
    if importance is not None:
        update = graph.op("Mul", importance, update)
    change = graph.op("Mul", update, graph.op("Sub", candidate, state))
    return graph.op("Add", state, change)


def run_directions(
    graph: GraphBuilder,
    sentences: SentenceLayout,
    directions: Sequence[RnnDirection],
    hidden_size: int,
) -> tuple[str, str]:
    """Run a recurrent layer from left to right and, if it has two directions, from right to left.

    The inputs of both directions are in text order. `hidden_size` is the width of the states of one
    direction.

    Returns:
        (L, B, H) states in text order, and the (B, H) last state of each sentence. The states of
        two directions are concatenated.
    """
    states, last = [], []
    for index, (run, inputs) in enumerate(directions):
        is_backward = index == 1
        if is_backward:
            inputs = [sentences.reverse(graph, values) for values in inputs]
        outputs = run(*inputs)
        last.append(sentences.last_states(graph, outputs, hidden_size))
        states.append(sentences.reverse(graph, outputs) if is_backward else outputs)
    if len(states) == 1:
        return states[0], last[0]
    return graph.op("Concat", *states, axis=2), graph.op("Concat", *last, axis=1)


def _zeros(graph: GraphBuilder, inputs: str, width: int) -> str:
    """Return the (B, width) initial state, zeros, for (L, B, ...) inputs."""
    return graph.op("ConstantOfShape", graph.concat_sizes(graph.size(inputs, 1), width))


@dataclass(frozen=True)
class LinearInput:
    """Part of the input of a linear layer; the whole input is the concatenation of all parts.

    Args:
        rows: (R, width) rows; in an encoder, (L * B, width) with one row per word, or (B, width)
            with one row per sentence.
        width: number of columns.
        bound: largest absolute value, or None if unknown.
        per_sentence: whether there is one row per sentence, used for all of its words.
    """

    rows: str
    width: int
    bound: float | None
    per_sentence: bool = False


def apply_linear(
    graph: GraphBuilder,
    inputs: Sequence[LinearInput],
    weight: Array,
    bias: Array | None,
    *,
    sentences: SentenceLayout | None = None,
    is_float32: bool = False,
) -> str:
    """Apply a linear layer with an (I, O) weight to the concatenation of inputs.

    The inputs are not concatenated: each is multiplied by its rows of the weight, so that each
    input is quantized to int8 with a separate scale. The result is (R, O), or (L, B, O) with
    `sentences`. With `is_float32`, the products are computed in float32 even in an int8 graph.
    """
    ends = np.cumsum([part.width for part in inputs])
    total = ""
    for part, weight_rows in zip(inputs, np.split(weight, ends[:-1]), strict=True):
        if is_float32:
            product = graph.linear_float32(part.rows, weight_rows, bias)
        else:
            product = graph.linear(part.rows, weight_rows, bias, bound=part.bound)
        bias = None  # is added only once
        if sentences is not None and not part.per_sentence:
            sizes = (sentences.max_length, sentences.num_sentences, weight.shape[1])
            product = graph.reshape(product, *sizes)
        total = graph.op("Add", total, product) if total else product
    return total
