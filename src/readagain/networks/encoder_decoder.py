"""Encoder-decoder network with attention and optional copying."""

from dataclasses import dataclass, replace

import torch
from torch import Tensor, nn

from readagain.networks import dispatch
from readagain.networks.decoder import AttentionDecoder, DecoderState, PreviousWordEmbedding
from readagain.networks.encoders import OnePassEncoder, ReadAgainEncoder
from readagain.networks.layers import WordEmbedding
from readagain.networks.network import Network, NetworkState, SourceMemory, StepLogits
from readagain.networks.outputs import CopyScorer, VocabularyOutput
from readagain.networks.shortlist import ShortlistOutput
from readagain.text.vocab import PAD, UNK


@dataclass(frozen=True)
class EncoderDecoderState(NetworkState):
    """Decoder state: encoded sources, recurrent state and (B, S) copy logits of the last step.

    The copy logits are None before the first step and for a model that cannot copy.
    """

    decoder: DecoderState
    copy_logits: Tensor | None = None


class EncoderDecoder(Network[EncoderDecoderState]):
    """Encoder, attention decoder and output layer.

    Dropout is applied to the embeddings of source, summary and copied words, to the states of each
    encoder pass, and to decoder states before the output layer. It is not applied inside a
    recurrence, to gates or to attention weights.
    """

    def __init__(
        self,
        *,
        source_embedding: WordEmbedding,
        encoder: OnePassEncoder | ReadAgainEncoder,
        previous_words: PreviousWordEmbedding,
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

    def encode(
        self, source_ids: Tensor, source_lengths: Tensor, source_ext_ids: Tensor
    ) -> EncoderDecoderState:
        """Encode sources and return the state before the first word."""
        words = self.source_embedding(source_ids)  # (B, N, L, E)
        encoded = self.encoder(self.dropout(words), source_lengths)
        memory = SourceMemory(
            states=encoded.states,
            valid=encoded.valid,
            keys=self.decoder.key(encoded.states),
            ext_ids=source_ext_ids,
            importance=encoded.importance,
            copy_keys=None if self.copy_scores is None else self.copy_scores.keys(encoded.states),
            copy_words=self.previous_words.embed_positions(encoded.states),
        )
        return EncoderDecoderState(memory, self.decoder.start(encoded.last_states))

    def decode(self, state: EncoderDecoderState, previous_ids: Tensor) -> Tensor:
        """Return the (B, T, H) decoder states for (B, T) previous words (teacher forcing)."""
        memory = state.memory
        words = self.dropout(self.previous_words(previous_ids, memory.copy_words))  # (B, T, E)
        hidden = self.decoder(words, memory, state.decoder)
        outputs: Tensor = self.dropout(hidden)
        return outputs

    def log_probs(
        self, outputs: Tensor, memory: SourceMemory, target_ids: Tensor, label_smoothing: float
    ) -> Tensor:
        """Return the (B, T) log-probabilities of targets, generated or copied.

        A model that cannot copy scores UNK in place of OOV words. A model with a shortlist scores
        UNK in place of vocabulary words that are not on the shortlist; the papers on shortlists do
        not define this case.
        """
        ext_ids = memory.ext_ids
        if isinstance(self.output, ShortlistOutput):
            shortlists = self.output.build_shared_shortlists(ext_ids)  # (M, W)
            vocab_logits = self.output.score_shared(outputs, shortlists)  # (B, T, W)
            # From here on, ids are columns of the shortlist.
            target_ids = self.output.to_columns(target_ids, shortlists, default=UNK)
            ext_ids = self.output.to_columns(ext_ids, shortlists, default=PAD)
        else:
            vocab_logits = self.output(outputs)  # (B, T, V)
        if self.copy_scores is None:
            copy_logits = None
            target_ids = torch.where(target_ids < vocab_logits.size(-1), target_ids, UNK)
        else:
            copy_logits = self.copy_scores(outputs, memory.copy_keys)  # (B, T, S)
        return dispatch.target_log_probs(
            vocab_logits, copy_logits, memory.valid, ext_ids, target_ids, label_smoothing
        )

    def start(
        self, source_ids: Tensor, source_lengths: Tensor, source_ext_ids: Tensor
    ) -> EncoderDecoderState:
        """Encode sources and build their shortlists; return the state for the first `step`."""
        state = self.encode(source_ids, source_lengths, source_ext_ids)
        if not isinstance(self.output, ShortlistOutput):
            return state
        shortlists = self.output.build_source_shortlists(source_ext_ids)
        return replace(state, memory=replace(state.memory, shortlists=shortlists))

    def step(
        self, state: EncoderDecoderState, previous_ids: Tensor
    ) -> tuple[StepLogits, EncoderDecoderState]:
        """Run one decoder step on (B,) extended ids of the previous words."""
        memory = state.memory
        previous_ids = self._use_most_probable_positions(state, previous_ids).unsqueeze(1)
        word = self.previous_words(previous_ids, memory.copy_words).squeeze(1)  # (B, E)
        decoder_state, _, attention = self.decoder.step(word, memory, state.decoder)
        hidden = decoder_state.hidden  # (B, H)
        if isinstance(self.output, ShortlistOutput) and memory.shortlists is not None:
            vocab_logits = self.output.score_by_source(hidden, memory.shortlists)  # (B, W + S)
        else:
            vocab_logits = self.output(hidden)  # (B, V)
        copy_logits = None
        if self.copy_scores is not None:
            copy_scores = self.copy_scores(hidden.unsqueeze(1), memory.copy_keys)  # (B, 1, S)
            copy_logits = copy_scores.squeeze(1)  # (B, S)
        logits = StepLogits(vocab_logits, copy_logits, attention)
        return logits, EncoderDecoderState(memory, decoder_state, copy_logits)

    def _use_most_probable_positions(
        self, state: EncoderDecoderState, previous_ids: Tensor
    ) -> Tensor:
        """Replace the (B,) ids V + i of copied words by V + j.

        Position i is the first occurrence of the word; position j is the occurrence that was copied
        with the highest probability. If a word occurs several times, the paper does not say which
        p_i embeds it. Decoding uses the most probable position, teacher forcing the first.
        """
        if state.copy_logits is None:
            return previous_ids
        V = self.previous_words.vocab_size
        is_word = (state.memory.ext_ids == previous_ids.unsqueeze(1)) & state.memory.valid  # (B, S)
        position = state.copy_logits.masked_fill(~is_word, -torch.inf).argmax(dim=1)  # (B,)
        return torch.where(previous_ids < V, previous_ids, V + position)
