"""Properties of networks with a shortlist or a GRU decoder."""

import numpy as np
import pytest
import torch

from readagain.networks.step_model import TorchStepModel
from readagain.search.beam import beam_search
from readagain.search.constraints import LengthConstraint
from readagain.search.model import SourceBatch
from readagain.text.vocab import BOS, UNK

# A shortlist has 10 of V = 12 words. That of the first text contains word 11, a source word.
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
    alone = torch.cat([model(*batch.row(b).arguments()) for b in range(3)])
    torch.testing.assert_close(model(*batch.arguments()), alone, atol=1e-12, rtol=0)


def step_by_step(model, batch):
    """Return the log-probabilities of the targets, computed by `start` and `step`."""
    state = model.start(*batch.source())
    V = model.previous_words.vocab_size
    scores = []
    for previous, target in zip(batch.previous_ids.T, batch.target_ids.T, strict=True):
        logits, state = model.step(state, previous)
        memory, columns = state.memory, target
        num_words = logits.vocab.size(1)
        if memory.shortlist is not None:
            columns = column_of(target, memory)
        joint = logits.vocab
        if logits.copy is not None:
            joint = torch.cat([joint, logits.copy.masked_fill(~memory.valid, -torch.inf)], dim=1)
        probs = joint.softmax(dim=1)
        generated, copied = probs[:, :num_words], probs[:, num_words:]
        is_known = target < V
        columns = torch.where(is_known & (columns < num_words), columns, UNK)
        found = generated.gather(1, columns.unsqueeze(1)).squeeze(1)
        if model.copy_scores is not None:
            is_target = memory.ext_ids == target.unsqueeze(1)
            found = found * is_known + (copied * is_target).sum(dim=1)
        scores.append(found.log())
    return torch.stack(scores, dim=1)


def column_of(target, memory):
    """Return the column of each target, or of UNK if no column has it."""
    columns = torch.arange(memory.shortlist.on_shortlist.size(1)).expand(len(target), -1)
    words = memory.shortlist.to_ext_ids(columns, memory.ext_ids)
    found = (words == target.unsqueeze(1)) & memory.shortlist.on_shortlist
    assert int(found.sum(dim=1).max()) <= 1
    return torch.where(found.any(dim=1), found.int().argmax(dim=1), UNK)


def test_steps_match_teacher_forcing(build, batch, settings):
    model = build(settings)
    torch.testing.assert_close(
        step_by_step(model, batch), model(*batch.arguments()), atol=1e-12, rtol=0
    )


def sources_of(batch, rows=slice(None)):
    return SourceBatch(
        source_ids=batch.source_ids[rows].numpy(),
        lengths=batch.source_lengths[rows].numpy(),
        source_ext_ids=batch.source_ext_ids[rows].numpy(),
    )


def test_beam_search_does_not_depend_on_batch(build, batch, settings):
    model = TorchStepModel(build(settings))
    search = {"beam_size": 3, "length": LengthConstraint(maximum=5), "n_best": 3}
    together = beam_search(model, sources_of(batch), **search)
    for b in range(3):
        (alone,) = beam_search(model, sources_of(batch, slice(b, b + 1)), **search)
        assert [each.ids.tolist() for each in alone] == [each.ids.tolist() for each in together[b]]
        np.testing.assert_allclose(
            [each.score for each in alone], [each.score for each in together[b]], atol=1e-12
        )


def test_candidates_are_on_the_shortlist(build, batch):
    model = TorchStepModel(build(VARIANTS["shortlist"]))
    candidates, _ = model.step(model.start(sources_of(batch)), np.full(3, BOS), k=20)
    for row, source_ids in enumerate(batch.source_ext_ids.tolist()):
        found = candidates.ids[row][np.isfinite(candidates.log_probs[row])].tolist()
        assert set(found) == expected_shortlist(source_ids)
        assert len(found) == len(set(found)) == 6


def expected_shortlist(source_ids):
    """Return six words without the special tokens: those of the source, then the smallest ids."""
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
    """A read from the GPU makes the CPU wait, and a CUDA graph cannot contain it."""

    def fail(tensor, *arguments):
        raise AssertionError("a value was read from the device")

    model = build(settings).train()
    for name in ("item", "tolist", "nonzero", "__bool__", "__int__", "__float__", "__index__"):
        monkeypatch.setattr(torch.Tensor, name, fail)
    model(*batch.arguments()).sum().backward()
