"""Headlines of dev pairs by beam search during training."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from readagain.config.schema import DataSpec, RunSpec
from readagain.corpus.lexicon import Lexicon
from readagain.corpus.shards import Split
from readagain.networks.network import AnyNetwork
from readagain.networks.step_model import TorchStepModel
from readagain.search.decoding import decode_sources
from readagain.search.hypotheses import Hypothesis
from readagain.search.model import SourceBatch
from readagain.text.vocab import Vocab
from readagain.training.batch import Batch
from readagain.training.buckets import Bucket
from readagain.training.dataset import BatchPlan, TrainingDataset
from readagain.training.stop_signal import StopSignal

LexiconIds = NDArray[np.int32]


@dataclass(frozen=True)
class Headline:
    """Headline of the model and reference headline of a text."""

    pair: int
    source: str
    written: str
    reference: str


@dataclass(frozen=True)
class HeadlineWriter:
    """Summarizer of pairs of a split.

    Args:
        split: the pairs.
        dataset: the same split as batches.
        lexicon: the words of its ids.
        vocab: the decoder vocabulary.
        run: the run, with its decoding settings; a limit in bytes is ignored, since it applies to
            detokenized text.
        batch_size: number of texts in a beam search.
    """

    split: Split
    dataset: TrainingDataset
    lexicon: Lexicon
    vocab: Vocab
    run: RunSpec
    batch_size: int

    def write(
        self, model: AnyNetwork, chosen: Sequence[int], stop: StopSignal
    ) -> list[Headline] | None:
        """Summarize the chosen pairs, in their order; return None if `stop` is set meanwhile."""
        step_model = TorchStepModel(model)
        found: dict[int, Headline] = {}
        for plan in self._plans(set(chosen)):
            if stop.is_set:
                return None
            sources = _source_batch(
                self.dataset.batch(plan, batch_size=self.batch_size), len(plan.pairs)
            )
            best = decode_sources(step_model, sources, self.run.decode)
            for pair, hypotheses in zip(plan.pairs.tolist(), best, strict=True):
                hypothesis = hypotheses[0] if hypotheses else None
                found[pair] = self._headline(pair, hypothesis, plan.shape.source_words)
        return [found[pair] for pair in chosen]

    def _plans(self, chosen: set[int]) -> Iterator[BatchPlan]:
        """Yield batches of the chosen pairs, grouped by shape."""
        by_shape: dict[Bucket, list[Tensor]] = {}
        for plan in self.dataset.plan_in_order(batch_size=self.batch_size):
            is_chosen = [pair in chosen for pair in plan.pairs.tolist()]
            kept = plan.pairs[torch.tensor(is_chosen, device=plan.pairs.device)]
            by_shape.setdefault(plan.shape, []).append(kept)
        for shape, kept_pairs in by_shape.items():
            pairs = torch.cat(kept_pairs)
            if len(pairs):
                for batch in torch.split(pairs, self.batch_size):
                    yield BatchPlan(batch, shape)

    def _headline(self, pair: int, hypothesis: Hypothesis | None, row_words: int) -> Headline:
        sentences, summary = self.split[pair]
        read = read_sentences(sentences, self.run.data)
        ids = [] if hypothesis is None else hypothesis.ids.tolist()
        return Headline(
            pair=pair,
            source=" ".join(word for sentence in read for word in self._words(sentence)),
            written=" ".join(self._word(id, read, row_words) for id in ids),
            reference=" ".join(self._words(summary)),
        )

    def _word(self, id: int, sentences: Sequence[LexiconIds], row_words: int) -> str:
        """Return the word of an extended id, from the vocabulary or the text."""
        if id < len(self.vocab):
            return self.vocab.word(id)
        sentence, position = divmod(id - len(self.vocab), row_words)
        return self.lexicon.words[int(sentences[sentence][position])]

    def _words(self, ids: LexiconIds) -> list[str]:
        # A negative id is an unknown word of the corpus.
        return [self.lexicon.words[id] for id in ids.tolist() if id >= 0]


def read_sentences(sentences: Sequence[LexiconIds], data: DataSpec) -> list[LexiconIds]:
    """Return the sentences that the network reads, joined or separate, truncated."""
    read = list(sentences[: data.num_sentences])
    if data.join_sentences and read:
        read = [np.concatenate(read)]
    return [sentence[: data.max_source_words] for sentence in read]


def _source_batch(batch: Batch, num_pairs: int) -> SourceBatch:
    """Copy the rows of a batch that are not padding to the host."""
    return SourceBatch(
        source_ids=batch.source_ids[:num_pairs].cpu().numpy(),
        lengths=batch.source_lengths[:num_pairs].cpu().numpy(),
        source_ext_ids=batch.source_ext_ids[:num_pairs].cpu().numpy(),
    )
