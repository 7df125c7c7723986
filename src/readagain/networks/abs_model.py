"""ABS: a feed-forward language model over the last words, shown the source before each one."""

from dataclasses import dataclass

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from readagain.networks.affine import Affine
from readagain.networks.decoders.previous_words import PreviousWords
from readagain.networks.embedding import WordEmbedding
from readagain.networks.encoders.attentive_bag import AttentiveBag
from readagain.networks.encoders.sentences import only_sentence
from readagain.networks.masks import valid_positions
from readagain.networks.network import Network, SourceMemory, StepLogits, generated_log_probs
from readagain.networks.outputs.softmax import VocabularyOutput
from readagain.networks.windows import full_windows
from readagain.text.vocab import BOS, UNK


@dataclass(frozen=True)
class AbsState:
    """What a row needs to go on: its source, and the (B, C) words it was last fed."""

    memory: SourceMemory
    context_ids: Tensor

    def select(self, rows: Tensor) -> "AbsState":
        """Keep, drop or repeat rows: what a beam does between steps."""
        return AbsState(self.memory.select(rows), self.context_ids.index_select(0, rows))

    def reorder(self, rows: Tensor) -> "AbsState":
        """Do the same with rows that stay with their documents; the memory stays as it is."""
        return AbsState(self.memory, self.context_ids.index_select(0, rows))


class AbsModel(Network[AbsState]):
    """Write each word from the C words before it and from what they make of the source.

    p(y_{t+1} | y_c, x) ∝ exp(V h + W enc(x, y_c)),  h = tanh(U ỹ_c)    (Rush et al. 2015, 3.1)

    ỹ_c lays the embeddings of the last C words end to end; before the first word stands START, C
    times. V and W are the two halves of one matrix. U, V and W have biases (a footnote of the
    paper). Since a word depends on C words and not on a state, all words of a known summary are
    scored at once.

    Args:
        source_embedding: F, as wide as the hidden layer.
        encoder: enc, the attention-based encoder.
        previous_words: E.
        output: V and W side by side.
        context_words: C.
        embedding_size: width of a summary word, E below.
        hidden_size: width of the hidden layer, H below.
        dropout: share of embeddings, hidden layer and contexts that training leaves out; the
            paper has none.
    """

    def __init__(
        self,
        *,
        source_embedding: WordEmbedding,
        encoder: AttentiveBag,
        previous_words: PreviousWords,
        output: VocabularyOutput,
        context_words: int,
        embedding_size: int,
        hidden_size: int,
        dropout: float,
    ) -> None:
        super().__init__()
        self.source_embedding = source_embedding
        self.encoder = encoder
        self.previous_words = previous_words
        self.hidden = Affine(context_words * embedding_size, hidden_size)  # U
        self.output = output
        self.context_words = context_words
        self.dropout = nn.Dropout(dropout)

    def read(
        self, source_ids: Tensor, source_lengths: Tensor, source_ext_ids: Tensor
    ) -> SourceMemory:
        """Read sources of one sequence, shaped as in `Network`."""
        words, lengths = only_sentence(self.source_embedding(source_ids), source_lengths)
        valid = valid_positions(lengths, words.size(1))  # (B, S)
        words = self.dropout(words).masked_fill(~valid.unsqueeze(2), 0.0)  # (B, S, H)
        keys, states = self.encoder.read(words, lengths)
        return SourceMemory(states=states, valid=valid, keys=keys, ext_ids=source_ext_ids)

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
        fed_ids = F.pad(previous_ids, (self.context_words - 1, 0), value=BOS)  # (B, C - 1 + T)
        logits, _ = self._score(fed_ids, memory)
        return generated_log_probs(logits, memory, target_ids, label_smoothing)

    def start(self, source_ids: Tensor, source_lengths: Tensor, source_ext_ids: Tensor) -> AbsState:
        """Read sources, and begin after nothing but START."""
        memory = self.read(source_ids, source_lengths, source_ext_ids)
        shape = (source_ids.size(0), self.context_words)
        return AbsState(memory, torch.full(shape, BOS, device=source_ids.device))

    def step(self, state: AbsState, previous_ids: Tensor) -> tuple[StepLogits, AbsState]:
        """Feed (B,) extended ids, START at first; return the scores of what may follow."""
        context_ids = torch.cat([state.context_ids[:, 1:], previous_ids.unsqueeze(1)], dim=1)
        logits, weights = self._score(context_ids, state.memory)  # (B, 1, ...)
        step_logits = StepLogits(logits.squeeze(1), None, weights.squeeze(1))
        return step_logits, AbsState(state.memory, context_ids)

    def _score(self, fed_ids: Tensor, memory: SourceMemory) -> tuple[Tensor, Tensor]:
        """Score what follows every C of (B, C - 1 + T) words.

        Returns:
            (B, T, V) logits and the (B, T, S) weights of the source's words.
        """
        known_ids = torch.where(fed_ids < self.previous_words.vocab_size, fed_ids, UNK)
        words = self.dropout(self.previous_words(known_ids, None))  # (B, C - 1 + T, E)
        hidden = torch.tanh(self.hidden(full_windows(words, self.context_words)))  # (B, T, H)
        contexts, weights = self.encoder.look(known_ids, memory.keys, memory.states, memory.valid)
        seen = self.dropout(torch.cat([hidden, contexts], dim=2))  # (B, T, 2H)
        return self.output(seen), weights
