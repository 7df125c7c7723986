"""Properties of networks with a shortlist (large-vocabulary trick) or a GRU decoder."""

import numpy as np
import pytest
import torch
from stepwise_scores import score_step_by_step

from readagain.networks.step_model import TorchStepModel
from readagain.search.beam import beam_search
from readagain.search.constraints import LengthConstraint
from readagain.text.vocab import BOS

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
    longer = batch.add_padding(3)
    torch.testing.assert_close(
        model(*longer.arguments()), model(*batch.arguments()), atol=1e-12, rtol=0
    )


def test_batch_scores_equal_single_scores(build, batch, settings):
    model = build(settings)
    single = torch.cat([model(*batch.row(b).arguments()) for b in range(3)])
    torch.testing.assert_close(model(*batch.arguments()), single, atol=1e-12, rtol=0)


def test_steps_match_teacher_forcing(build, batch, settings):
    model = build(settings)
    torch.testing.assert_close(
        score_step_by_step(model, batch), model(*batch.arguments()), atol=1e-12, rtol=0
    )


def test_beam_search_does_not_depend_on_batch(build, batch, settings):
    model = TorchStepModel(build(settings))
    options = {"beam_size": 3, "length": LengthConstraint(maximum=5), "n_best": 3}
    together = beam_search(model, batch.source_batch(), **options)
    for b in range(3):
        (single,) = beam_search(model, batch.row(b).source_batch(), **options)
        for hypothesis, expected in zip(single, together[b], strict=True):
            assert hypothesis.ids.tolist() == expected.ids.tolist()
            np.testing.assert_allclose(hypothesis.score, expected.score, atol=1e-12)


def test_candidates_are_on_the_shortlist(build, batch):
    model = TorchStepModel(build(VARIANTS["shortlist"]))
    candidates, _ = model.step(model.start(batch.source_batch()), np.full(3, BOS), k=20)
    for row, source_ids in enumerate(batch.source_ext_ids.tolist()):
        ids = candidates.ids[row][np.isfinite(candidates.log_probs[row])].tolist()
        assert len(ids) == 6
        assert set(ids) == expected_shortlist(source_ids)


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


def test_forward_does_not_synchronize_device(build, batch, settings, forbid_device_reads):
    model = build(settings).train()
    forbid_device_reads()
    model(*batch.arguments()).sum().backward()
