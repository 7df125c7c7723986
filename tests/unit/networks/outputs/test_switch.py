"""The switch: its share of the whole, what training tells it, and what learns from that."""

import math

import pytest
import torch

from readagain.networks.outputs.copy_softmax import joint_probs
from readagain.networks.outputs.switch import pointing_logits, switched_log_probs

V = 6
ATTENTION = torch.tensor([[0.5, 0.25, 0.25, 0.0]])
VALID = torch.tensor([[True, True, True, False]])


@pytest.mark.parametrize("logit", [-3.0, 0.0, 2.0])
def test_generating_gets_what_the_switch_says_and_pointing_the_rest(logit):
    vocab_logits = torch.tensor([[0.3, -1.0, 2.0, 0.0, 5.0, -math.inf]])
    copy_logits = pointing_logits(vocab_logits, torch.tensor([logit]), ATTENTION)
    generated, copied = joint_probs(vocab_logits, copy_logits, VALID)
    share = torch.sigmoid(torch.tensor(logit))
    torch.testing.assert_close(generated, share * vocab_logits.softmax(dim=1))
    torch.testing.assert_close(copied, (1 - share) * ATTENTION)


def switched(target, *, logit=0.0, attention=ATTENTION):
    return switched_log_probs(
        generated=torch.tensor([[math.log(0.1)]]),
        switch_logits=torch.tensor([[logit]]),
        attention=attention.unsqueeze(1),
        target_ids=torch.tensor([[target]]),
        vocab_size=V,
    ).item()


def test_a_word_of_the_vocabulary_is_generated_wherever_attention_lies():
    assert switched(4) == pytest.approx(math.log(0.1 / 2))
    assert switched(4, attention=ATTENTION.flip(1)) == switched(4)


def test_any_other_word_is_pointed_at_where_it_stands():
    assert switched(V) == pytest.approx(math.log(0.5 / 2))
    assert switched(V + 2) == pytest.approx(math.log(0.25 / 2))


def test_a_place_that_attention_passes_over_has_a_finite_loss():
    assert math.isfinite(switched(V + 3))


@pytest.mark.parametrize("cell", ["gru", "lstm"])
def test_pointing_teaches_the_attention(build, make_batch, cell):
    model = build({"model.output": "switch", "model.decoder.cell": cell})
    batch = make_batch()
    # Only the loss of the first word, which the first text points at, and only its pointing.
    memory, start = model.read(*batch.source())
    words = model.previous_words(batch.previous_ids, memory.copy_words)
    _, _, attention = model.decoder(words, memory.keys, memory.states, memory.valid, start)
    attention[0, 0, 1].log().backward()
    assert model.decoder.weight_score.grad.any()
