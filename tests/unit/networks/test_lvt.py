"""Properties of networks with a shortlist (large-vocabulary trick) or a GRU decoder."""

import numpy as np
import pytest
import torch

from readagain.networks.step_model import TorchStepModel
from readagain.search.beam import beam_search
from readagain.search.constraints import LengthConstraint
from readagain.search.model import SourceBatch
from readagain.text.vocab import BOS, UNK

# A shortlist has 10 of V = 12 words. The first text contains word 11, which is on its shortlist
# although it is rare.
SHORTLIST = {"model.shortlist_size": 10, "data.max_source_words": 5, "model.shortlist_sources": 1}
VARIANTS = {
    "shortlist": {**SHORTLIST, "model.output": "softmax"},
    "shortlist and copying": {**SHORTLIST, "model.output": "copy"},
    "gru decoder": {"model.output": "softmax", "model.decoder.cell": "gru"},
}


@pytest.fixture(params=VARIANTS)
def settings(request):
    return VARIANTS[request.param]


@pytest.fixture
def batch(make_batch):
    batch = make_batch()
    batch.source_ext_ids[0, 0] = 11
    batch.target_ids[0, 1] = 11
    batch.previous_ids[0, 2] = 11
    return batch


def test_padding_does_not_change_scores(build, batch, settings):
    model = build(settings)
    pad = torch.nn.functional.pad
    longer = (
        pad(batch.source_ids, (0, 3)),
        batch.source_lengths,
        pad(batch.source_ext_ids, (0, 3)),
    )
    torch.testing.assert_close(
        model(*batch.arguments()),
        model(*longer, batch.previous_ids, batch.target_ids),
        atol=1e-12,
        rtol=0,
    )


def test_batch_scores_equal_single_scores(build, batch, settings):
    model = build(settings)
    single = torch.cat([model(*batch.row(b).arguments()) for b in range(3)])
    torch.testing.assert_close(model(*batch.arguments()), single, atol=1e-12, rtol=0)


def score_step_by_step(model, batch):
    """Return the log-probabilities of the targets, computed by `start` and `step`."""
    state = model.start(*batch.source())
    V = model.previous_words.vocab_size
    scores = []
    for previous, target in zip(batch.previous_ids.T, batch.target_ids.T, strict=True):
        logits, state = model.step(state, previous)
        memory, num_columns = state.memory, logits.vocab.size(1)
        joint_logits = logits.vocab
        if logits.copy is not None:
            copy_logits = logits.copy.masked_fill(~memory.valid, -torch.inf)
            joint_logits = torch.cat([joint_logits, copy_logits], dim=1)
        probs = joint_logits.softmax(dim=1)
        generated, copied = probs[:, :num_columns], probs[:, num_columns:]
        is_known = target < V
        columns = target if memory.shortlists is None else find_columns(target, memory)
        columns = torch.where(is_known, columns, UNK)
        target_prob = generated.gather(1, columns.unsqueeze(1)).squeeze(1)
        if logits.copy is not None:
            is_target = memory.ext_ids == target.unsqueeze(1)
            target_prob = target_prob * is_known + (copied * is_target).sum(dim=1)
        scores.append(target_prob.log())
    return torch.stack(scores, dim=1)


def find_columns(target, memory):
    """Return the column of each target on the shortlist; UNK for targets that are not on it."""
    columns = torch.arange(memory.shortlists.on_shortlist.size(1)).expand(len(target), -1)
    words = memory.shortlists.to_ext_ids(columns, memory.ext_ids)
    is_target = (words == target.unsqueeze(1)) & memory.shortlists.on_shortlist
    assert int(is_target.sum(dim=1).max()) <= 1
    return torch.where(is_target.any(dim=1), is_target.int().argmax(dim=1), UNK)


def test_steps_match_teacher_forcing(build, batch, settings):
    model = build(settings)
    torch.testing.assert_close(
        score_step_by_step(model, batch), model(*batch.arguments()), atol=1e-12, rtol=0
    )


def source_batch(batch, rows=slice(None)):
    return SourceBatch(
        source_ids=batch.source_ids[rows].numpy(),
        lengths=batch.source_lengths[rows].numpy(),
        source_ext_ids=batch.source_ext_ids[rows].numpy(),
    )


def test_beam_search_does_not_depend_on_batch(build, batch, settings):
    model = TorchStepModel(build(settings))
    options = {"beam_size": 3, "length": LengthConstraint(maximum=5), "n_best": 3}
    together = beam_search(model, source_batch(batch), **options)
    for b in range(3):
        (alone,) = beam_search(model, source_batch(batch, slice(b, b + 1)), **options)
        for hypothesis, expected in zip(alone, together[b], strict=True):
            assert hypothesis.ids.tolist() == expected.ids.tolist()
            np.testing.assert_allclose(hypothesis.score, expected.score, atol=1e-12)


def test_candidates_are_on_the_shortlist(build, batch):
    model = TorchStepModel(build(VARIANTS["shortlist"]))
    candidates, _ = model.step(model.start(source_batch(batch)), np.full(3, BOS), k=20)
    for row, source_ids in enumerate(batch.source_ext_ids.tolist()):
        ids = candidates.ids[row][np.isfinite(candidates.log_probs[row])].tolist()
        assert sorted(ids) == sorted(expected_shortlist(source_ids))


def expected_shortlist(source_ids):
    """Return six words, without special tokens: those of the source, then the smallest ids."""
    words = {word for word in source_ids if 4 <= word < 12}
    for word in range(4, 12):
        if len(words) < 6:
            words.add(word)
    return words


def test_words_off_the_shortlist_have_no_gradient(build, batch):
    model = build({**SHORTLIST, "model.output": "softmax"})
    (-model(*batch.row(2).arguments())).mean().backward()
    source_ids = set(batch.source_ext_ids[2].tolist())
    with_gradient = set(model.output.project.weight.grad.any(dim=1).nonzero().flatten().tolist())
    assert with_gradient == {0, 1, 2, 3} | expected_shortlist(source_ids)


def test_forward_does_not_synchronize_device(build, batch, settings, monkeypatch):
    """Reading a value from the GPU makes the CPU wait, and a CUDA graph cannot contain it."""

    def fail(tensor, *arguments):
        raise AssertionError("a value was read from the device")

    model = build(settings).train()
    for method in ("item", "tolist", "nonzero", "__bool__", "__int__", "__float__", "__index__"):
        monkeypatch.setattr(torch.Tensor, method, fail)
    model(*batch.arguments()).sum().backward()
