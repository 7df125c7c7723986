"""The whole network: read a source, then score or write a summary."""

from dataclasses import dataclass, replace

import torch
from torch import Tensor, nn

from readagain.networks import dispatch
from readagain.networks.decoders.attention_decoder import AttentionDecoder, DecoderState
from readagain.networks.decoders.previous_words import PreviousWords
from readagain.networks.embedding import WordEmbedding
from readagain.networks.encoders.hierarchical import HierarchicalEncoder
from readagain.networks.encoders.one_pass import OnePassEncoder
from readagain.networks.encoders.read_again import ReadAgainEncoder
from readagain.networks.network import (
    Network,
    SourceMemory,
    StepLogits,
    generated_log_probs,
)
from readagain.networks.outputs.copy_softmax import CopyScorer
from readagain.networks.outputs.shortlist import ShortlistOutput
from readagain.networks.outputs.softmax import VocabularyOutput
from readagain.text.vocab import PAD, UNK

Encoder = OnePassEncoder | ReadAgainEncoder | HierarchicalEncoder


@dataclass(frozen=True)
class StepState:
    """Everything a row needs to go on: its source, the LSTM's state, the last copy scores."""

    memory: SourceMemory
    decoder: DecoderState
    copy_logits: Tensor

    def select(self, rows: Tensor) -> "StepState":
        """Keep, drop or repeat rows: what a beam does between steps."""
        return StepState(
            memory=self.memory.select(rows),
            decoder=self.decoder.select(rows),
            copy_logits=self.copy_logits.index_select(0, rows),
        )

    def reorder(self, rows: Tensor) -> "StepState":
        """Do the same with rows that stay with their documents; the memory stays as it is."""
        return StepState(
            memory=self.memory,
            decoder=self.decoder.select(rows),
            copy_logits=self.copy_logits.index_select(0, rows),
        )


class EncoderDecoder(Network[StepState]):
    """Read a source into states, and write a summary while looking back at them.

    Dropout stands where one layer's activations enter another: on word embeddings (of source and
    summary, copied ones included), on the states of each reading and on decoder states before the
    output; never inside a recurrence, and not on gates and attention weights. `start` and `step`
    are for writing, after `eval()`.
    """

    def __init__(
        self,
        *,
        source_embedding: WordEmbedding,
        encoder: Encoder,
        previous_words: PreviousWords,
        decoder: AttentionDecoder,
        output: VocabularyOutput,
        copy_scores: CopyScorer | None,
        dropout: float,
    ) -> None:
        super().__init__()
        self.source_embedding = source_embedding
        self.encoder = encoder
        self.previous_words = previous_words
        self.decoder = decoder
        self.output = output
        self.copy_scores = copy_scores
        self.dropout = nn.Dropout(dropout)

    def read(
        self, source_ids: Tensor, source_lengths: Tensor, source_ext_ids: Tensor
    ) -> tuple[SourceMemory, DecoderState]:
        """Read sources, shaped as in `Network`.

        Returns:
            What the decoder looks back at, and its state before the first word.
        """
        words = self.source_embedding(source_ids)  # (B, N, L, E)
        encoded = self.encoder(self.dropout(words), source_lengths)
        copy = self.copy_scores
        memory = SourceMemory(
            states=encoded.states,
            valid=encoded.valid,
            keys=self.decoder.keys(encoded.states),
            ext_ids=source_ext_ids,
            importance=encoded.importance,
            copy_keys=None if copy is None else copy.keys(encoded.states),
            copy_words=self.previous_words.of_source(encoded.states),
        )
        return memory, self.decoder.start(encoded.last)

    def forward(
        self,
        source_ids: Tensor,
        source_lengths: Tensor,
        source_ext_ids: Tensor,
        previous_ids: Tensor,
        target_ids: Tensor,
        label_smoothing: float = 0.0,
    ) -> Tensor:
        """Score known summaries; shapes as in `Network.forward`."""
        memory, start = self.read(source_ids, source_lengths, source_ext_ids)
        words = self.dropout(self.previous_words(previous_ids, memory.copy_words))  # (B, T, E)
        seen = (memory.keys, memory.states, memory.valid)
        hidden, _, _ = self.decoder(words, *seen, start)
        hidden = self.dropout(hidden)  # (B, T, H)
        ext_ids = memory.ext_ids
        if isinstance(self.output, ShortlistOutput):
            lists = self.output.share(ext_ids)
            vocab_logits = self.output.score_shared(hidden, lists)  # (B, T, W); V is W below
            # The paper does not say: a summary word that is not on the list counts as unknown.
            target_ids = lists.places(target_ids, absent=UNK)
            ext_ids = lists.places(ext_ids, absent=PAD)
        else:
            vocab_logits = self.output(hidden)  # (B, T, V)
        if self.copy_scores is None:
            return generated_log_probs(vocab_logits, memory, target_ids, label_smoothing)
        copy_logits = self.copy_scores(hidden, memory.copy_keys)  # (B, T, S)
        return dispatch.target_log_probs(
            vocab_logits, copy_logits, memory.valid, ext_ids, target_ids, label_smoothing
        )

    def start(
        self, source_ids: Tensor, source_lengths: Tensor, source_ext_ids: Tensor
    ) -> StepState:
        """Read sources and return the state before the first word."""
        memory, decoder = self.read(source_ids, source_lengths, source_ext_ids)
        if isinstance(self.output, ShortlistOutput):
            memory = replace(memory, shortlist=self.output.prepare(source_ext_ids))
        return StepState(memory, decoder, copy_logits=torch.zeros_like(memory.states[:, :, 0]))

    def step(self, state: StepState, previous_ids: Tensor) -> tuple[StepLogits, StepState]:
        """Feed (B,) extended ids, START at first; return the scores of what may follow."""
        memory = state.memory
        placed_ids = self._most_probable_place(state, previous_ids).unsqueeze(1)  # (B, 1)
        word = self.previous_words(placed_ids, memory.copy_words).squeeze(1)  # (B, E)
        decoder, _, attention = self.decoder.step(
            word, memory.keys, memory.states, memory.valid, state.decoder
        )
        if isinstance(self.output, ShortlistOutput) and memory.shortlist is not None:
            vocab_logits = self.output.score(decoder.hidden, memory.shortlist)  # (B, W + S)
        else:
            vocab_logits = self.output(decoder.hidden)  # (B, V)
        following = replace(state, decoder=decoder)
        if self.copy_scores is None:
            return StepLogits(vocab_logits, None, attention), following
        copy_logits = self.copy_scores(decoder.hidden.unsqueeze(1), memory.copy_keys).squeeze(1)
        logits = StepLogits(vocab_logits, copy_logits, attention)
        return logits, StepState(memory, decoder, copy_logits)

    def _most_probable_place(self, state: StepState, previous_ids: Tensor) -> Tensor:
        """Point a copied word's id at the position the last step most likely copied it from.

        The paper does not say whose p_i embeds a word that stands in the source several times:
        the most probable position's when writing, the first one's in teacher forcing.
        """
        if self.copy_scores is None:
            return previous_ids
        V = self.previous_words.vocab_size
        stands_here = (state.memory.ext_ids == previous_ids.unsqueeze(1)) & state.memory.valid
        place = state.copy_logits.masked_fill(~stands_here, -torch.inf).argmax(dim=1)  # (B,)
        return torch.where(previous_ids < V, previous_ids, V + place)
