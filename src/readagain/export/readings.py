"""Readings as graphs: the LSTM and the paper's GRU, word after word.

Time comes first here, (L, B, ...), since that is what Scan runs along. ONNX's own LSTM operator
was measured no faster than this Scan in float32; int8 and the importance of words need the Scan
(`docs/decisions/0070-graphs-by-hand.md`).
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from readagain.config.schema import EncoderSpec, OnePassSpec
from readagain.export.graph import Array, Graph
from readagain.export.products import Products
from readagain.export.weights import Weights

LSTM_BOUND = 1.0  # a state is a sigmoid times a tanh
GRU_BOUND = 1.0  # a state lies between the last one and a tanh, unless α is negative

Reading = tuple[Callable[..., str], Sequence[str]]
"""A function of (L, B, ...) inputs that returns (L, B, H) states, and these inputs."""


def states_bound(spec: EncoderSpec) -> float | None:
    """Return what no entry of an encoder's states can exceed, or None if nothing keeps it."""
    if spec.cell == "lstm":
        return LSTM_BOUND
    may_be_negative = not isinstance(spec, OnePassSpec) and spec.importance_activation == "tanh"
    return None if may_be_negative else GRU_BOUND


@dataclass(frozen=True)
class Sentences:
    """B sentences of up to L words in a graph: their sizes and lengths, as values.

    Args:
        length: (1,) L.
        count: (1,) B.
        lengths: (B,) words of each.
    """

    length: str
    count: str
    lengths: str

    def by_word(self, graph: Graph, rows: str, width: int) -> str:
        """Give (L * B, width) rows their two dimensions: (L, B, width)."""
        return graph.reshape(rows, self.length, self.count, width)

    def reverse(self, graph: Graph, values: str) -> str:
        """Turn the real words of each sentence around, (L, B, ...); padding stays behind."""
        return graph.add("ReverseSequence", values, self.lengths, time_axis=0, batch_axis=1)

    def last(self, graph: Graph, states: str, width: int) -> str:
        """Pick the state of each sentence's last word: (L, B, width) -> (B, width), else zeros."""
        last_word = graph.add("Max", graph.add("Sub", self.lengths, graph.ints(1)), graph.ints(0))
        column = graph.add(
            "Range",
            graph.constant(np.int64(0)),
            graph.add("Squeeze", self.count),
            graph.constant(np.int64(1)),
        )
        place = graph.add("Add", graph.add("Mul", last_word, self.count), column)  # (B,)
        picked = graph.add("Gather", graph.reshape(states, -1, width), place)
        is_there = graph.cast(graph.add("Greater", self.lengths, graph.ints(0)), np.float32)
        return graph.add("Mul", picked, graph.unsqueeze(is_there, 1))


def lstm_order(gates: Array) -> Array:
    """Reorder the last dimension from i, f, g, o to i, f, o, g: sigmoids side by side."""
    admit, keep, candidate, show = np.split(gates, 4, axis=-1)
    return np.concatenate([admit, keep, show, candidate], axis=-1)


def lstm_cell(graph: Graph, gates: str, cell: str, hidden_size: int) -> tuple[str, str]:
    """Take one LSTM step from (B, 4H) gates in `lstm_order`: the (B, H) state and cell."""
    H = hidden_size
    sigmoids, candidate = graph.split(gates, 3 * H, H)
    admit, keep, show = graph.split(graph.add("Sigmoid", sigmoids), H, H, H)
    admitted = graph.add("Mul", admit, graph.add("Tanh", candidate))
    cell = graph.add("Add", graph.add("Mul", keep, cell), admitted)
    return graph.add("Mul", show, graph.add("Tanh", cell)), cell


def read_lstm(graph: Graph, products: Products, gates: str, *, weight_hidden: Array) -> str:
    """Read (L, B, 4H) input gates with an LSTM: (L, B, H) states.

    Args:
        graph: where the operations go.
        products: how to multiply.
        gates: the words' part of the gates, biases included, in `lstm_order`.
        weight_hidden: (H, 4H) from the previous state to the gates, in `lstm_order`.
    """
    H = weight_hidden.shape[0]
    body = graph.body("lstm_step")
    hidden = body.input("hidden", np.float32, ["B", H])
    cell = body.input("cell", np.float32, ["B", H])
    word_gates = body.input("gates", np.float32, ["B", 4 * H])
    state_gates = products.multiply(body, hidden, weight_hidden, None, bound=LSTM_BOUND)
    hidden, cell = lstm_cell(body, body.add("Add", word_gates, state_gates), cell, H)
    for value in (hidden, cell, hidden):
        body.output(value, "next", np.float32, ["B", H])
    zeros = _zeros(graph, gates, H)
    return graph.scan(body, [zeros, zeros], [gates])[2]


