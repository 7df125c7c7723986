"""Properties of all networks: every encoder with and without copying, shortlists, ABS and RAS."""

from dataclasses import replace

import pytest
import torch
from stepwise_scores import score_step_by_step

from readagain.networks.masks import valid_positions
from readagain.text.vocab import UNK


@pytest.fixture
def network(build, network_settings):
    return build(network_settings)


@pytest.fixture
def batch(make_batch, network_settings):
    return make_batch(num_sentences=network_settings.get("data.num_sentences", 1))


def assert_equal(scores, expected):
    """Assert that float64 scores are equal up to rounding."""
    torch.testing.assert_close(scores, expected, atol=1e-12, rtol=0)


@pytest.mark.parametrize("num_positions", [1, 2, 3])
def test_padding_does_not_change_scores(network, batch, num_positions):
    longer = batch.add_padding(num_positions)
    assert_equal(network(*longer.arguments()), network(*batch.arguments()))


def test_padding_ids_do_not_change_scores(network, batch):
    is_word = valid_positions(batch.source_lengths, batch.source_ids.size(2))
    changed = replace(batch, source_ids=torch.where(is_word, batch.source_ids, 7))
    assert_equal(network(*changed.arguments()), network(*batch.arguments()))


def test_batch_scores_equal_single_scores(network, batch):
    single = torch.cat([network(*batch.row(b).arguments()) for b in range(3)])
    assert_equal(network(*batch.arguments()), single)


def test_steps_match_teacher_forcing(network, batch):
    assert_equal(score_step_by_step(network, batch), network(*batch.arguments()))


def test_selected_rows_give_same_logits(network, network_settings, batch):
    state = network.start(*batch.source())
    for previous_ids in batch.previous_ids.T[:2]:
        _, state = network.step(state, previous_ids)
    previous_ids = batch.previous_ids[:, 2]
    logits, _ = network.step(state, previous_ids)
    rows = torch.tensor([2, 0, 0])
    selected, _ = network.step(state.select(rows), previous_ids[rows])
    assert_equal(selected.vocab, logits.vocab[rows])
    assert_equal(selected.attention, logits.attention[rows])
    if network_settings.get("model.output") == "copy":
        assert_equal(selected.copy, logits.copy[rows])
        assert torch.equal(state.select(rows).copy_logits, state.copy_logits[rows])
    else:
        assert logits.copy is None


def test_reordered_rows_keep_memory(network, batch):
    source = batch.row(0).source()
    state = network.start(*(value.repeat(3, *[1] * (value.dim() - 1)) for value in source))
    _, state = network.step(state, torch.tensor([4, 5, 6]))
    rows, previous_ids = torch.tensor([1, 0, 0]), torch.tensor([7, 8, 9])
    reordered = state.reorder(rows)
    assert reordered.memory is state.memory
    logits, _ = network.step(reordered, previous_ids)
    expected, _ = network.step(state.select(rows), previous_ids)
    assert_equal(logits.vocab, expected.vocab)


def test_network_without_copying_uses_unk_for_oov_words(
    build, make_batch, settings_without_copying
):
    network = build(settings_without_copying)
    batch = make_batch(num_sentences=settings_without_copying.get("data.num_sentences", 1))
    V = network.previous_words.vocab_size
    as_unk = replace(
        batch,
        previous_ids=batch.previous_ids.where(batch.previous_ids < V, UNK),
        target_ids=batch.target_ids.where(batch.target_ids < V, UNK),
    )
    assert torch.equal(network(*batch.arguments()), network(*as_unk.arguments()))
    assert torch.equal(score_step_by_step(network, batch), score_step_by_step(network, as_unk))


def test_dropout_is_off_in_evaluation(build, network_settings, batch):
    network = build(network_settings, **{"model.dropout": 0.5})
    assert torch.equal(network(*batch.arguments()), network(*batch.arguments()))
    network.train()
    assert not torch.equal(network(*batch.arguments()), network(*batch.arguments()))


def test_every_source_word_gets_a_gradient(network, batch):
    embeddings = []

    def keep_gradient(module, inputs, output):
        output.retain_grad()
        embeddings.append(output)

    network.source_embedding.register_forward_hook(keep_gradient)
    network(*batch.arguments())[:, 0].sum().backward()
    is_word = valid_positions(batch.source_lengths, batch.source_ids.size(2))
    has_gradient = embeddings[0].grad.abs().sum(dim=-1) > 0
    assert torch.equal(has_gradient.view_as(is_word), is_word)


def test_attention_weights_sum_to_one(network, batch):
    state = network.start(*batch.source())
    logits, _ = network.step(state, batch.previous_ids[:, 0])
    torch.testing.assert_close(logits.attention.sum(dim=1), torch.ones(3).double())
    assert not logits.attention[~state.memory.valid].any()


def test_forward_does_not_synchronize_device(network, batch, forbid_device_reads):
    network.train()
    forbid_device_reads()
    network(*batch.arguments()).sum().backward()
