import pytest
import torch

from readagain.networks.outputs import target_log_probs


def test_target_log_probs_match_log_softmax():
    torch.manual_seed(0)
    logits, targets = torch.randn(2, 3, 5), torch.tensor([[0, 1, 2], [3, 4, 0]])
    expected = logits.log_softmax(-1).gather(-1, targets.unsqueeze(-1)).squeeze(-1)
    torch.testing.assert_close(target_log_probs(logits, targets), expected)


def test_label_smoothing_matches_torch():
    torch.manual_seed(0)
    logits, targets = torch.randn(4, 3, 5), torch.randint(5, (4, 3))
    loss = -target_log_probs(logits, targets, label_smoothing=0.2).mean()
    expected = torch.nn.functional.cross_entropy(
        logits.flatten(0, 1), targets.flatten(), label_smoothing=0.2
    )
    torch.testing.assert_close(loss, expected)


def test_bfloat16_logits_are_summed_in_float32():
    logits = torch.zeros(1, 1, 3001, dtype=torch.bfloat16)
    score = target_log_probs(logits, torch.tensor([[5]]))
    assert score.exp().item() == pytest.approx(1 / 3001, rel=1e-5)
