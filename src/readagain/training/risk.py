"""Minimum risk training, which maximizes the expected reward of sampled summaries.

The reward is similar to ROUGE, but computed from ids on the device. ROUGE itself (`rouge/`) is
computed from text on the CPU, which is too slow for thousands of samples per update.
"""

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from readagain.config.schema import TrainSpec
from readagain.networks.masks import valid_positions
from readagain.networks.network import AnyNetwork
from readagain.networks.step_model import top_candidates
from readagain.text.vocab import BOS, EOS, PAD, UNK
from readagain.training.batch import Batch
from readagain.training.dataset import BatchIndices
from readagain.training.step import TrainingStep

_SAMPLE_TOP_K = 40
"""Number of most probable words from which each word of a sample is drawn."""


class RiskStep(TrainingStep):
    """Update of a trained model by REINFORCE on sampled summaries.

    The reward of a sample is its overlap with the reference. The REINFORCE baseline, which is
    subtracted from the reward, is the mean reward of the other samples of the same text (Ranzato et
    al. 2016, Kool et al. 2019). To keep the output fluent, the loss also contains the negative
    log-likelihood of the reference, with the weight `risk_likelihood`. The reported loss, the risk,
    is 1 - mean reward.

    Args:
        network: the network for sampling; `model` is this network, or its DDP wrapper.
        max_words: maximum length of a sample.
        model, spec, options: as for `TrainingStep`.
    """

    def __init__(
        self,
        model: nn.Module,
        spec: TrainSpec,
        *,
        network: AnyNetwork,
        max_words: int,
        **options: int,
    ) -> None:
        super().__init__(model, spec, **options)
        self.network = network
        self.max_words = max_words

    @property
    def has_fixed_length(self) -> bool:
        """Whether all samples of the next update have exactly `risk_words` words.

        This is the case in every second update if `risk_words` is set.
        """
        return self.spec.risk_words > 0 and self.step % 2 == 0

    def _graph_key(self, batch: BatchIndices | Batch) -> tuple[int, ...]:
        return (*batch.shape_key(), self.has_fixed_length)

    def _sum_losses(self, batch: Batch) -> tuple[Tensor, Tensor, Tensor]:
        """Compute the loss and the risk of a batch, as sums over its texts, and their number.

        In shapes, K is the number of samples per text, T the padded length of samples, and Y the
        padded length of references.
        """
        K, likelihood_weight = self.spec.risk_samples, self.spec.risk_likelihood
        can_end = not self.has_fixed_length
        with self._autocast():
            samples, lengths = sample_summaries(
                self.network,
                batch,
                num_samples=K,
                num_words=self.max_words if can_end else self.spec.risk_words,
                can_end=can_end,
            )  # (B * K, T), (B * K,)
            scored_batch = _add_references(batch, samples, lengths, can_end=can_end)
            word_log_probs = self._score(*scored_batch.inputs())  # (B * (K + 1), max(T + 1, Y))
        word_log_probs = word_log_probs.masked_fill(~scored_batch.target_valid, 0.0)
        log_probs = word_log_probs.sum(1).view(-1, K + 1)  # (B, K + 1): samples, then reference
        num_samples = samples.size(0)  # B * K
        num_reference_words = batch.target_valid.sum(1)  # (B,) with EOS; 0 in padding rows
        rewards = overlap_reward(
            samples,
            lengths,
            batch.target_ids.repeat_interleave(K, 0, output_size=num_samples),
            (num_reference_words - 1).clamp_min(0).repeat_interleave(K, 0, output_size=num_samples),
        ).view(-1, K)  # (B, K)
        baselines = (rewards.sum(1, keepdim=True) - rewards) / (K - 1)  # (B, K)
        # The gradient of this value is an estimate of the gradient of the expected reward.
        reinforce = ((rewards - baselines) * log_probs[:, :K]).mean(1)  # (B,)
        mean_log_prob = log_probs[:, K] / num_reference_words.clamp_min(1)  # (B,)
        is_real = num_reference_words > 0  # (B,)
        objective = (1 - likelihood_weight) * reinforce + likelihood_weight * mean_log_prob  # (B,)
        loss = -objective.masked_fill(~is_real, 0.0).sum()
        risk = (1 - rewards.mean(1)).masked_fill(~is_real, 0.0).sum()
        return loss, risk, is_real.sum()