def read_gru(
    graph: Graph,
    products: Products,
    inputs: str,
    importance: str | None = None,
    *,
    weights: Weights,
    bound: float | None,
) -> str:
    """Read (L, B, 3H) inputs with the paper's GRU: (L, B, H) states.

    Args:
        graph: where the operations go.
        products: how to multiply.
        inputs: the words' part of z, r and the candidate, biases included.
        importance: (L, B, H or 1) α of each word; None for a plain GRU.
        weights: `weight_gates` and `weight_candidate`.
        bound: what states cannot exceed; None where α may be negative, and they can.
    """
    weight_gates = weights.matrix("weight_gates")  # (H, 2H)
    weight_candidate = weights.matrix("weight_candidate")  # (H, H)
    H = weight_candidate.shape[0]
    body = graph.body("gru_step")
    state = body.input("state", np.float32, ["B", H])
    word = body.input("word", np.float32, ["B", 3 * H])
    word_gates, word_candidate = body.split(word, 2 * H, H)
    state_gates = products.multiply(body, state, weight_gates, None, bound=bound)
    update, candidate = gru_gates(
        body, products, state, (word_gates, word_candidate), state_gates, weight_candidate, bound
    )
    sequences = [inputs]
    if importance is not None:
        alpha = body.input("importance", np.float32, ["B", "W"])
        update = body.add("Mul", alpha, update)
        sequences.append(importance)
    state = gru_state(body, state, update, candidate)
    for value in (state, state):
        body.output(value, "next", np.float32, ["B", H])
    return graph.scan(body, [_zeros(graph, inputs, H)], sequences)[1]


def gru_gates(
    graph: Graph,
    products: Products,
    state: str,
    inputs: tuple[str, str],
    state_gates: str,
    weight_candidate: Array,
    bound: float | None,
) -> tuple[str, str]:
    """Return the (B, H) update gate and candidate of a GRU's step.

    Args:
        graph: where the operations go.
        products: how to multiply.
        state: (B, H) the last state.
        inputs: (B, 2H) and (B, H) the inputs' parts of the gates z and r, and of the candidate.
        state_gates: (B, 2H) the state's part of the gates.
        weight_candidate: (H, H) from the reset state to the candidate.
        bound: what states cannot exceed.
    """
    H = weight_candidate.shape[0]
    input_gates, input_candidate = inputs
    gates = graph.add("Sigmoid", graph.add("Add", input_gates, state_gates))
    update, reset = graph.split(gates, H, H)
    kept = graph.add("Mul", reset, state)
    kept = products.multiply(graph, kept, weight_candidate, None, bound=bound)
    return update, graph.add("Tanh", graph.add("Add", input_candidate, kept))


def gru_state(graph: Graph, state: str, update: str, candidate: str) -> str:
    """Move a state towards its candidate as far as the update gate says."""
    change = graph.add("Mul", update, graph.add("Sub", candidate, state))
    return graph.add("Add", state, change)


def read_directions(
    graph: Graph,
    sentences: Sentences,
    readings: Sequence[Reading],
    hidden_size: int,
) -> tuple[str, str]:
    """Read forwards with the first function, backwards with the second if there is one.

    Args:
        graph: where the operations go.
        sentences: what is read.
        readings: one for each direction, inputs in the order of the text.
        hidden_size: width of the states of one direction.

    Returns:
        (L, B, H) states in the order of the text and the (B, H) last ones; directions are joined.
    """
    states, last = [], []
    for is_backwards, (read, inputs) in enumerate(readings):
        if is_backwards:
            inputs = [sentences.reverse(graph, each) for each in inputs]
        result = read(*inputs)
        last.append(sentences.last(graph, result, hidden_size))
        states.append(sentences.reverse(graph, result) if is_backwards else result)
    if len(states) == 1:
        return states[0], last[0]
    return graph.add("Concat", *states, axis=2), graph.add("Concat", *last, axis=1)


def _zeros(graph: Graph, inputs: str, width: int) -> str:
    """Make the (B, width) state before the first word."""
    return graph.add("ConstantOfShape", graph.joined(graph.size(inputs, 1), width))
