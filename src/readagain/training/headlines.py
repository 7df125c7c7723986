"""Summaries of dev pairs by beam search, as words, while the network is still being trained."""

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
from readagain.training.batches import BatchPlan, TrainingDataset
from readagain.training.buckets import Bucket
from readagain.training.interrupt import StopSignal

LexiconIds = NDArray[np.int32]


@dataclass(frozen=True)
class Headline:
    """What the model and what a person wrote over a text, in the words of the corpus."""

    pair: int
    source: str
    written: str
    reference: str


@dataclass(frozen=True)
class HeadlineWriter:
    """Summarize chosen pairs of a split.

    Args:
        split: the pairs.
        pairs: the same split as batches.
        lexicon: the words behind its ids.
        vocab: the decoder's words.
        run: what is read of a text, and how a summary is searched for. A limit in bytes is left
            out: it is meant for printed text.
        batch_size: texts that are searched together.
    """

    split: Split
    pairs: TrainingDataset
    lexicon: Lexicon
    vocab: Vocab
    run: RunSpec
    batch_size: int

    def write(
        self, model: AnyNetwork, chosen: Sequence[int], wish: StopSignal
    ) -> list[Headline] | None:
        """Summarize the chosen pairs, in their order; None when asked to stop meanwhile."""
        step_model = TorchStepModel(model)
        found: dict[int, Headline] = {}
        for plan in self._plans(set(chosen)):
            if wish.is_asked:
                return None
            sources = _source_batch(
                self.pairs.batch(plan, batch_size=self.batch_size), len(plan.pairs)
            )
            best = decode_sources(step_model, sources, self.run.decode)
            for pair, hypotheses in zip(plan.pairs.tolist(), best, strict=True):
                hypothesis = hypotheses[0] if hypotheses else None
                found[pair] = self._headline(pair, hypothesis, plan.shape.source_words)
        return [found[pair] for pair in chosen]

    def _plans(self, chosen: set[int]) -> Iterator[BatchPlan]:
        """Yield batches of the chosen pairs, those of one shape together."""
        by_shape: dict[Bucket, list[Tensor]] = {}
        for plan in self.pairs.plan_in_order(batch_size=self.batch_size):
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
        """Return the word of an extended id: of the vocabulary, or where it stands in the text."""
        if id < len(self.vocab):
            return self.vocab.word(id)
        sentence, place = divmod(id - len(self.vocab), row_words)
        return self.lexicon.words[int(sentences[sentence][place])]

    def _words(self, ids: LexiconIds) -> list[str]:
        # A negative id is a word that the corpus itself did not know.
        return [self.lexicon.words[id] for id in ids.tolist() if id >= 0]


def read_sentences(sentences: Sequence[LexiconIds], data: DataSpec) -> list[LexiconIds]:
    """Return what the network sees of a text: some sentences, joined or apart, cut to length."""
    read = list(sentences[: data.num_sentences])
    if data.join_sentences and read:
        read = [np.concatenate(read)]
    return [sentence[: data.max_source_words] for sentence in read]


def _source_batch(batch: Batch, num_pairs: int) -> SourceBatch:
    """Take the real rows of a batch to the host."""
    return SourceBatch(
        source_ids=batch.source_ids[:num_pairs].cpu().numpy(),
        lengths=batch.source_lengths[:num_pairs].cpu().numpy(),
        source_ext_ids=batch.source_ext_ids[:num_pairs].cpu().numpy(),
    )
