"""ABS (Rush, Chopra and Weston 2015): feed-forward language model with attention.

The letters in equations are those of that paper; in shapes they are those of docs/symbols.md.
"""

from dataclasses import dataclass

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from readagain.networks.decoder import PreviousWordEmbedding
from readagain.networks.layers import Affine, WordEmbedding
from readagain.networks.masks import concat_windows, masked_softmax, valid_positions
from readagain.networks.network import Network, NetworkState, SourceMemory, StepLogits
from readagain.networks.outputs import VocabularyOutput
from readagain.text.vocab import BOS, UNK


class AttentiveBag(nn.Module):
    """Attention over source words, with the last summary words as query (the encoder enc3).

    p ∝ exp(x̃ P ỹ'_c);  x̄_i = mean of x̃_{i-Q} ... x̃_{i+Q};  enc3(x, y_c) = pᵀ x̄

    x̃ are the embedded source words. ỹ'_c are the embeddings of the last C summary words in a
    separate table, G. The paper divides the sum of 2Q + 1 words by Q instead of taking the mean.
    This differs only by a factor, which the matrix W of `AbsModel` can learn, and the mean allows
    Q = 0. Beyond the ends of the source, x̃ is zero.

    The arguments are those of `AbsModel`.
    """

    def __init__(
        self,
        *,
        vocab_size: int,
        embedding_size: int,
        window: int,
        hidden_size: int,
        smoothing: int,
    ) -> None:
        super().__init__()
        self.smoothing = smoothing
        self.window = window
        self.embedding = WordEmbedding(vocab_size, embedding_size)  # G
        self.query = nn.Linear(window * embedding_size, hidden_size, bias=False)  # P

    def forward(self, words: Tensor) -> Tensor:
        """Return the means x̄ over neighbours of (B, S, H) embedded source words: (B, S, H)."""
        size = 2 * self.smoothing + 1
        return F.avg_pool1d(words.mT, size, stride=1, padding=self.smoothing).mT

    def attend(self, input_ids: Tensor, memory: SourceMemory) -> tuple[Tensor, Tensor]:
        """Return the (B, T, H) contexts and (B, T, S) attention weights of T steps.

        `input_ids` is (B, C - 1 + T), summary words; each window of C words is the query of a step.
        The keys of `memory` are x̃, its states x̄.
        """
        last_words = concat_windows(self.embedding(input_ids), self.window)  # (B, T, C * E)
        query = self.query(last_words)  # (B, T, H)
        scores = torch.bmm(query, memory.keys.transpose(1, 2))  # (B, T, S)
        weights = masked_softmax(scores, memory.valid.unsqueeze(1))
        return torch.bmm(weights, memory.states), weights  # (B, T, H), (B, T, S)


@dataclass(frozen=True)
class AbsState(NetworkState):
    """Encoded sources, and the (B, C) ids of the last words."""

    last_ids: Tensor


class AbsModel(Network[AbsState]):
    """ABS network: it scores words from the last C words and an attention context.

    p(y_{t+1} | y_c, x) ∝ exp(V h + W enc(x, y_c)),  h = tanh(U ỹ_c)    (section 3.1)

    ỹ_c concatenates the embeddings of the last C words; before the first word, they are BOS. The
    matrices V and W are the two halves of the output layer. U, V and W have biases, as a footnote
    of the paper says. There is no recurrence, so all words of a reference summary are scored at
    once.

    Args:
        embedding_size: width E of the embedding of a summary word.
        hidden_size: width H of the hidden layer and of source embeddings.
        window: number C of previous words that the network sees.
        smoothing: number Q of neighbours on each side over which source words are averaged.
        dropout: dropout rate of embeddings, hidden layer and contexts; 0 in the paper.
    """

    def __init__(
        self,
        *,
        source_vocab_size: int,
        vocab_size: int,
        embedding_size: int,
        hidden_size: int,
        window: int,
        smoothing: int,
        dropout: float,
    ) -> None:
        super().__init__()
        self.window = window
        self.source_embedding = WordEmbedding(source_vocab_size, hidden_size)  # F
        self.encoder = AttentiveBag(
            vocab_size=vocab_size,
            embedding_size=embedding_size,
            window=window,
            hidden_size=hidden_size,
            smoothing=smoothing,
        )
        self.previous_words = PreviousWordEmbedding(vocab_size, embedding_size)  # E
        self.hidden = Affine(window * embedding_size, hidden_size)  # U
        self.output = VocabularyOutput(2 * hidden_size, vocab_size)  # V and W
        self.dropout = nn.Dropout(dropout)

    def encode(
        self, source_ids: Tensor, source_lengths: Tensor, source_ext_ids: Tensor
    ) -> AbsState:
        """Encode sources of one sentence (N = 1) and return the state before the first word."""
        words = self.source_embedding(source_ids.squeeze(1))  # (B, S, H)
        valid = valid_positions(source_lengths.squeeze(1), words.size(1))  # (B, S)
        words = self.dropout(words).masked_fill(~valid.unsqueeze(2), 0.0)
        states = self.encoder(words)  # (B, S, H)
        memory = SourceMemory(states=states, valid=valid, keys=words, ext_ids=source_ext_ids)
        return AbsState(memory, source_ids.new_full((words.size(0), self.window), BOS))

    def decode(self, state: AbsState, previous_ids: Tensor) -> Tensor:
        """Return the (B, T, 2H) inputs of the output layer for (B, T) previous words."""
        input_ids = F.pad(previous_ids, (self.window - 1, 0), value=BOS)  # (B, C - 1 + T)
        outputs, _ = self._hidden_and_context(input_ids, state.memory)
        return outputs

    def step(self, state: AbsState, previous_ids: Tensor) -> tuple[StepLogits, AbsState]:
        """Run one decoder step on (B,) extended ids of the previous words."""
        new_ids = previous_ids.unsqueeze(1)  # (B, 1)
        last_ids = torch.cat([state.last_ids[:, 1:], new_ids], dim=1)  # (B, C)
        # (B, 1, 2H), (B, 1, S)
        outputs, weights = self._hidden_and_context(last_ids, state.memory)
        logits = self.output(outputs.squeeze(1))  # (B, V)
        return StepLogits(logits, None, weights.squeeze(1)), AbsState(state.memory, last_ids)

    def _hidden_and_context(self, input_ids: Tensor, memory: SourceMemory) -> tuple[Tensor, Tensor]:
        """Return (B, T, 2H) hidden layer and context, concatenated, and (B, T, S) attention.

        `input_ids` is (B, C - 1 + T), extended ids; each of T steps uses a window of C words.
        """
        known_ids = torch.where(input_ids < self.previous_words.vocab_size, input_ids, UNK)
        words = self.dropout(self.previous_words(known_ids))  # (B, C - 1 + T, E)
        last_words = concat_windows(words, self.window)  # (B, T, C * E)
        hidden = torch.tanh(self.hidden(last_words))  # (B, T, H)
        contexts, weights = self.encoder.attend(known_ids, memory)
        return self.dropout(torch.cat([hidden, contexts], dim=2)), weights
