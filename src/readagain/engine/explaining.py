"""What the model looked at: attention and importance, without the padding of their batch."""

from collections.abc import Sequence
from dataclasses import dataclass

from readagain.config.schema import ModelSpec, NetworkSpec, OnePassSpec
from readagain.engine.movement import state_movement
from readagain.engine.onnx_model import OnnxStepModel
from readagain.engine.source import SourceText
from readagain.engine.summary import Explanation, ImportanceKind, PrintedWord
from readagain.search.hypotheses import Hypothesis
from readagain.search.model import Floats, SourceBatch


@dataclass(frozen=True)
class SourceImportance:
    """What a model makes of the words of a batch, whatever it then writes.

    Args:
        batch: the sources.
        importance: (B, S) importance of each word; None for models that read once.
        kind: which importance that is.
    """

    batch: SourceBatch
    importance: Floats | None
    kind: ImportanceKind | None


def look_at(model: OnnxStepModel, spec: NetworkSpec, batch: SourceBatch) -> SourceImportance:
    """Ask a model for the importance of words: its weights, or else how far its state moves."""
    if not isinstance(spec, ModelSpec) or isinstance(spec.encoder, OnePassSpec):
        return SourceImportance(batch, None, None)
    weights = model.importance(batch)
    if weights is not None:
        return SourceImportance(batch, weights, "weight")
    valid = batch.source_valid  # (B, S)
    B, N, L = batch.source_ids.shape
    movement = state_movement(
        model.states(batch).reshape(B, N, L, -1),
        valid.reshape(B, N, L),
        num_directions=1 + spec.encoder.bidirectional,
    )
    return SourceImportance(batch, movement.reshape(B, -1), "movement")


def explain(
    looks: SourceImportance,
    row: int,
    source: SourceText,
    hypothesis: Hypothesis,
    printed: Sequence[PrintedWord],
) -> Explanation:
    """Explain one summary of the source in a row of the batch."""
    assert hypothesis.attention is not None
    valid = looks.batch.source_valid[row]  # (S,)
    attention = hypothesis.attention.reshape(len(hypothesis.attention), -1)
    written = [*range(len(printed)), -1]  # T words, the others fell to a limit, and the end
    return Explanation(
        source_words=tuple(source.read_words),
        importance=None if looks.importance is None else looks.importance[row, valid],
        importance_kind=looks.kind,
        attention=attention[written][:, valid],
        printed=tuple(printed),
    )
