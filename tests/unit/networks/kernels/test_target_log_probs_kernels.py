"""The loss kernels give the results and gradients of the PyTorch functions."""

import pytest
import torch

from readagain.networks.kernels.target_log_probs import TritonTargetLogProbs
from readagain.networks.outputs import copy_target_log_probs, target_log_probs

V = 50
EXT_IDS = torch.tensor([[7, V + 1, V + 1, 3, 7], [V, 9, V, 9, 0]])
VALID = torch.tensor([[True] * 5, [True] * 4 + [False]])
# The targets of the first row: in the vocabulary and twice in the source; only in the source; only
# in the vocabulary; in neither.
TARGETS = torch.tensor([[7, V + 1, 20, V + 4], [9, V, 0, 3]])
kernel = TritonTargetLogProbs.apply


def random_logits(seed: int, size: int) -> torch.Tensor:
    generator = torch.Generator().manual_seed(seed)
    return (2 * torch.randn(2, 4, size, generator=generator)).requires_grad_()


def assert_same(log_probs, expected, leaves) -> None:
    """Assert that log-probabilities and their gradients are equal."""
    torch.testing.assert_close(log_probs, expected, rtol=0, atol=1e-5)
    d_log_probs = torch.tensor([[1.0, -2.0, 0.5, 3.0], [0.0, 1.0, 1.0, -1.0]])
    gradients = torch.autograd.grad(log_probs, leaves, d_log_probs)
    expected_gradients = torch.autograd.grad(expected, leaves, d_log_probs)
    torch.testing.assert_close(gradients, expected_gradients, rtol=0, atol=1e-5)


@pytest.mark.parametrize("label_smoothing", [0.0, 0.1])
def test_loss_kernel_matches_copy_softmax(label_smoothing):
    vocab, copy = random_logits(1, V), random_logits(2, 5)
    log_probs = kernel(vocab, copy, VALID, EXT_IDS, TARGETS, label_smoothing)
    expected = copy_target_log_probs(vocab, copy, VALID, EXT_IDS, TARGETS, label_smoothing)
    assert_same(log_probs, expected, [vocab, copy])


@pytest.mark.parametrize("label_smoothing", [0.0, 0.1])
def test_loss_kernel_matches_softmax(label_smoothing):
    vocab, targets = random_logits(1, V), TARGETS.clamp_max(V - 1)
    log_probs = kernel(vocab, None, VALID, EXT_IDS, targets, label_smoothing)
    assert_same(log_probs, target_log_probs(vocab, targets, label_smoothing), [vocab])
