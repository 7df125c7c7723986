"""Updates that raise the expected reward of what the model itself writes."""

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from readagain.config.schema import TrainSpec
from readagain.networks.candidates import best_words
from readagain.networks.masks import valid_positions
from readagain.networks.network import AnyNetwork
from readagain.text.vocab import BOS, EOS, PAD
from readagain.training.batch import Batch
from readagain.training.dataset import BatchIndices
from readagain.training.reward import overlap_reward
from readagain.training.step import TrainingStep

_WORDS_TO_DRAW_FROM = 40
"""Samples are drawn among so many of the most probable next words."""


class RiskStep(TrainingStep):
    """Update a trained model towards what the measure rewards, not only towards the reference.

    Each update draws summaries of its batch from the model, rewards each by its overlap with the
    reference, and makes those likelier that do better than the other samples of their text
    (REINFORCE with the mean of the others as its baseline; Ranzato et al. 2016, Kool et al. 2019).
    A share of the usual likelihood keeps the model near its language. The loss that is reported
    is 1 - the mean reward.

    Args:
        network: the network itself, which `model` may wrap.
        max_words: where a sample that does not end by itself is cut.
        model, spec, rest: as for `TrainingStep`.
    """

    def __init__(
        self,
        model: nn.Module,
        spec: TrainSpec,
        *,
        network: AnyNetwork,
        max_words: int,
        **rest: int,
    ) -> None:
        super().__init__(model, spec, **rest)
        self.network = network
        self.max_words = max_words

    @property
    def fills(self) -> bool:
        """Whether the next update draws summaries of exactly `risk_words` words."""
        return self.spec.risk_words > 0 and self.step % 2 == 0

    def _shape(self, given: BatchIndices | Batch) -> tuple[int, ...]:
        return (*given.size(), self.fills)

    def _sums(self, batch: Batch) -> tuple[Tensor, Tensor, Tensor]:
        K, share = self.spec.risk_samples, self.spec.risk_likelihood
        with self._autocast():
            samples, lengths = draw_summaries(
                self.network,
                batch,
                num_samples=K,
                num_words=self.spec.risk_words if self.fills else self.max_words,
                can_end=not self.fills,
            )  # (B * K, T), (B * K,)
            scored = _with_reference(batch, samples, lengths, can_end=not self.fills)
            log_probs = self._score(*scored.inputs())  # (B * (K + 1), U)
        log_probs = log_probs.masked_fill(~scored.target_valid, 0.0).sum(1).view(-1, K + 1)
        rows, reference_words = samples.size(0), batch.target_valid.sum(1)  # END included
        # Rows that only fill a batch up have no reference words at all.
        rewards = overlap_reward(
            samples,
            lengths,
            batch.target_ids.repeat_interleave(K, 0, output_size=rows),
            (reference_words - 1).clamp_min(0).repeat_interleave(K, 0, output_size=rows),
        ).view(-1, K)  # (B, K)
        others = (rewards.sum(1, keepdim=True) - rewards) / (K - 1)
        gained = ((rewards - others) * log_probs[:, :K]).mean(1)  # (B,)
        likely = log_probs[:, K] / reference_words.clamp_min(1)  # (B,)
        is_real = reference_words > 0
        loss = -((1 - share) * gained + share * likely).masked_fill(~is_real, 0.0).sum()
        risk = (1 - rewards.mean(1)).masked_fill(~is_real, 0.0).sum()
        return loss, risk, is_real.sum()


@torch.no_grad()
def draw_summaries(
    network: AnyNetwork, batch: Batch, *, num_samples: int, num_words: int, can_end: bool
) -> tuple[Tensor, Tensor]:
    """Draw summaries word by word from the network's own probabilities, without dropout.

    Args:
        network: in training mode, and left so.
        batch: the sources.
        num_samples: K, for each source.
        num_words: T, the most words; exactly so many where a summary cannot end.
        can_end: whether the end is drawn, too.

    Returns:
        (B * K, T) extended ids, PAD behind the end, and (B * K,) lengths.
    """
    network.eval()
    state = network.start(batch.source_ids, batch.source_lengths, batch.source_ext_ids)
    documents = torch.arange(batch.source_ids.size(0), device=batch.source_ids.device)
    rows = documents.repeat_interleave(num_samples, output_size=len(documents) * num_samples)
    state = state.select(rows)
    previous = torch.full_like(rows, BOS)
    is_open = torch.ones_like(rows, dtype=torch.bool)
    words = []
    for _ in range(num_words):
        logits, state = network.step(state, previous)
        memory = state.memory
        source = (memory.valid, memory.ext_ids)
        best = best_words(logits.vocab, logits.copy, *source, _WORDS_TO_DRAW_FROM, memory.shortlist)
        log_probs, ids = best.log_probs, best.ids  # (B * K, k)
        if can_end:
            log_probs = torch.cat([log_probs, best.end_log_probs.unsqueeze(1)], 1)
            ids = F.pad(ids, (0, 1), value=EOS)
        # The largest of p / e, e drawn from an exponential, is a draw from p.
        noise = torch.empty_like(log_probs).exponential_().log()
        drawn = ids.gather(1, (log_probs - noise).argmax(1, keepdim=True)).squeeze(1)
        is_open = is_open & (drawn != EOS)
        words.append(torch.where(is_open, drawn, PAD))
        previous = torch.where(is_open, drawn, EOS)
    network.train()
    found = torch.stack(words, 1)  # (B * K, T)
    return found, (found != PAD).sum(1)


def _with_reference(batch: Batch, samples: Tensor, lengths: Tensor, *, can_end: bool) -> Batch:
    """Repeat each source for its K samples, and once more for the reference."""
    B, T, U = batch.source_ids.size(0), samples.size(1), batch.target_ids.size(1)
    K, width = samples.size(0) // B, max(T + 1, U)
    ends = lengths.unsqueeze(1) == torch.arange(width, device=lengths.device)
    targets = torch.where(ends, EOS, F.pad(samples, (0, width - T), value=PAD))
    # A sample that was cut, or could not end, has no end of its own to be scored.
    num_scored = torch.where(lengths < T, lengths + 1, lengths) if can_end else lengths
    valid = valid_positions(num_scored, width).view(B, K, width)
    reference = F.pad(batch.target_ids, (0, width - U), value=PAD).unsqueeze(1)
    reference_valid = F.pad(batch.target_valid, (0, width - U)).unsqueeze(1)
    targets = torch.cat([targets.view(B, K, width), reference], 1).flatten(0, 1)

    def repeated(tensor: Tensor) -> Tensor:
        return tensor.repeat_interleave(K + 1, 0, output_size=B * (K + 1))

    return Batch(
        source_ids=repeated(batch.source_ids),
        source_lengths=repeated(batch.source_lengths),
        source_ext_ids=repeated(batch.source_ext_ids),
        previous_ids=F.pad(targets[:, :-1], (1, 0), value=BOS),
        target_ids=targets,
        target_valid=torch.cat([valid, reference_valid], 1).flatten(0, 1),
    )
