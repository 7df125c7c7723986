"""Explanations of summaries: attention weights, and importance of the source words."""

from typing import Protocol

import numpy as np

from readagain.config.schema import ModelSpec, NetworkSpec, OnePassSpec
from readagain.engine.source import SourceText
from readagain.engine.summary import Explanation, ImportanceKind
from readagain.search.hypotheses import Hypothesis
from readagain.search.model import Bools, Floats, SourceBatch

SourceImportance = tuple[Floats, ImportanceKind] | None
"""(B, S) importance of the source tokens, and its kind; None for models with one pass."""


class EncoderModel(Protocol):
    """Model whose encoder outputs can be read."""

    def importance(self, sources: SourceBatch) -> Floats | None:
        """Return the (B, S) importance weights, or None for a model without them."""
        ...

    def states(self, sources: SourceBatch) -> Floats:
        """Return the (B, S, U) encoder states."""
        ...


def source_importance(
    model: EncoderModel, spec: NetworkSpec, batch: SourceBatch
) -> SourceImportance:
    """Return the importance weights of a model, or its `state_movement` if it has no weights.

    Return None for a model with one pass.
    """
    if not isinstance(spec, ModelSpec) or isinstance(spec.encoder, OnePassSpec):
        return None
    weights = model.importance(batch)
    if weights is not None:
        return weights, "weight"
    B, N, L = batch.source_ids.shape
    movement = state_movement(
        model.states(batch).reshape(B, N, L, -1),
        batch.source_valid.reshape(B, N, L),
        num_directions=1 + spec.encoder.bidirectional,
    )
    return movement.reshape(B, -1), "movement"


def explain(
    importance: SourceImportance,
    batch: SourceBatch,
    row: int,
    source: SourceText,
    hypothesis: Hypothesis,
    num_tokens: int,
) -> Explanation:
    """Return the explanation of a hypothesis, without the padding of the batch.

    `row` is the index of the source in the batch. Only the first `num_tokens` tokens of the
    hypothesis are explained, since a byte limit may have removed the others from the summary.
    """
    L = batch.source_ids.shape[2]
    positions = [
        n * L + position
        for n, sequence in enumerate(source.sequences)
        for position in range(len(sequence))  # without the style token, which follows the words
    ]
    attention = hypothesis.attention.reshape(len(hypothesis.attention), -1)  # (steps, N * L)
    steps = [*range(num_tokens), -1]  # the last step is EOS
    values, kind = importance or (None, None)
    return Explanation(
        source_words=tuple(source.read_words),
        importance=None if values is None else values[row, positions],
        importance_kind=kind,
        attention=attention[steps][:, positions],
    )


def state_movement(states: Floats, valid: Bools, *, num_directions: int) -> Floats:
    """Return the distance between successive states, relative to the largest distance in the text.

    An LSTM has no importance weights α, so explanations use this distance instead. A word that does
    not change the state is like a word with α = 0 in the GRU.

    With the states h²_i of the second pass, the distance is m_i = |h²_i - h²_{i-1}|. The state
    before each sentence is zero. In a bidirectional encoder, the backward half of h²_i is compared
    with that of h²_{i+1}, and |.| is taken over both halves.

    Args:
        states: (B, N, L, U) states of the second pass; if bidirectional, the first half of U is
            the forward direction.
        valid: (B, N, L) True at real tokens.
        num_directions: 1, or 2 for a bidirectional encoder.

    Returns:
        (B, N, L) values from 0 to 1, 0 at padding.
    """
    states = np.where(valid[..., None], states, 0.0)
    differences = states.copy()  # (B, N, L, U)
    H = states.shape[-1] // num_directions
    differences[:, :, 1:, :H] -= states[:, :, :-1, :H]
    if num_directions == 2:
        differences[:, :, :-1, H:] -= states[:, :, 1:, H:]
    distances = np.where(valid, np.linalg.norm(differences, axis=-1), 0.0)  # (B, N, L)
    largest = distances.max(axis=(1, 2), keepdims=True, initial=0.0)  # (B, 1, 1)
    relative: Floats = distances / np.where(largest > 0, largest, 1.0)
    return relative
