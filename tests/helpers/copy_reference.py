"""Copy softmax as a dense tensor, to compare with."""

import torch.nn.functional as F
from torch import Tensor

from readagain.networks.outputs import joint_probs


def copy_log_probs(
    vocab_logits: Tensor, copy_logits: Tensor, source_valid: Tensor, source_ext_ids: Tensor
) -> Tensor:
    """Return the (B, V + S) log-probabilities of all next words; -inf for ids without a word."""
    generated, copied = joint_probs(vocab_logits, copy_logits, source_valid)
    generated = F.pad(generated, (0, copied.size(1)))
    return generated.scatter_add(1, source_ext_ids, copied).log()
