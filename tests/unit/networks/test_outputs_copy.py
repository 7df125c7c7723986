import pytest
import torch
from copy_reference import copy_log_probs
from hypothesis import given, settings
from hypothesis import strategies as st
from torch.autograd import gradcheck

from readagain.networks.masks import valid_positions
from readagain.networks.outputs import copy_target_log_probs

V = 4


def uniform_probs(ext_ids, length):
    """Return the probabilities of all extended ids if all logits are equal."""
    S = len(ext_ids)
    valid = valid_positions(torch.tensor([length]), S)
    return copy_log_probs(
        torch.zeros(1, V), torch.zeros(1, S), valid, torch.tensor([ext_ids])
    ).exp()[0]


def test_copy_probabilities_of_repeated_word_are_summed():
    probs = uniform_probs([V, V], length=2)  # the softmax has 4 words and 2 positions
    torch.testing.assert_close(probs[V], torch.tensor(2 / 6))


def test_generating_and_copying_are_summed():
    probs = uniform_probs([1, V + 1], length=2)
    torch.testing.assert_close(probs[1], torch.tensor(2 / 6))


def test_padding_does_not_change_scores():
    unpadded = uniform_probs([1, V + 1], length=2)
    padded = uniform_probs([1, V + 1, 0, 0], length=2)
    torch.testing.assert_close(unpadded, padded[: V + 2])
    assert padded[V + 2 :].tolist() == [0.0, 0.0]


@st.composite
def batches(draw):
    """Return vocabulary and copy logits, the mask and the extended ids of one random source."""
    S, T = draw(st.integers(1, 6)), draw(st.integers(1, 3))
    ids = draw(st.lists(st.integers(0, V), min_size=S, max_size=S))
    ext_ids = torch.tensor([[V + i if word == V else word for i, word in enumerate(ids)]])
    valid = valid_positions(torch.tensor([draw(st.integers(0, S))]), S)
    torch.manual_seed(draw(st.integers(0, 1000)))
    scale = draw(st.sampled_from([0.1, 1.0, 30.0]))
    return scale * torch.randn(1, T, V), scale * torch.randn(1, T, S), valid, ext_ids


@settings(deadline=None)
@given(batches())
def test_probabilities_sum_to_one(batch):
    vocab_logits, copy_logits, valid, ext_ids = batch
    probs = copy_log_probs(vocab_logits[:, 0], copy_logits[:, 0], valid, ext_ids).exp()
    assert probs.sum().item() == pytest.approx(1.0, abs=1e-5)


@settings(deadline=None)
@given(batches())
def test_target_log_probs_match_full_distribution(batch):
    vocab_logits, copy_logits, valid, ext_ids = batch
    T = vocab_logits.size(1)
    tiny = torch.finfo(torch.float32).tiny
    for word in range(V + ext_ids.size(1)):
        log_probs = copy_target_log_probs(*batch, torch.full((1, T), word))
        for t in range(T):
            full = copy_log_probs(vocab_logits[:, t], copy_logits[:, t], valid, ext_ids)
            expected = full[:, word].exp().clamp_min(tiny).log()
            torch.testing.assert_close(log_probs[:, t], expected, atol=1e-4, rtol=1e-5)


def test_unreachable_target_has_no_gradient():
    vocab_logits = torch.zeros(1, 1, V, requires_grad=True)
    copy_logits = torch.zeros(1, 1, 2, requires_grad=True)
    ext_ids, valid = torch.tensor([[1, 2]]), torch.ones(1, 2, dtype=torch.bool)
    score = copy_target_log_probs(
        vocab_logits, copy_logits, valid, ext_ids, torch.tensor([[V + 1]])
    )
    score.sum().backward()
    assert torch.isfinite(score).all()
    assert score.item() < -80
    assert not vocab_logits.grad.any()
    assert not copy_logits.grad.any()


def test_empty_source_gives_plain_softmax():
    vocab_logits = torch.randn(1, 2, V)
    ext_ids, valid = torch.zeros(1, 3, dtype=torch.long), torch.zeros(1, 3, dtype=torch.bool)
    scores = copy_target_log_probs(
        vocab_logits, torch.randn(1, 2, 3), valid, ext_ids, torch.tensor([[0, 3]])
    )
    expected = vocab_logits.log_softmax(-1)
    torch.testing.assert_close(scores, torch.stack([expected[:, 0, 0], expected[:, 1, 3]], dim=1))


def test_bfloat16_logits_are_summed_in_float32():
    vocab_logits = torch.zeros(1, 1, 3000, dtype=torch.bfloat16)
    ext_ids, valid = torch.tensor([[3000, 3001]]), torch.ones(1, 2, dtype=torch.bool)
    score = copy_target_log_probs(
        vocab_logits,
        torch.zeros(1, 1, 2, dtype=torch.bfloat16),
        valid,
        ext_ids,
        torch.tensor([[7]]),
    )
    assert score.dtype == torch.float32
    assert score.exp().item() == pytest.approx(1 / 3002, rel=1e-5)


def test_label_smoothing_adds_mean_of_vocabulary():
    torch.manual_seed(1)
    vocab_logits, copy_logits = torch.randn(1, 1, V), torch.randn(1, 1, 2)
    ext_ids, valid = torch.tensor([[V, V + 1]]), torch.ones(1, 2, dtype=torch.bool)
    target_ids = torch.tensor([[V + 1]])
    full = copy_log_probs(vocab_logits[:, 0], copy_logits[:, 0], valid, ext_ids)[0]
    smoothed = copy_target_log_probs(
        vocab_logits, copy_logits, valid, ext_ids, target_ids, label_smoothing=0.1
    )
    assert smoothed.item() == pytest.approx((0.9 * full[V + 1] + 0.1 * full[:V].mean()).item())


def test_copy_softmax_gradient():
    torch.manual_seed(2)
    vocab_logits = torch.randn(2, 3, V, dtype=torch.float64, requires_grad=True)
    copy_logits = torch.randn(2, 3, 5, dtype=torch.float64, requires_grad=True)
    ext_ids = torch.tensor([[V, 1, V, V + 3, 2], [0, 1, V + 2, 0, 0]])
    valid = valid_positions(torch.tensor([5, 3]), 5)
    targets = torch.tensor([[V, 1, V + 3], [0, V + 2, 3]])
    for smoothing in (0.0, 0.1):
        assert gradcheck(
            lambda vocab, copy, smoothing=smoothing: copy_target_log_probs(
                vocab, copy, valid, ext_ids, targets, smoothing
            ),
            (vocab_logits, copy_logits),
        )
