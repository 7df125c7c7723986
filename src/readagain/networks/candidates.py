"""Selection of the k most probable next words on the device of the model."""

from typing import NamedTuple

import torch
from torch import Tensor

from readagain.networks.outputs.copy_softmax import extended_probs, joint_probs
from readagain.networks.outputs.shortlist import SourceShortlist
from readagain.networks.outputs.softmax import at_least_float32
from readagain.text.vocab import EOS, SPECIAL_TOKENS, UNK


class TopCandidates(NamedTuple):
    """The (B, k) best words of each row, and the (B,) log-probability of EOS."""

    ids: Tensor
    log_probs: Tensor
    copied_from: Tensor
    end_log_probs: Tensor


def top_candidates(
    vocab_logits: Tensor,
    copy_logits: Tensor | None,
    source_valid: Tensor,
    source_ext_ids: Tensor,
    k: int,
    shortlist: SourceShortlist | None = None,
    *,
    allow_unk: bool = False,
) -> TopCandidates:
    """Select the k most probable words of each row, without special tokens.

    Args:
        vocab_logits: (B, V) logits of the vocabulary, or of the columns of `shortlist`.
        copy_logits: (B, S) logits of the source positions; None for a model that cannot copy.
        source_valid: (B, S) True at real words.
        source_ext_ids: (B, S) extended ids of the source.
        k: maximum number of words.
        shortlist: the words to select from; None for the whole vocabulary.
        allow_unk: select UNK like a word.

    Returns:
        ids: extended ids, best first.
        log_probs: their log-probabilities; -inf if fewer than k words are possible.
        copied_from: the position that the word is most probably copied from, or -1 if generating
            the word is more probable than copying it.
        end_log_probs: log-probability of EOS.
    """
    vocab_logits = at_least_float32(vocab_logits)
    if copy_logits is None:
        probs = vocab_logits.softmax(dim=1)  # (B, V)
        best, ids = _top_words(probs, k, allow_unk)
        copied_from = torch.full_like(ids, -1)
    else:
        copy_logits = at_least_float32(copy_logits)
        generated, copied = joint_probs(vocab_logits, copy_logits, source_valid)  # (B, V), (B, S)
        if shortlist is None:
            columns = source_ext_ids
            probs = extended_probs(generated, copied, columns)  # (B, X)
        else:
            columns = shortlist.columns  # includes words outside the vocabulary
            probs = generated.scatter_add(1, columns, copied)  # (B, W + S)
        best, ids = _top_words(probs, k, allow_unk)
        is_word = columns.unsqueeze(1) == ids.unsqueeze(2)  # (B, k, S)
        copy_probs = copied.unsqueeze(1) * is_word  # (B, k, S)
        is_copied = copy_probs.sum(dim=2) >= best / 2  # (B, k)
        copied_from = torch.where(is_copied, copy_probs.argmax(dim=2), -1)
    if shortlist is not None:
        ids = shortlist.to_ext_ids(ids, source_ext_ids)
    return TopCandidates(ids, best.log(), copied_from, probs[:, EOS].log())


def _top_words(probs: Tensor, k: int, allow_unk: bool) -> tuple[Tensor, Tensor]:
    """Return the k largest probabilities of each row and their ids, without special tokens."""
    words = probs[:, len(SPECIAL_TOKENS) :]
    if allow_unk:
        words = torch.cat([probs[:, UNK : UNK + 1], words], dim=1)
        best, columns = words.topk(min(k, words.size(1)), dim=1)
        return best, torch.where(columns == 0, UNK, columns + len(SPECIAL_TOKENS) - 1)
    best, columns = words.topk(min(k, words.size(1)), dim=1)  # (B, k)
    return best, columns + len(SPECIAL_TOKENS)