@torch.no_grad()
def sample_summaries(
    network: AnyNetwork, batch: Batch, *, num_samples: int, num_words: int, can_end: bool
) -> tuple[Tensor, Tensor]:
    """Sample K = `num_samples` summaries for each source, without dropout.

    The network is in training mode. A sample has T = `num_words` words; with `can_end`, it may end
    earlier, with EOS. Returns (B * K, T) extended ids, padded with PAD, and (B * K,) lengths.
    """
    network.eval()
    state = network.start(batch.source_ids, batch.source_lengths, batch.source_ext_ids)
    sources = torch.arange(batch.source_ids.size(0), device=batch.source_ids.device)
    source_of = sources.repeat_interleave(num_samples, output_size=len(sources) * num_samples)
    state = state.select(source_of)  # B * K rows
    previous = torch.full_like(source_of, BOS)
    is_open = torch.ones_like(source_of, dtype=torch.bool)  # (B * K,) samples without EOS so far
    words = []
    for _ in range(num_words):
        logits, state = network.step(state, previous)
        candidates = top_candidates(logits, state.memory, _SAMPLE_TOP_K)
        log_probs, ids = candidates.log_probs, candidates.ids  # (B * K, k)
        if can_end:  # (B * K, k + 1)
            log_probs = torch.cat([log_probs, candidates.end_log_probs.unsqueeze(1)], 1)
            ids = F.pad(ids, (0, 1), value=EOS)
        # Gumbel-max trick: with exponentially distributed e, the argmax of p / e is a sample of p.
        noise = torch.empty_like(log_probs).exponential_().log()
        word = ids.gather(1, (log_probs - noise).argmax(1, keepdim=True)).squeeze(1)  # (B * K,)
        is_open = is_open & (word != EOS)
        words.append(torch.where(is_open, word, PAD))
        previous = torch.where(is_open, word, EOS)
    network.train()
    samples = torch.stack(words, 1)  # (B * K, T)
    return samples, (samples != PAD).sum(1)


def _add_references(batch: Batch, samples: Tensor, lengths: Tensor, *, can_end: bool) -> Batch:
    """Return a batch with K + 1 rows for each source: its samples, then its reference.

    `samples` are (B * K, T) extended ids, `lengths` their (B * K,) numbers of words. With
    `can_end`, samples end with EOS, which is then a target, too.
    """
    B, T, Y = batch.source_ids.size(0), samples.size(1), batch.target_ids.size(1)
    K, width = samples.size(0) // B, max(T + 1, Y)
    is_end = lengths.unsqueeze(1) == torch.arange(width, device=lengths.device)  # (B * K, width)
    targets = torch.where(is_end, EOS, F.pad(samples, (0, width - T), value=PAD))
    # EOS is no target of a sample that was truncated or has a fixed length.
    num_targets = torch.where(lengths < T, lengths + 1, lengths) if can_end else lengths
    valid = valid_positions(num_targets, width).view(B, K, width)
    reference = F.pad(batch.target_ids, (0, width - Y), value=PAD).unsqueeze(1)  # (B, 1, width)
    reference_valid = F.pad(batch.target_valid, (0, width - Y)).unsqueeze(1)
    # (B * (K + 1), width)
    targets = torch.cat([targets.view(B, K, width), reference], 1).flatten(0, 1)

    def repeat(tensor: Tensor) -> Tensor:
        return tensor.repeat_interleave(K + 1, 0, output_size=B * (K + 1))

    return Batch(
        source_ids=repeat(batch.source_ids),
        source_lengths=repeat(batch.source_lengths),
        source_ext_ids=repeat(batch.source_ext_ids),
        previous_ids=F.pad(targets[:, :-1], (1, 0), value=BOS),
        target_ids=targets,
        target_valid=torch.cat([valid, reference_valid], 1).flatten(0, 1),
    )


