"""Encoder-decoder network with attention and optional copying."""

from dataclasses import dataclass, replace

import torch
from torch import Tensor, nn

from readagain.networks import dispatch
from readagain.networks.decoder import AttentionDecoder, DecoderState, PreviousWords
from readagain.networks.encoders import OnePassEncoder, ReadAgainEncoder
from readagain.networks.layers import WordEmbedding
from readagain.networks.network import Network, NetworkState, SourceMemory, StepLogits
from readagain.networks.outputs import CopyScorer, VocabularyOutput
from readagain.networks.shortlist import ShortlistOutput
from readagain.text.vocab import PAD, UNK


@dataclass(frozen=True)
class StepState(NetworkState):
    """Decoder state: encoded sources, recurrent state and copy logits of the previous step."""

    decoder: DecoderState
    copy_logits: Tensor | None = None


class EncoderDecoder(Network[StepState]):
    """Encoder, attention decoder and output layer.

    Dropout is applied to the embeddings of source, summary and copied words, to the states of each
    pass, and to decoder states before the output layer. It is not applied inside a recurrence, to
    gates or to attention weights.
    """

    def __init__(
        self,
        *,
        source_embedding: WordEmbedding,
        encoder: OnePassEncoder | ReadAgainEncoder,
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

    def encode(
        self, source_ids: Tensor, source_lengths: Tensor, source_ext_ids: Tensor
    ) -> StepState:
        """Encode sources and return the state before the first word."""
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
            copy_words=self.previous_words.embed_positions(encoded.states),
        )
        return StepState(memory, self.decoder.start(encoded.last))

    def decode(self, state: StepState, previous_ids: Tensor) -> Tensor:
        """Return the (B, T, H) decoder states for (B, T) previous words (teacher forcing)."""
        memory = state.memory
        words = self.dropout(self.previous_words(previous_ids, memory.copy_words))  # (B, T, E)
        hidden, _, _ = self.decoder(words, memory.keys, memory.states, memory.valid, state.decoder)
        outputs: Tensor = self.dropout(hidden)
        return outputs

    def log_probs(
        self, outputs: Tensor, memory: SourceMemory, target_ids: Tensor, label_smoothing: float
    ) -> Tensor:
        """Return the (B, T) log-probabilities of targets, generated or copied."""
        ext_ids = memory.ext_ids
        if isinstance(self.output, ShortlistOutput):
            shortlists = self.output.shared_shortlists(ext_ids)
            vocab_logits = self.output.score_shared(outputs, shortlists)  # (B, T, W)
            # From here on, ids are columns of the shortlist. Not in the paper: UNK replaces
            # summary words that are not on the shortlist.
            target_ids = shortlists.to_columns(target_ids, absent=UNK)
            ext_ids = shortlists.to_columns(ext_ids, absent=PAD)
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
    ) -> StepState:
        """Encode sources for `step`, with their shortlists."""
        state = self.encode(source_ids, source_lengths, source_ext_ids)
        if not isinstance(self.output, ShortlistOutput):
            return state
        shortlist = self.output.prepare(source_ext_ids)
        return replace(state, memory=replace(state.memory, shortlist=shortlist))

    def step(self, state: StepState, previous_ids: Tensor) -> tuple[StepLogits, StepState]:
        """Compute the logits of the next words.

        Args:
            state: state after the previous step, or from `start`.
            previous_ids: (B,) extended ids of the previous words; BOS in the first step.
        """
        memory = state.memory
        previous_ids = self._use_most_probable_positions(state, previous_ids).unsqueeze(1)
        word = self.previous_words(previous_ids, memory.copy_words).squeeze(1)  # (B, E)
        decoder, _, attention = self.decoder.step(
            word, memory.keys, memory.states, memory.valid, state.decoder
        )
        if isinstance(self.output, ShortlistOutput) and memory.shortlist is not None:
            vocab_logits = self.output.score(decoder.hidden, memory.shortlist)  # (B, W + S)
        else:
            vocab_logits = self.output(decoder.hidden)  # (B, V)
        copy_logits = None
        if self.copy_scores is not None:
            hidden = decoder.hidden.unsqueeze(1)  # (B, 1, H)
            copy_logits = self.copy_scores(hidden, memory.copy_keys).squeeze(1)  # (B, S)
        logits = StepLogits(vocab_logits, copy_logits, attention)
        return logits, StepState(memory, decoder, copy_logits)

    def _use_most_probable_positions(self, state: StepState, previous_ids: Tensor) -> Tensor:
        """Map id V + i of a copied word to V + j; i is its first, j its most probable position.

        The paper does not define the embedding p_i of a word that occurs at several positions.
        Decoding uses the most probable position, teacher forcing the first.
        """
        if state.copy_logits is None:
            return previous_ids
        V = self.previous_words.vocab_size
        is_word = (state.memory.ext_ids == previous_ids.unsqueeze(1)) & state.memory.valid
        position = state.copy_logits.masked_fill(~is_word, -torch.inf).argmax(dim=1)  # (B,)
        return torch.where(previous_ids < V, previous_ids, V + position)
