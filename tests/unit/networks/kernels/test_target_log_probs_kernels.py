"""The Triton kernels compute the same log-probabilities as the PyTorch functions."""

import pytest
import torch

from readagain.networks.kernels.target_log_probs import TritonTargetLogProbs
from readagain.networks.outputs import copy_target_log_probs, target_log_probs

V = 50
EXT_IDS = torch.tensor([[7, V + 1, V + 1, 3, 7], [V, 9, V, 9, 0]])
VALID = torch.tensor([[True] * 5, [True] * 4 + [False]])
# First row: in the vocabulary and twice in the source; only in the source; only in the vocabulary;
# in neither.
TARGETS = torch.tensor([[7, V + 1, 20, V + 4], [9, V, 0, 3]])


kernel = TritonTargetLogProbs.apply


def logits(seed: int, size: int) -> torch.Tensor:
    draw = torch.Generator().manual_seed(seed)
    return (2 * torch.randn(2, 4, size, generator=draw)).requires_grad_()


def assert_same(found, expected, leaves) -> None:
    torch.testing.assert_close(found, expected, rtol=0, atol=1e-5)
    gradient = torch.tensor([[1.0, -2.0, 0.5, 3.0], [0.0, 1.0, 1.0, -1.0]])
    for found_gradient, expected_gradient in zip(
        torch.autograd.grad(found, leaves, gradient),
        torch.autograd.grad(expected, leaves, gradient),
        strict=True,
    ):
        torch.testing.assert_close(found_gradient, expected_gradient, rtol=0, atol=1e-5)


@pytest.mark.parametrize("label_smoothing", [0.0, 0.1])
def test_loss_kernel_matches_copy_softmax(label_smoothing):
    vocab, copy = logits(1, V), logits(2, 5)
    found = kernel(vocab, copy, VALID, EXT_IDS, TARGETS, label_smoothing)
    expected = copy_target_log_probs(vocab, copy, VALID, EXT_IDS, TARGETS, label_smoothing)
    assert_same(found, expected, [vocab, copy])


@pytest.mark.parametrize("label_smoothing", [0.0, 0.1])
def test_loss_kernel_matches_softmax(label_smoothing):
    vocab, targets = logits(1, V), TARGETS.clamp_max(V - 1)
    found = kernel(vocab, None, VALID, EXT_IDS, targets, label_smoothing)
    assert_same(found, target_log_probs(vocab, targets, label_smoothing), [vocab])
