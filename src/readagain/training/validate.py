"""Validation: loss on all dev pairs, ROUGE and sample headlines on some of them."""

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
from readagain.training.dataset import TrainingDataset
from readagain.training.headlines import Headline, HeadlineWriter
from readagain.training.job import ResolvedJob
from readagain.training.state import Scores
from readagain.training.stop_signal import StopSignal
from readagain.training.vocabs import Vocabs

NUM_SAMPLES = 3
COLLAPSE_SHARE = 0.5
"""Warn if more than this share of different texts get the same headline."""
_MIN_TEXTS_FOR_COLLAPSE = 10
# A GPU decodes more texts at once, in fewer steps.
_BATCH_SIZES = {"cpu": 64, "cuda": 256}
_PROTOCOL = "gigaword"


@dataclass(frozen=True)
class Validation:
    """Scores and sample headlines of a validation."""

    scores: Scores
    samples: list[Headline]
    warning: str | None


class Validator:
    """Validation of a network on the dev split of a corpus.

    Args:
        split: the dev split; not empty.
        lexicon: the words of its ids.
        vocabs: the vocabularies of the run.
        run: the run.
        device: the device of the network.
    """

    def __init__(
        self, split: Split, lexicon: Lexicon, vocabs: Vocabs, run: RunSpec, device: torch.device
    ) -> None:
        self.batch_size = min(_BATCH_SIZES[device.type], len(split))
        self.dataset = TrainingDataset.load(
            split,
            source_ids_of=lexicon.vocab_ids(vocabs.source),
            ids_of=lexicon.vocab_ids(vocabs.summary),
            vocab_size=len(vocabs.summary),
            style_id=vocabs.source.styles.get(run.decode.style),
            data=run.data,
            device=device,
        )
        self.writer = HeadlineWriter(
            split, self.dataset, lexicon, vocabs.summary, run, self.batch_size
        )
        self.rouge_pairs = spread(len(split), run.train.rouge_pairs)

    @classmethod
    def for_job(cls, job: ResolvedJob, device: torch.device) -> "Validator | None":
        """Return the validator of a run, or None if its corpus has no dev pairs."""
        dev = job.corpus.split("dev")
        if not len(dev):
            return None
        return cls(dev, job.corpus.lexicon, job.vocabs, job.run, device)

    def validate(self, model: AnyNetwork, *, step: int, stop: StopSignal) -> Validation | None:
        """Score the network; return None if `stop` is set meanwhile."""
        model.eval()
        dev_loss = self._loss(model, stop)
        headlines = self.writer.write(model, self.rouge_pairs, stop)
        if dev_loss is None or headlines is None:
            return None
        samples = [headlines[index] for index in spread(len(headlines), NUM_SAMPLES)]
        scores = Scores(step=step, dev_loss=dev_loss, **_rouge(headlines))
        return Validation(scores, samples, collapse_warning(headlines))

    @torch.inference_mode()
    def _loss(self, model: AnyNetwork, stop: StopSignal) -> float | None:
        """Return the mean negative log-probability of a target word."""
        total = torch.zeros((), device=self.dataset.device, dtype=torch.float64)
        count = torch.zeros_like(total)
        for plan in self.dataset.plan_in_order(batch_size=self.batch_size):
            if stop.is_set:
                return None
            batch = self.dataset.batch(plan, batch_size=self.batch_size)
            log_probs = model(*batch.inputs())  # (B, T)
            total -= log_probs.masked_fill(~batch.target_valid, 0.0).sum(dtype=torch.float64)
            count += batch.target_valid.sum()
        return float(total / count)


def spread(total: int, num_chosen: int) -> list[int]:
    """Return `num_chosen` evenly spaced indices below `total`.

    >>> spread(10, 3)
    [0, 4, 9]
    """
    return sorted(set(np.linspace(0, total - 1, min(num_chosen, total)).astype(int).tolist()))


def collapse_warning(headlines: Sequence[Headline]) -> str | None:
    """Return a warning if many different texts get the same headline."""
    texts = {headline.source: headline.written for headline in headlines}
    if len(texts) < _MIN_TEXTS_FOR_COLLAPSE:
        return None
    ((most_common, count),) = Counter(texts.values()).most_common(1)
    if count <= COLLAPSE_SHARE * len(texts):
        return None
    return (
        f"{count} of {len(texts)} different texts got the same headline, '{most_common}': this is "
        "normal early in training; later the model has collapsed, use a lower train.learning_rate "
        "or more train.warmup_steps"
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
