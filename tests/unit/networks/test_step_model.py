"""`TorchStepModel` of a small network."""

import numpy as np
import pytest
import torch
from copy_reference import copy_log_probs

from readagain.networks.step_model import TorchStepModel
from readagain.search.model import StepModel
from readagain.text.vocab import BOS, EOS


@pytest.fixture
def sources(make_batch):
    return make_batch().source_batch()


@pytest.fixture
def step_model(build):
    model: StepModel = TorchStepModel(build())
    return model


def test_candidates_are_the_network_top_words(build, make_batch, sources):
    network, batch = build(), make_batch()
    model = TorchStepModel(network)
    candidates, _ = model.step(model.start(sources), np.full(3, BOS), k=4)
    logits, state = network.step(network.start(*batch.source()), torch.full((3,), BOS))
    log_probs = copy_log_probs(
        logits.vocab, logits.copy, state.memory.valid, state.memory.ext_ids
    ).detach()
    np.testing.assert_allclose(candidates.end_log_probs, log_probs[:, EOS])
    expected, ids = log_probs[:, 4:].topk(4)
    np.testing.assert_allclose(candidates.log_probs, expected)
    np.testing.assert_array_equal(candidates.ids, ids + 4)
    np.testing.assert_allclose(candidates.attention, logits.attention.detach(), atol=1e-6)
    assert candidates.attention[1, 3:].tolist() == [0.0, 0.0]  # padding of the second text


def test_step_does_not_change_its_state(step_model, sources):
    state = step_model.start(sources)
    first, _ = step_model.step(state, np.full(3, BOS), k=3)
    again, _ = step_model.step(state, np.full(3, BOS), k=3)
    np.testing.assert_array_equal(first.log_probs, again.log_probs)


@pytest.mark.parametrize("rows", [[0, 0, 1, 1, 2, 2], [2, 0], [1]])
def test_select_repeats_and_drops_rows(step_model, sources, rows):
    _, state = step_model.step(step_model.start(sources), np.full(3, BOS), k=3)
    previous = np.array([4, 5, 6])
    candidates, _ = step_model.step(state, previous, k=3)
    selected, _ = step_model.step(step_model.select(state, np.array(rows)), previous[rows], k=3)
    np.testing.assert_allclose(selected.log_probs, candidates.log_probs[rows])
    np.testing.assert_allclose(selected.attention, candidates.attention[rows])


def test_select_reorders_hypotheses_of_a_document(step_model, sources):
    doubled = step_model.select(step_model.start(sources), np.array([0, 0, 1, 1, 2, 2]))
    _, state = step_model.step(doubled, np.array([4, 5, 6, 7, 8, 9]), k=3)
    previous = np.array([5, 6, 7, 8, 9, 10])
    candidates, _ = step_model.step(state, previous, k=3)
    order = np.array([1, 0, 3, 3, 4, 5])
    reordered = step_model.select(state, order)
    assert reordered.network_state.memory is state.network_state.memory  # not copied
    np.testing.assert_array_equal(
        reordered.network_state.copy_logits,
        state.network_state.copy_logits[torch.from_numpy(order)],
    )
    selected, _ = step_model.step(reordered, previous[order], k=3)
    np.testing.assert_allclose(selected.log_probs, candidates.log_probs[order])


def test_candidates_do_not_depend_on_batch(step_model, make_batch):
    batch = make_batch()
    together, _ = step_model.step(step_model.start(batch.source_batch()), np.full(3, BOS), k=3)
    for b in range(3):
        source = batch.row(b).source_batch()
        candidates, _ = step_model.step(step_model.start(source), np.full(1, BOS), k=3)
        np.testing.assert_allclose(candidates.log_probs[0], together.log_probs[b])
