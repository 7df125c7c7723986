"""RAS: a recurrent decoder over a convolutional attentive encoder."""

from dataclasses import dataclass

import torch
from torch import Tensor, nn

from readagain.networks.decoders.attention_decoder import DecoderState
from readagain.networks.decoders.previous_words import PreviousWords
from readagain.networks.decoders.ras_decoder import RasDecoder
from readagain.networks.embedding import WordEmbedding
from readagain.networks.encoders.conv_attentive import ConvAttentiveEncoder
from readagain.networks.encoders.sentences import only_sentence
from readagain.networks.masks import valid_positions
from readagain.networks.network import Network, SourceMemory, StepLogits, generated_log_probs
from readagain.networks.outputs.softmax import VocabularyOutput


@dataclass(frozen=True)
class RasState:
    """What a row needs to go on: its source, and the decoder's state."""

    memory: SourceMemory
    decoder: DecoderState

    def select(self, rows: Tensor) -> "RasState":
        """Keep, drop or repeat rows: what a beam does between steps."""
        return RasState(self.memory.select(rows), self.decoder.select(rows))

    def reorder(self, rows: Tensor) -> "RasState":
        """Do the same with rows that stay with their documents; the memory stays as it is."""
        return RasState(self.memory, self.decoder.select(rows))


class RasModel(Network[RasState]):
    """Write each word from the decoder's state and what it sees of the source.

    P_t = softmax(W_4 h_t + W_5 c_t)    (Chopra, Auli and Rush 2016, section 3.2)

    W_4 and W_5 are the two halves of one matrix. Words are looked at, x_j, where their aggregate
    vectors, z_j, fit the state.

    Args:
        source_embedding: x.
        encoder: makes z.
        previous_words: y.
        decoder: makes h_t and c_t.
        output: W_4 and W_5 side by side.
        dropout: share of embeddings, states and contexts that training leaves out; the paper has
            none.
    """

    def __init__(
        self,
        *,
        source_embedding: WordEmbedding,
        encoder: ConvAttentiveEncoder,
        previous_words: PreviousWords,
        decoder: RasDecoder,
        output: VocabularyOutput,
        dropout: float,
    ) -> None:
        super().__init__()
        self.source_embedding = source_embedding
        self.encoder = encoder
        self.previous_words = previous_words
        self.decoder = decoder
        self.output = output
        self.dropout = nn.Dropout(dropout)

    def read(
        self, source_ids: Tensor, source_lengths: Tensor, source_ext_ids: Tensor
    ) -> SourceMemory:
        """Read sources of one sequence, shaped as in `Network`."""
        words, lengths = only_sentence(self.source_embedding(source_ids), source_lengths)
        words = self.dropout(words)  # (B, S, E)
        valid = valid_positions(lengths, words.size(1))  # (B, S)
        keys = self.encoder(words, valid)  # (B, S, H)
        return SourceMemory(states=words, valid=valid, keys=keys, ext_ids=source_ext_ids)

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
        memory = self.read(source_ids, source_lengths, source_ext_ids)
        words = self.dropout(self.previous_words(previous_ids, None))  # (B, T, E)
        start = self.decoder.start(words.size(0))
        seen = self.decoder(words, memory.keys, memory.states, memory.valid, start)
        logits = self.output(self.dropout(seen))  # (B, T, V)
        return generated_log_probs(logits, memory, target_ids, label_smoothing)

    def start(self, source_ids: Tensor, source_lengths: Tensor, source_ext_ids: Tensor) -> RasState:
        """Read sources and return the state before the first word."""
        memory = self.read(source_ids, source_lengths, source_ext_ids)
        return RasState(memory, self.decoder.start(source_ids.size(0)))

    def step(self, state: RasState, previous_ids: Tensor) -> tuple[StepLogits, RasState]:
        """Feed (B,) extended ids, START at first; return the scores of what may follow."""
        memory = state.memory
        word = self.previous_words(previous_ids.unsqueeze(1), None).squeeze(1)  # (B, E)
        decoder, context, attention = self.decoder.step(
            word, memory.keys, memory.states, memory.valid, state.decoder
        )
        logits = self.output(torch.cat([decoder.hidden, context], dim=1))  # (B, V)
        return StepLogits(logits, None, attention), RasState(memory, decoder)
