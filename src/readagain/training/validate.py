"""Validation: loss on all dev pairs, ROUGE and sample headlines on some of them."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import torch

from readagain.networks.network import AnyNetwork
from readagain.networks.step_model import TorchStepModel
from readagain.rouge.corpus import score_corpus
from readagain.rouge.options import corpus_protocol
from readagain.search.decoding import decode_sources
from readagain.search.model import SourceBatch
from readagain.training.job import ResolvedJob
from readagain.training.state import Scores
from readagain.training.stop_signal import StopSignal

NUM_SAMPLES = 3
COLLAPSE_FRACTION = 0.5
"""Warn if more than this fraction of different texts get the same headline."""
_MIN_TEXTS_FOR_COLLAPSE = 10
# Larger batches make better use of a GPU.
_BATCH_SIZES = {"cpu": 64, "cuda": 256}


@dataclass(frozen=True)
class Headline:
    """Headline of the model and reference headline of a text."""

    source: str
    written: str
    reference: str


@dataclass(frozen=True)
class Validation:
    """Scores and sample headlines of a validation."""

    scores: Scores
    samples: list[Headline]
    warning: str | None


class Validator:
    """Validation of a network on the dev split of a run, which must not be empty.

    Headlines are written by beam search with the decoding settings of the run. A limit in bytes is
    ignored, since it applies to detokenized text.
    """

    def __init__(self, job: ResolvedJob, device: torch.device) -> None:
        self.job = job
        self.protocol = corpus_protocol(is_tokenized=job.corpus.is_tokenized)
        self.split = job.corpus.split("dev")
        self.batch_size = min(_BATCH_SIZES[device.type], len(self.split))
        self.dataset = job.load_dataset("dev", device)
        self.rouge_pairs = evenly_spaced(len(self.split), job.run.train.rouge_pairs)

    def validate(self, model: AnyNetwork, *, step: int, stop: StopSignal) -> Validation | None:
        """Score the network; return None if `stop` is set meanwhile."""
        model.eval()
        dev_loss = self._loss(model, stop)
        headlines = self._headlines(model, stop)
        if dev_loss is None or headlines is None:
            return None
        samples = [headlines[index] for index in evenly_spaced(len(headlines), NUM_SAMPLES)]
        scores = Scores(step=step, dev_loss=dev_loss, **_rouge(headlines, self.protocol))
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

    def _headlines(self, model: AnyNetwork, stop: StopSignal) -> list[Headline] | None:
        """Summarize the pairs for ROUGE, in order; return None if `stop` is set meanwhile."""
        step_model = TorchStepModel(model)
        by_pair: dict[int, Headline] = {}
        size = self.batch_size
        for plan in self.dataset.plan_in_order(batch_size=size, chosen=self.rouge_pairs):
            if stop.is_set:
                return None
            batch, num_pairs = self.dataset.batch(plan, batch_size=size), len(plan.pairs)
            sources = SourceBatch(
                source_ids=batch.source_ids[:num_pairs].cpu().numpy(),
                lengths=batch.source_lengths[:num_pairs].cpu().numpy(),
                source_ext_ids=batch.source_ext_ids[:num_pairs].cpu().numpy(),
            )
            n_best = decode_sources(step_model, sources, self.job.run.decode)
            for pair, hypotheses in zip(plan.pairs.tolist(), n_best, strict=True):
                ids = hypotheses[0].ids.tolist() if hypotheses else []
                by_pair[pair] = self._headline(pair, ids, plan.shape.source_words)
        return [by_pair[pair] for pair in self.rouge_pairs]

    def _headline(self, pair: int, ids: Sequence[int], row_words: int) -> Headline:
        """Return a headline from its extended ids; sentences are padded to `row_words` words."""
        vocab, lexicon = self.job.vocabs.summary, self.job.corpus.lexicon
        sentences, (_, reference) = self.dataset.sentences(pair), self.split[pair]
        written = []
        for id in ids:
            if id < len(vocab):
                written.append(vocab.word(id))
            else:
                sentence, position = divmod(id - len(vocab), row_words)
                written.append(lexicon.words[sentences[sentence][position]])

        def spell(words: Sequence[int]) -> str:
            # A negative id is an unknown word of the corpus.
            return " ".join(lexicon.words[id] for id in words if id >= 0)

        source = [id for sentence in sentences for id in sentence]
        return Headline(spell(source), " ".join(written), spell(reference.tolist()))


def evenly_spaced(total: int, num_chosen: int) -> list[int]:
    """Return `num_chosen` evenly spaced indices below `total`.

    >>> evenly_spaced(10, 3)
    [0, 4, 9]
    """
    return sorted(set(np.linspace(0, total - 1, min(num_chosen, total)).astype(int).tolist()))


def collapse_warning(headlines: Sequence[Headline]) -> str | None:
    """Return a warning if many different texts get the same headline."""
    texts = {headline.source: headline.written for headline in headlines}
    if len(texts) < _MIN_TEXTS_FOR_COLLAPSE:
        return None
    ((most_common, count),) = Counter(texts.values()).most_common(1)
    if count <= COLLAPSE_FRACTION * len(texts):
        return None
    return (
        f"{count} of {len(texts)} different texts got the same headline, '{most_common}': this is "
        "normal early in training; later the model has collapsed, use a lower train.learning_rate "
        "or more train.warmup_steps"
    )


def _rouge(headlines: Sequence[Headline], protocol: str) -> dict[str, float]:
    scored = [headline for headline in headlines if headline.reference]
    if not scored:
        return {}
    report = score_corpus(
        [headline.written for headline in scored],
        [[headline.reference] for headline in scored],
        protocol,
    )
    return {
        name.replace("-", "_"): 100 * report[name].f1.value
        for name in ("rouge-1", "rouge-2", "rouge-l")
    }
