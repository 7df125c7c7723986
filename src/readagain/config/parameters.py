"""Number of parameters of a network, computed from its spec without torch.

Letters are those of docs/symbols.md: E embedding, H hidden, A attention, V vocabulary. U is the
size of an encoder state.
"""

from typing import assert_never

from readagain.config.schema import (
    AbsSpec,
    HierarchicalSpec,
    ModelSpec,
    OnePassSpec,
    RasSpec,
    ReadAgainSpec,
    RunSpec,
)


def count_parameters(run: RunSpec) -> int:
    """Return the number of parameters of the network of `run`, without building it."""
    match run.model:
        case ModelSpec():
            return _count_encoder_decoder(run, run.model)
        case AbsSpec():
            return _count_abs(run, run.model)
        case RasSpec():
            return _count_ras(run, run.model)
        case _:
            assert_never(run.model)


def _count_encoder_decoder(run: RunSpec, model: ModelSpec) -> int:
    E, H, A = model.embedding_size, model.decoder.hidden_size, model.decoder.attention_size
    V = run.vocab_size
    U = model.encoder.hidden_size * (1 + model.encoder.bidirectional)
    num_sequences = run.data.num_sentences if isinstance(model.encoder, HierarchicalSpec) else 1
    embeddings = (run.source_vocab_size + V) * E
    num_gates, num_states = (4, 2) if model.decoder.cell == "lstm" else (3, 1)
    initial_state = 0
    if model.decoder.initial_state == "encoder":
        initial_state = _count_linear(num_sequences * U, num_states * H)
    attention = U * A + H * A + A
    gates = num_gates * (_count_linear(E, H) + H * U + H * H)
    output = _count_linear(H, V)
    copy = _count_linear(U, H) if model.output == "copy" else 0
    if model.output == "copy" and model.copied_words == "place":
        # "place": copied words are embedded by a projection of their encoder state.
        copy += _count_linear(U, E)
    encoder = _count_encoder(run, model)
    return embeddings + encoder + initial_state + attention + gates + output + copy


def _count_abs(run: RunSpec, model: AbsSpec) -> int:
    E, H, V = model.embedding_size, model.hidden_size, run.vocab_size
    window = model.context_words * E
    # Summary words have two embeddings: one for the attention, one for the language model.
    embeddings = run.source_vocab_size * H + 2 * V * E
    attention = window * H
    hidden = _count_linear(window, H)
    output = _count_linear(2 * H, V)
    return embeddings + attention + hidden + output


def _count_ras(run: RunSpec, model: RasSpec) -> int:
    E, H, V = model.embedding_size, model.hidden_size, run.vocab_size
    num_gates, num_states = (4, 2) if model.cell == "lstm" else (1, 1)
    gates_size = num_gates * H
    embeddings = (run.source_vocab_size + V + model.num_positions) * E
    convolution = model.window * E * H
    recurrence = _count_linear(E, gates_size) + gates_size * E + gates_size * H
    initial_state = num_states * H
    output = _count_linear(H + E, V)
    return embeddings + convolution + recurrence + initial_state + output


def _count_encoder(run: RunSpec, model: ModelSpec) -> int:
    spec = model.encoder
    E = model.embedding_size
    num_directions = 1 + spec.bidirectional
    U = spec.hidden_size * num_directions
    first_pass = num_directions * _count_rnn_layer(spec.cell, E, spec.hidden_size)
    combine = 0  # parameters of the layer that combines the sentence vectors
    match spec:  # `context_size` is the width of the sentence vectors that the second pass gets
        case OnePassSpec():
            return first_pass
        case ReadAgainSpec():
            context_size = U
        case HierarchicalSpec(combine="concat"):
            context_size = run.data.num_sentences * U
        case HierarchicalSpec():
            context_size = 2 * U
            combine = _count_linear(run.data.num_sentences * U, U)
        case _:
            assert_never(spec)
    if spec.cell == "lstm" or spec.importance == "none":
        input_size = E + U + context_size
        second_pass = num_directions * _count_rnn_layer(spec.cell, input_size, spec.hidden_size)
    else:
        num_weights = spec.hidden_size if spec.importance == "vector" else 1
        importance = num_weights * (U + context_size + E)
        second_pass = num_directions * (_count_rnn_layer("gru", E, spec.hidden_size) + importance)
    return first_pass + combine + second_pass


def _count_rnn_layer(cell: str, input_size: int, hidden_size: int) -> int:
    """Count one direction of a layer. The LSTM has two bias vectors, as in torch; the GRU one."""
    num_gates, num_biases = {"gru": (3, 1), "lstm": (4, 2)}[cell]
    return num_gates * hidden_size * (input_size + hidden_size + num_biases)


def _count_linear(input_size: int, output_size: int) -> int:
    return (input_size + 1) * output_size
