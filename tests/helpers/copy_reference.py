"""Copy softmax as a dense tensor, to compare with."""

from torch import Tensor

from readagain.networks.outputs import extended_probs, joint_probs


def copy_log_probs(
    vocab_logits: Tensor, copy_logits: Tensor, source_valid: Tensor, source_ext_ids: Tensor
) -> Tensor:
    """Return the (B, V + S) log-probabilities of all next words; -inf for ids without a word."""
    generated, copied = joint_probs(vocab_logits, copy_logits, source_valid)
    return extended_probs(generated, copied, source_ext_ids).log()
