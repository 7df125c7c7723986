"""From scores to the few words a search looks at: the top-k is taken beside the model."""

from typing import NamedTuple

import torch
from torch import Tensor

from readagain.networks.outputs.copy_softmax import extended_probs, joint_probs
from readagain.networks.outputs.shortlist import SourceShortlist
from readagain.networks.outputs.softmax import at_least_float32
from readagain.text.vocab import EOS, SPECIAL_TOKENS


class BestWords(NamedTuple):
    """The best words of each row: (B, k) each but the last, which is (B,); see `best_words`."""

    ids: Tensor
    log_probs: Tensor
    copied_from: Tensor
    end_log_probs: Tensor


def best_words(
    vocab_logits: Tensor,
    copy_logits: Tensor | None,
    source_valid: Tensor,
    source_ext_ids: Tensor,
    k: int,
    shortlist: SourceShortlist | None = None,
) -> BestWords:
    """Choose the k most probable words of each row; reserved words are never among them.

    Args:
        vocab_logits: (B, V) scores of the vocabulary, or of the columns of `shortlist`.
        copy_logits: (B, S) scores of the source positions; None for a model that cannot copy.
        source_valid: (B, S) True at real words.
        source_ext_ids: (B, S) extended ids of the source.
        k: how many; fewer are given where there are fewer words.
        shortlist: the words that compete; None where all of the vocabulary do.

    Returns:
        ids: extended ids, best first.
        log_probs: theirs, -inf for an id that no word has.
        copied_from: the position with the largest share in copying the word, or -1 where
            generating had a larger share than all its positions together.
        end_log_probs: log-probability of ending the summary.
    """
    vocab_logits = at_least_float32(vocab_logits)
    if copy_logits is None:
        probs = vocab_logits.softmax(dim=1)  # (B, V)
        best, ids = _best_unreserved(probs, k)
        copied_from = torch.full_like(ids, -1)
    else:
        copy_logits = at_least_float32(copy_logits)
        generated, copied = joint_probs(vocab_logits, copy_logits, source_valid)  # (B, V), (B, S)
        if shortlist is None:
            places = source_ext_ids
            probs = extended_probs(generated, copied, places)  # (B, X)
        else:
            places = shortlist.columns  # the columns have room for unknown words already
            probs = generated.scatter_add(1, places, copied)  # (B, W + S)
        best, ids = _best_unreserved(probs, k)
        stands_here = places.unsqueeze(1) == ids.unsqueeze(2)  # (B, k, S)
        shares = copied.unsqueeze(1) * stands_here  # (B, k, S)
        is_copied = shares.sum(dim=2) >= best / 2  # (B, k)
        copied_from = torch.where(is_copied, shares.argmax(dim=2), -1)
    if shortlist is not None:
        ids = shortlist.words(ids, source_ext_ids)
    return BestWords(ids, best.log(), copied_from, probs[:, EOS].log())


def _best_unreserved(probs: Tensor, k: int) -> tuple[Tensor, Tensor]:
    """Return the k largest of each row and their ids; reserved ids are the first and left out."""
    words = probs[:, len(SPECIAL_TOKENS) :]
    best, places = words.topk(min(k, words.size(1)), dim=1)  # (B, k)
    return best, places + len(SPECIAL_TOKENS)
