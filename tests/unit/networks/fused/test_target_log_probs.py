"""Both fast losses against the plain outputs."""

import pytest
import torch

from readagain.networks.fused import target_log_probs as stepwise
from readagain.networks.fused.kernels import target_log_probs as kernels
from readagain.networks.outputs.copy_softmax import copy_target_log_probs
from readagain.networks.outputs.softmax import target_log_probs

V = 50
EXT_IDS = torch.tensor([[7, V + 1, V + 1, 3, 7], [V, 9, V, 9, 0]])
VALID = torch.tensor([[True] * 5, [True] * 4 + [False]])
# Known and in the source twice, copied only, known only, unreachable.
TARGETS = torch.tensor([[7, V + 1, 20, V + 4], [9, V, 0, 3]])


@pytest.fixture(
    params=[stepwise.TargetLogProbsFunction, kernels.TritonTargetLogProbs], ids=["torch", "triton"]
)
def scored(request):
    return request.param.apply


def logits(seed: int, size: int) -> torch.Tensor:
    draw = torch.Generator().manual_seed(seed)
    return (2 * torch.randn(2, 4, size, generator=draw)).requires_grad_()


def assert_same(found, expected, leaves) -> None:
    torch.testing.assert_close(found, expected, rtol=0, atol=1e-5)
    arriving = torch.tensor([[1.0, -2.0, 0.5, 3.0], [0.0, 1.0, 1.0, -1.0]])
    for mine, plain in zip(
        torch.autograd.grad(found, leaves, arriving),
        torch.autograd.grad(expected, leaves, arriving),
        strict=True,
    ):
        torch.testing.assert_close(mine, plain, rtol=0, atol=1e-5)


@pytest.mark.parametrize("label_smoothing", [0.0, 0.1])
def test_copying_and_generating_are_summed(scored, label_smoothing):
    vocab, copy = logits(1, V), logits(2, 5)
    found = scored(vocab, copy, VALID, EXT_IDS, TARGETS, label_smoothing)
    expected = copy_target_log_probs(vocab, copy, VALID, EXT_IDS, TARGETS, label_smoothing)
    assert_same(found, expected, [vocab, copy])


@pytest.mark.parametrize("label_smoothing", [0.0, 0.1])
def test_without_copying(scored, label_smoothing):
    vocab, targets = logits(1, V), TARGETS.clamp_max(V - 1)
    found = scored(vocab, None, VALID, EXT_IDS, targets, label_smoothing)
    assert_same(found, target_log_probs(vocab, targets, label_smoothing), [vocab])


@pytest.mark.parametrize("label_smoothing", [0.0, 0.1])
def test_the_gradient_is_the_derivative(label_smoothing):
    vocab, copy = logits(1, V).detach().double(), logits(2, 5).detach().double()
    reachable = TARGETS.where(TARGETS < V + 4, 3)
    given = (vocab.requires_grad_(), copy.requires_grad_(), VALID, EXT_IDS, reachable)
    assert torch.autograd.gradcheck(
        stepwise.TargetLogProbsFunction.apply, (*given, label_smoothing)
    )
