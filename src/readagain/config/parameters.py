"""How many parameters a run's network has, told from the spec alone."""

from typing import assert_never

from readagain.config.schema import HierarchicalSpec, OnePassSpec, ReadAgainSpec, RunSpec


def count_parameters(run: RunSpec) -> int:
    """Count the trainable numbers of the network that `run` describes, without building it."""
    model = run.model
    E, H, A = model.embedding_size, model.decoder.hidden_size, model.decoder.attention_size
    V = run.vocab_size
    D = model.encoder.hidden_size * (1 + model.encoder.bidirectional)
    num_last = run.data.num_sentences if isinstance(model.encoder, HierarchicalSpec) else 1
    embeddings = (run.source_vocab_size + V) * E
    start = _linear(num_last * D, 2 * H)
    attention = D * A + H * A + A
    gates = _linear(E, 4 * H) + 4 * H * D + 4 * H * H
    output = _linear(H, V)
    copying = _linear(D, E) + _linear(D, H) if model.output == "copy" else 0
    return embeddings + _encoder(run) + start + attention + gates + output + copying


def _encoder(run: RunSpec) -> int:
    spec, E = run.model.encoder, run.model.embedding_size
    directions = 1 + spec.bidirectional
    D = spec.hidden_size * directions
    first = directions * _reading(spec.cell, E, spec.hidden_size)
    match spec:
        case OnePassSpec():
            return first
        case ReadAgainSpec():
            combining, context = 0, D
        case HierarchicalSpec(combine="concat"):
            combining, context = 0, run.data.num_sentences * D
        case HierarchicalSpec():
            combining, context = _linear(run.data.num_sentences * D, D), 2 * D
        case _:
            assert_never(spec)
    if spec.cell == "lstm":
        second = directions * _reading("lstm", E + D + context, spec.hidden_size)
    else:
        weights = spec.hidden_size if spec.importance == "vector" else 1
        importance = weights * (D + context + E)
        second = directions * (_reading("gru", E, spec.hidden_size) + importance)
    return first + combining + second


def _reading(cell: str, input_size: int, hidden_size: int) -> int:
    gates, biases = {"gru": (3, 1), "lstm": (4, 2)}[cell]
    return gates * hidden_size * (input_size + hidden_size + biases)


def _linear(input_size: int, output_size: int) -> int:
    return (input_size + 1) * output_size
