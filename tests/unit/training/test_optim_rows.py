"""Sparse updates of embedding tables equal dense ones."""

from collections import defaultdict
from dataclasses import replace

import pytest
import torch

from readagain.config.override import override
from readagain.config.schema import TrainSpec
from readagain.networks.build import build_model
from readagain.networks.layers import WordEmbedding
from readagain.presets import PRESETS
from readagain.text.vocab import BOS, EOS
from readagain.training.batch import Batch
from readagain.training.optim import EmbeddingLookups, supports_row_updates
from readagain.training.step import TrainingStep

SGD = TrainSpec(learning_rate=0.5, schedule="constant", max_norm=100.0)
SIZES = {"vocab_size": 12, "source_vocab_size": 9}
NARROW = {
    "model.embedding_size": 4,
    "model.encoder.hidden_size": 4,
    "model.decoder.hidden_size": 4,
    "model.decoder.attention_size": 4,
    "model.dropout": 0.3,
}
RUNS = {
    "copying": override(PRESETS["tiny"], {**SIZES, **NARROW}),
    "shortlist": override(PRESETS["lvt2k_1sent"], {**SIZES, **NARROW}),
    "three tables": override(
        PRESETS["abs_69k"], {**SIZES, "model.embedding_size": 4, "model.hidden_size": 4}
    ),
}
# Words occur several times in a text and in several texts; the last row is padding.
BATCH = Batch(
    source_ids=torch.tensor([[[4, 5, 4, 1, 4]], [[6, 4, 1, 0, 0]], [[4, 0, 0, 0, 0]]]),
    source_lengths=torch.tensor([[5], [3], [1]]),
    source_ext_ids=torch.tensor([[4, 5, 4, 15, 4], [6, 4, 14, 0, 0], [4, 0, 0, 0, 0]]),
    previous_ids=torch.tensor([[BOS, 15, 4, 4], [BOS, 6, 14, 0], [BOS, 0, 0, 0]]),
    target_ids=torch.tensor([[15, 4, 4, EOS], [6, 14, EOS, 0], [EOS, 0, 0, 0]]),
    target_valid=torch.tensor([[True] * 4, [True, True, True, False], [False] * 4]),
)
OTHER_BATCH = replace(BATCH, source_ids=torch.where(BATCH.source_ids == 5, 7, BATCH.source_ids))


def build_step(run, spec):
    torch.manual_seed(3)
    return TrainingStep(build_model(run), spec, total_steps=10, steps_per_epoch=5)


def copy_weights(step):
    return {name: value.clone() for name, value in step.model.state_dict().items()}


@pytest.mark.parametrize("run", RUNS.values(), ids=RUNS)
@pytest.mark.parametrize("averaging", ["none", "ema"])
@pytest.mark.parametrize("max_norm", [0.01, 100.0], ids=["clipped", "not clipped"])
def test_row_updates_equal_table_updates(run, averaging, max_norm):
    spec = replace(SGD, max_norm=max_norm, averaging=averaging, ema_decay=0.5)
    by_rows, by_tables = build_step(run, spec), build_step(run, spec)
    modules = by_rows.model.modules()
    tables = [module for module in modules if isinstance(module, WordEmbedding)]
    assert len(by_rows.lookups) == len(tables) > 1
    by_tables.lookups = []
    initial = copy_weights(by_tables)
    for batch in (BATCH, OTHER_BATCH, BATCH, OTHER_BATCH):
        torch.testing.assert_close(by_rows.update(batch), by_tables.update(batch))
    torch.testing.assert_close(copy_weights(by_rows), copy_weights(by_tables), rtol=1e-5, atol=1e-7)
    with by_rows.averaged_weights(), by_tables.averaged_weights():
        torch.testing.assert_close(
            copy_weights(by_rows), copy_weights(by_tables), rtol=1e-5, atol=1e-7
        )
    has_changed = (
        copy_weights(by_rows)["source_embedding.weight"] != initial["source_embedding.weight"]
    )
    # UNK and the words 4 to 7; padding has no gradient.
    assert has_changed.any(1).nonzero().flatten().tolist() == [1, 4, 5, 6, 7]


def build_table(values):
    table = WordEmbedding(len(values), 1)
    with torch.no_grad():
        table.weight.copy_(torch.tensor(values).unsqueeze(1))
    return table


def values_by_row(ids, gradients):
    """Return the sorted values of all lookups of each row."""
    values = defaultdict(list)
    for row, value in zip(ids.tolist(), gradients.flatten().tolist(), strict=True):
        values[row].append(value)
    return {row: sorted(row_values) for row, row_values in values.items()}


def test_row_gradient_sums_lookups_of_a_row():
    table = build_table([1.0, 2.0, 3.0, 4.0])
    lookups = EmbeddingLookups(table)
    with lookups.record():
        vectors = table(torch.tensor([[2, 0], [2, 2]])).squeeze(2)
        second_vectors = table(torch.tensor([0]))
    (vectors * torch.tensor([[1.0, 10.0], [100.0, 1000.0]])).sum().backward()
    second_vectors.sum().backward()
    rows, gradients = lookups.gradient()
    assert rows.tolist() == [2, 0, 2, 2, 0]
    assert values_by_row(rows, gradients) == {2: [0.0, 0.0, 1101.0], 0: [0.0, 11.0]}
    assert table.weight.grad is None
    lookups.update(rows, gradients, torch.tensor(0.5))
    assert table.weight.flatten().tolist() == [1.0 - 5.5, 2.0, 3.0 - 550.5, 4.0]


def test_recording_clears_earlier_batches():
    table = build_table([0.0, 0.0, 0.0])
    lookups = EmbeddingLookups(table)
    for ids, values in (
        ([1, 2, 2], {1: [1.0], 2: [0.0, 2.0]}),
        ([2, 1], {2: [1.0], 1: [1.0]}),
    ):
        with lookups.record():
            vectors = table(torch.tensor(ids))
        vectors.sum().backward()
        rows, gradients = lookups.gradient()
        assert rows.tolist() == ids
        assert values_by_row(rows, gradients) == values


def test_table_without_recording_has_gradient():
    table = build_table([1.0, 2.0])
    lookups = EmbeddingLookups(table)
    with lookups.record(), torch.no_grad():
        assert not table(torch.tensor([1])).requires_grad
    table(torch.tensor([1, 1])).sum().backward()
    assert table.weight.grad.flatten().tolist() == [0.0, 2.0]


@pytest.mark.parametrize(
    ("spec", "world_size"),
    [
        (replace(SGD, optimizer="adamw"), 1),
        (replace(SGD, optimizer="adadelta"), 1),
        (replace(SGD, weight_decay=0.1), 1),
        (SGD, 2),
    ],
    ids=["moments", "running squares", "decay", "two processes"],
)
def test_row_updates_need_plain_sgd_on_one_process(spec, world_size):
    assert supports_row_updates(SGD, world_size=1)
    assert not supports_row_updates(spec, world_size=world_size)
    if world_size == 1:
        assert build_step(RUNS["copying"], spec).lookups == []
