"""ABS: a feed-forward language model with an attention-based encoder."""

from dataclasses import dataclass

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from readagain.networks.decoder import PreviousWords
from readagain.networks.layers import Affine, WordEmbedding
from readagain.networks.masks import masked_softmax, valid_positions, windows
from readagain.networks.network import Network, NetworkState, SourceMemory, StepLogits
from readagain.networks.outputs import VocabularyOutput
from readagain.text.vocab import BOS, UNK


class AttentiveBag(nn.Module):
    """Attention over source words, with the last summary words as query (enc3).

    p ∝ exp(x̃ P ỹ'_c);  x̄_i = mean of x̃_{i-Q} ... x̃_{i+Q};  enc3(x, y_c) = pᵀ x̄

    ỹ'_c are the embeddings of the last C words in a separate table, G. The paper divides the sum
    of 2Q + 1 words by Q. The mean differs only by a factor, which W can learn, and allows Q = 0.
    The source is padded with zeros.

    The arguments are those of `AbsModel`.
    """

    def __init__(
        self,
        *,
        vocab_size: int,
        embedding_size: int,
        context_words: int,
        hidden_size: int,
        smoothing: int,
    ) -> None:
        super().__init__()
        self.smoothing = smoothing
        self.context_words = context_words
        self.embedding = WordEmbedding(vocab_size, embedding_size)  # G
        self.query = nn.Linear(context_words * embedding_size, hidden_size, bias=False)  # P

    def forward(self, words: Tensor) -> tuple[Tensor, Tensor]:
        """Return the (B, S, H) keys and the (B, S, H) smoothed states of (B, S, H) words."""
        window = 2 * self.smoothing + 1
        smoothed = F.avg_pool1d(
            words.transpose(1, 2), window, stride=1, padding=self.smoothing
        ).transpose(1, 2)  # (B, S, H)
        return words, smoothed

    def attend(
        self, input_ids: Tensor, keys: Tensor, states: Tensor, valid: Tensor
    ) -> tuple[Tensor, Tensor]:
        """Compute attention for each window of C words of (B, C - 1 + T) words.

        Returns:
            (B, T, H) contexts and (B, T, S) attention weights.
        """
        last_words = windows(self.embedding(input_ids), self.context_words)  # (B, T, C * E)
        query = self.query(last_words)  # (B, T, H)
        scores = torch.bmm(query, keys.transpose(1, 2))  # (B, T, S)
        weights = masked_softmax(scores, valid.unsqueeze(1))
        return torch.bmm(weights, states), weights


@dataclass(frozen=True)
class AbsState(NetworkState):
    """Decoder state: encoded sources and the (B, C) last words."""

    context_ids: Tensor


class AbsModel(Network[AbsState]):
    """ABS network: a language model over the last C words and an attention context.

    p(y_{t+1} | y_c, x) ∝ exp(V h + W enc(x, y_c)),  h = tanh(U ỹ_c)    (Rush et al. 2015, 3.1)

    ỹ_c concatenates the embeddings of the last C words; BOS is used before the first word. V and
    W are the two halves of one matrix. U, V and W have biases, as a footnote of the paper says.
    There is no recurrence, so all words of a reference summary are scored at once.

    Args:
        source_vocab_size: size of the source vocabulary.
        vocab_size: size of the summary vocabulary.
        embedding_size: width E of a summary word.
        hidden_size: width H of the hidden layer and of a source word.
        context_words: C.
        smoothing: number Q of neighbours on either side that the encoder averages over.
        dropout: dropout rate of embeddings, hidden layer and contexts; 0 in the paper.
    """

    def __init__(
        self,
        *,
        source_vocab_size: int,
        vocab_size: int,
        embedding_size: int,
        hidden_size: int,
        context_words: int,
        smoothing: int,
        dropout: float,
    ) -> None:
        super().__init__()
        self.context_words = context_words
        self.source_embedding = WordEmbedding(source_vocab_size, hidden_size)  # F
        self.encoder = AttentiveBag(
            vocab_size=vocab_size,
            embedding_size=embedding_size,
            context_words=context_words,
            hidden_size=hidden_size,
            smoothing=smoothing,
        )
        self.previous_words = PreviousWords(vocab_size, embedding_size)  # E
        self.hidden = Affine(context_words * embedding_size, hidden_size)  # U
        self.output = VocabularyOutput(2 * hidden_size, vocab_size)  # V and W
        self.dropout = nn.Dropout(dropout)

    def encode(
        self, source_ids: Tensor, source_lengths: Tensor, source_ext_ids: Tensor
    ) -> AbsState:
        """Encode sources of one sentence and return the state before the first word."""
        words = self.source_embedding(source_ids.squeeze(1))  # (B, S, H)
        valid = valid_positions(source_lengths.squeeze(1), words.size(1))  # (B, S)
        words = self.dropout(words).masked_fill(~valid.unsqueeze(2), 0.0)
        keys, states = self.encoder(words)
        memory = SourceMemory(states=states, valid=valid, keys=keys, ext_ids=source_ext_ids)
        return AbsState(memory, source_ids.new_full((words.size(0), self.context_words), BOS))

    def decode(self, state: AbsState, previous_ids: Tensor) -> Tensor:
        """Return the (B, T, 2H) hidden layer and context for (B, T) previous words."""
        input_ids = F.pad(previous_ids, (self.context_words - 1, 0), value=BOS)  # (B, C - 1 + T)
        outputs, _ = self._score_inputs(input_ids, state.memory)
        return outputs

    def step(self, state: AbsState, previous_ids: Tensor) -> tuple[StepLogits, AbsState]:
        """Feed (B,) extended ids, first BOS; return the logits of the next word."""
        context_ids = torch.cat([state.context_ids[:, 1:], previous_ids.unsqueeze(1)], dim=1)
        outputs, weights = self._score_inputs(context_ids, state.memory)  # (B, 1, ...)
        logits = self.output(outputs.squeeze(1))  # (B, V)
        return StepLogits(logits, None, weights.squeeze(1)), AbsState(state.memory, context_ids)

    def _score_inputs(self, input_ids: Tensor, memory: SourceMemory) -> tuple[Tensor, Tensor]:
        """Compute the inputs of the output layer for each window of C of (B, C - 1 + T) words.

        Returns:
            (B, T, 2H) hidden layer and context, concatenated, and (B, T, S) attention weights.
        """
        known_ids = torch.where(input_ids < self.previous_words.vocab_size, input_ids, UNK)
        words = self.dropout(self.previous_words(known_ids))  # (B, C - 1 + T, E)
        hidden = torch.tanh(self.hidden(windows(words, self.context_words)))  # (B, T, H)
        contexts, weights = self.encoder.attend(known_ids, memory.keys, memory.states, memory.valid)
        return self.dropout(torch.cat([hidden, contexts], dim=2)), weights
