"""Scores of reference summaries, computed word by word, to compare with teacher forcing."""

import torch

from readagain.text.vocab import UNK


def score_step_by_step(network, batch):
    """Return the (B, T) log-probabilities of the targets, computed by `start` and `step`."""
    state, scores = network.start(*batch.source()), []
    for previous_ids, target_ids in zip(batch.previous_ids.T, batch.target_ids.T, strict=True):
        logits, state = network.step(state, previous_ids)
        target_probs = _target_probs(
            logits,
            state.memory,
            target_ids,
            is_known=target_ids < network.previous_words.vocab_size,
        )
        scores.append(target_probs.log())
    return torch.stack(scores, dim=1)


def _target_probs(logits, memory, target_ids, *, is_known):
    """Return the (B,) probabilities of targets; `is_known` is True at words of the vocabulary."""
    if memory.shortlists is None:
        columns = torch.where(is_known, target_ids, UNK)
    else:
        columns = _find_columns(target_ids, memory)
    if logits.copy is None:
        return logits.vocab.softmax(dim=1).gather(1, columns.unsqueeze(1)).squeeze(1)
    copy_logits = logits.copy.masked_fill(~memory.valid, -torch.inf)
    probs = torch.cat([logits.vocab, copy_logits], dim=1).softmax(dim=1)
    generated, copied = probs.split([logits.vocab.size(1), copy_logits.size(1)], dim=1)
    generating = generated.gather(1, columns.unsqueeze(1)).squeeze(1) * is_known
    copying = (copied * (memory.ext_ids == target_ids.unsqueeze(1))).sum(dim=1)
    return generating + copying


def _find_columns(target_ids, memory):
    """Return the column of each target on the shortlist; UNK for targets that are not on it."""
    columns = torch.arange(memory.shortlists.on_shortlist.size(1)).expand(len(target_ids), -1)
    words = memory.shortlists.to_ext_ids(columns, memory.ext_ids)
    is_target = (words == target_ids.unsqueeze(1)) & memory.shortlists.on_shortlist
    assert int(is_target.sum(dim=1).max()) <= 1
    return torch.where(is_target.any(dim=1), is_target.int().argmax(dim=1), UNK)