def overlap_reward(
    summary_ids: Tensor, summary_lengths: Tensor, reference_ids: Tensor, reference_lengths: Tensor
) -> Tensor:
    """Return the (B,) mean F1 of unigrams, bigrams and the longest common subsequence.

    It is 0 for an empty summary or reference. `summary_ids` are (B, T) extended ids without EOS,
    `reference_ids` (B, Y) with EOS; UNK never matches. Both are right-padded, and the lengths are
    (B,). Y is at most 63, since `_longest_common` stores positions as bits of an int64.
    """
    T, Y = summary_ids.size(1), reference_ids.size(1)
    summary_valid = valid_positions(summary_lengths, T)  # (B, T)
    reference_valid = valid_positions(reference_lengths, Y)  # (B, Y)
    is_equal = summary_ids.unsqueeze(2) == reference_ids.unsqueeze(1)  # (B, T, Y)
    is_equal &= summary_valid.unsqueeze(2) & (reference_valid & (reference_ids != UNK)).unsqueeze(1)
    # (B, T, Y) True where equal bigrams start
    is_equal_bigram = is_equal & F.pad(is_equal[:, 1:, 1:], (0, 1, 0, 1))
    unigram_f1 = _f1(_count_matches(is_equal), summary_lengths, reference_lengths)
    bigram_f1 = _f1(_count_matches(is_equal_bigram), summary_lengths - 1, reference_lengths - 1)
    subsequence_f1 = _f1(_longest_common(is_equal), summary_lengths, reference_lengths)
    return (unigram_f1 + bigram_f1 + subsequence_f1) / 3


def _count_matches(is_equal: Tensor) -> Tensor:
    """Return the (B,) numbers of matching n-grams, clipped as in ROUGE.

    An n-gram with i occurrences in the summary and j in the reference counts min(i, j) times: its
    k-th occurrence in the summary matches its k-th occurrence in the reference. `is_equal` is
    (B, T, Y), whether the n-grams at a position of the summary and of the reference are equal.
    """
    summary_rank = is_equal.long().cumsum(1) - 1  # (B, T, Y): earlier occurrences in the summary
    reference_rank = is_equal.long().cumsum(2) - 1  # (B, T, Y): those in the reference
    return (is_equal & (reference_rank == summary_rank)).any(2).sum(1)


def _longest_common(is_equal: Tensor) -> Tensor:
    """Return the (B,) lengths of the longest common subsequences.

    This is the bit-parallel algorithm of Hyyrö 2004. Bit j of an integer stands for reference
    position j, so each summary word needs a few integer operations instead of a loop over the
    reference. At the end, the bits that are 0 are counted. `is_equal` is (B, T, Y), for words.
    """
    B, T, Y = is_equal.shape
    bits = torch.ones((), dtype=torch.int64, device=is_equal.device) << torch.arange(
        Y, device=is_equal.device
    )
    matches = (is_equal * bits).sum(2)  # (B, T)
    row = torch.full((B,), -1, dtype=torch.int64, device=is_equal.device)  # all bits are 1
    for t in range(T):
        matching_bits = row & matches[:, t]
        row = (row + matching_bits) | (row - matching_bits)
    return Y - ((row.unsqueeze(1) >> torch.arange(Y, device=is_equal.device)) & 1).sum(1)


def _f1(num_matches: Tensor, summary_size: Tensor, reference_size: Tensor) -> Tensor:
    """Return F1; precision is num_matches / summary_size, recall num_matches / reference_size."""
    return 2 * num_matches / (summary_size + reference_size).clamp_min(1)
