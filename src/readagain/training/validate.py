"""Validation: loss on all dev pairs, ROUGE and sample headlines on some, signs of collapse."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import torch

from readagain.config.schema import RunSpec
from readagain.corpus.lexicon import Lexicon
from readagain.corpus.shards import Split
from readagain.networks.network import AnyNetwork
from readagain.rouge.corpus import score_corpus
from readagain.training.batches import TrainingDataset
from readagain.training.headlines import Headline, HeadlineWriter
from readagain.training.interrupt import StopSignal
from readagain.training.progress import Scores
from readagain.training.words import Vocabs

NUM_SAMPLES = 3
COLLAPSE_SHARE = 0.5
"""One headline for more than this share of different texts is a sign of collapse."""
_FEWEST_FOR_COLLAPSE = 10
# Texts side by side; a GPU takes more, and then needs fewer steps.
_MOST_ROWS = {"cpu": 64, "cuda": 256}
_PROTOCOL = "gigaword"


@dataclass(frozen=True)
class Validation:
    """What a validation found."""

    scores: Scores
    samples: list[Headline]
    warning: str | None


class Validator:
    """Validate a network on the dev split of a corpus.

    Args:
        split: the dev split; not empty.
        lexicon: the words behind its ids.
        words: the vocabularies of the run.
        run: the run.
        device: where the network is.
    """

    def __init__(
        self, split: Split, lexicon: Lexicon, words: Vocabs, run: RunSpec, device: torch.device
    ) -> None:
        self.batch_size = min(_MOST_ROWS[device.type], len(split))
        self.pairs = TrainingDataset.load(
            split,
            source_ids_of=lexicon.vocab_ids(words.source),
            ids_of=lexicon.vocab_ids(words.summary),
            vocab_size=len(words.summary),
            data=run.data,
            device=device,
        )
        self.writer = HeadlineWriter(
            split, self.pairs, lexicon, words.summary, run, self.batch_size
        )
        self.chosen = spread(len(split), run.train.rouge_pairs)

    def validate(self, model: AnyNetwork, *, step: int, wish: StopSignal) -> Validation | None:
        """Score the network as it is; None when asked to stop meanwhile."""
        model.eval()
        dev_loss = self._loss(model, wish)
        headlines = self.writer.write(model, self.chosen, wish)
        if dev_loss is None or headlines is None:
            return None
        samples = [headlines[place] for place in spread(len(headlines), NUM_SAMPLES)]
        scores = Scores(step=step, dev_loss=dev_loss, **_rouge(headlines))
        return Validation(scores, samples, collapse_warning(headlines))

    @torch.inference_mode()
    def _loss(self, model: AnyNetwork, wish: StopSignal) -> float | None:
        """Return the mean negative log-probability of a target word."""
        total = torch.zeros((), device=self.pairs.device, dtype=torch.float64)
        count = torch.zeros_like(total)
        for plan in self.pairs.plan_in_order(batch_size=self.batch_size):
            if wish.is_asked:
                return None
            batch = self.pairs.batch(plan, batch_size=self.batch_size)
            log_probs = model(*batch.inputs())  # (B, T)
            total -= log_probs.masked_fill(~batch.target_valid, 0.0).sum(dtype=torch.float64)
            count += batch.target_valid.sum()
        return float(total / count)


def spread(total: int, wanted: int) -> list[int]:
    """Choose `wanted` of `total` places, evenly spread and always the same.

    >>> spread(10, 3)
    [0, 4, 9]
    """
    return sorted(set(np.linspace(0, total - 1, min(wanted, total)).astype(int).tolist()))


def collapse_warning(headlines: Sequence[Headline]) -> str | None:
    """Warn when different texts get the same headline."""
    texts = {headline.source: headline.written for headline in headlines}
    if len(texts) < _FEWEST_FOR_COLLAPSE:
        return None
    ((most_common, count),) = Counter(texts.values()).most_common(1)
    if count <= COLLAPSE_SHARE * len(texts):
        return None
    return (
        f"{count} of {len(texts)} different texts got the same headline, '{most_common}': early "
        "in training this passes; later it means collapse, and a lower train.learning_rate or "
        "more train.warmup_steps usually helps"
    )


def _rouge(headlines: Sequence[Headline]) -> dict[str, float]:
    scored = [headline for headline in headlines if headline.reference]
    if not scored:
        return {}
    report = score_corpus(
        [headline.written for headline in scored],
        [[headline.reference] for headline in scored],
        _PROTOCOL,
    )
    return {
        name.replace("-", "_"): 100 * report[name].f1.value
        for name in ("rouge-1", "rouge-2", "rouge-l")
    }
