"""Decoding and gradients of networks with a shortlist (large-vocabulary trick)."""

import numpy as np

from readagain.networks.step_model import TorchStepModel
from readagain.search.beam import beam_search
from readagain.search.constraints import LengthConstraint
from readagain.text.vocab import BOS


def test_beam_search_does_not_depend_on_batch(build, make_batch, shortlist_or_gru_settings):
    model, batch = TorchStepModel(build(shortlist_or_gru_settings)), make_batch()
    options = {"beam_size": 3, "length": LengthConstraint(maximum=5), "n_best": 3}
    together = beam_search(model, batch.source_batch(), **options)
    for b in range(3):
        (single,) = beam_search(model, batch.row(b).source_batch(), **options)
        for hypothesis, expected in zip(single, together[b], strict=True):
            assert hypothesis.ids.tolist() == expected.ids.tolist()
            np.testing.assert_allclose(hypothesis.score, expected.score, atol=1e-12)


def test_candidates_are_on_the_shortlist(build, make_batch, shortlist_settings):
    model, batch = TorchStepModel(build(shortlist_settings)), make_batch()
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


def test_words_off_the_shortlist_have_no_gradient(build, make_batch, shortlist_settings):
    model, batch = build(shortlist_settings), make_batch()
    (-model(*batch.row(2).arguments())).mean().backward()
    source_ids = set(batch.source_ext_ids[2].tolist())
    with_gradient = set(model.output.project.weight.grad.any(dim=1).nonzero().flatten().tolist())
    assert with_gradient == {0, 1, 2, 3} | expected_shortlist(source_ids)
