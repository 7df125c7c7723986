"""What the second reading makes of words: mean weights by word class, and of sample sentences."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch

from readagain.config.schema import HierarchicalSpec, ModelSpec, ReadAgainSpec
from readagain.engine.movement import state_movement
from readagain.engine.source import SourceReader, SourceText
from readagain.engine.speed import SENTENCES
from readagain.evaluation.dataset import DataSet
from readagain.experiments.torch_system import TrainedRow
from readagain.experiments.word_classes import CLASSES, OPEN_PARTS, word_class
from readagain.networks.model import EncoderDecoder
from readagain.search.model import Floats
from readagain.text.tagging import part_of_speech

MAX_TEXTS = 2_000  # of a dev set; more would move no digit
_BATCH = 64
_RESAMPLES = 1000
_SAMPLES = SENTENCES[::9]  # invented, so that a figure of them can be published


@dataclass(frozen=True)
class Weighed:
    """A text and the importance of each word that was read of it: α, or how far the state moves."""

    forms: list[str]
    weights: Floats


def measure_importance(row: TrainedRow, data: DataSet) -> dict[str, Any] | None:
    """Measure weights by word class on a data set; None for a network that reads once."""
    spec = row.folder.run.model
    if not isinstance(spec, ModelSpec):
        return None
    encoder = spec.encoder
    if not isinstance(encoder, ReadAgainSpec | HierarchicalSpec):
        return None
    texts = [text.text for text in data.rows[:MAX_TEXTS]]
    weighed = list(_weigh(row, texts, is_tokenized=data.is_tokenized))
    samples = _weigh(row, _SAMPLES, is_tokenized=False)
    kinds = [[word_class(form) for form in text.forms] for text in weighed]
    parts = [[part_of_speech(form) for form in text.forms] for text in weighed]
    function = [[kind == "function" for kind in each] for each in kinds]
    return {
        "kind": "weight" if encoder.cell == "gru" else "movement",
        "texts": len(weighed),
        "classes": _means(weighed, kinds, CLASSES),
        "parts": _means(weighed, parts, OPEN_PARTS),
        "content_over_function": _difference(weighed, kinds, "content", function),
        "noun_over_function": _difference(weighed, parts, "noun", function),
        "verb_over_function": _difference(weighed, parts, "verb", function),
        "samples": [
            {"words": each.forms, "weights": np.round(each.weights, 4).tolist()} for each in samples
        ],
    }


def _means(
    weighed: Sequence[Weighed], labels: Sequence[Sequence[str]], names: Sequence[str]
) -> dict[str, dict[str, float]]:
    """Average the weights of all words under each label."""
    weights = np.concatenate([text.weights for text in weighed])
    joined = np.array([label for each in labels for label in each])
    found = {name: weights[joined == name] for name in names}
    return {
        name: {"words": len(each), "mean": float(each.mean()) if len(each) else 0.0}
        for name, each in found.items()
    }


def _difference(
    weighed: Sequence[Weighed],
    labels: Sequence[Sequence[str]],
    name: str,
    function: Sequence[Sequence[bool]],
) -> dict[str, float]:
    """Compare some words with function words within each text; interval by resampling texts."""
    differences = []
    for text, label, is_function in zip(weighed, labels, function, strict=True):
        some, others = text.weights[np.array(label) == name], text.weights[np.array(is_function)]
        if len(some) and len(others):
            differences.append(float(some.mean() - others.mean()))
    values = np.array(differences)
    if not len(values):
        return {"texts": 0, "mean": 0.0, "low": 0.0, "high": 0.0, "positive_share": 0.0}
    draws = np.random.default_rng(0).integers(len(values), size=(_RESAMPLES, len(values)))
    low, high = np.percentile(values[draws].mean(axis=1), [2.5, 97.5])
    return {
        "texts": len(values),
        "mean": float(values.mean()),
        "low": float(low),
        "high": float(high),
        "positive_share": float((values > 0).mean()),
    }


@torch.inference_mode()
def _weigh(row: TrainedRow, texts: Sequence[str], *, is_tokenized: bool) -> Iterator[Weighed]:
    """Read texts, and yield the importance of their words without padding."""
    folder = row.folder
    reader = SourceReader(folder.run, folder.source_vocab, folder.vocab)
    sources = [reader.read(text, tokenized=is_tokenized) for text in texts]
    readable = [source for source in sources if not source.is_empty]
    for at in range(0, len(readable), _BATCH):
        yield from _weigh_batch(row, reader, readable[at : at + _BATCH])


def _weigh_batch(
    row: TrainedRow, reader: SourceReader, sources: Sequence[SourceText]
) -> Iterator[Weighed]:
    batch = reader.batch(sources)
    device = row.device
    network, spec = row.network, row.folder.run.model
    assert isinstance(network, EncoderDecoder)
    assert isinstance(spec, ModelSpec)
    memory, _ = network.read(
        torch.as_tensor(batch.source_ids, device=device),
        torch.as_tensor(batch.lengths, device=device),
        torch.as_tensor(batch.source_ext_ids, device=device),
    )
    valid = batch.source_valid  # (B, S)
    if memory.importance is not None:
        weights: Floats = memory.importance.mean(-1).float().cpu().numpy()  # (B, S)
    else:
        B, N, L = batch.source_ids.shape
        weights = state_movement(
            memory.states.float().cpu().numpy().reshape(B, N, L, -1),
            valid.reshape(B, N, L),
            num_directions=1 + spec.encoder.bidirectional,
        ).reshape(B, -1)
    for place, source in enumerate(sources):
        forms = [word.form for word in source.read_words]
        yield Weighed(forms, weights[place, valid[place]])
