"""The convolutional attentive encoder of RAS: each word with its place and its neighbours."""

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from readagain.networks.windows import windows


class ConvAttentiveEncoder(nn.Module):
    """Give each source word a vector of itself, its place and its neighbours.

    a_i = x_i + l_i;  z_ik = Σ_h a_{i+h} . b^k_h    (Chopra, Auli and Rush 2016, section 3.1)

    Attention compares z_i with the decoder state, so there are as many filters as a state is wide.
    Beyond the ends of the source stand zeros.

    Args:
        input_size: width of a word embedding, E below.
        hidden_size: width of a decoder state, H below.
        window: words that a filter sees, q.
        num_positions: places with an embedding l_i of their own; later ones share the last.
    """

    def __init__(
        self, *, input_size: int, hidden_size: int, window: int, num_positions: int
    ) -> None:
        super().__init__()
        self.window = window
        self.positions = nn.Parameter(torch.empty(num_positions, input_size))  # l
        self.filters = nn.Linear(window * input_size, hidden_size, bias=False)  # B

    def forward(self, words: Tensor, valid: Tensor) -> Tensor:
        """Return the (B, S, H) vectors z of (B, S, E) words."""
        S = words.size(1)
        place = torch.arange(S, device=words.device).clamp_max(self.positions.size(0) - 1)
        placed = words + F.embedding(place, self.positions).to(words.dtype)  # (B, S, E)
        placed = placed.masked_fill(~valid.unsqueeze(2), 0.0)
        before = self.window // 2
        around = windows(placed, before=before, after=self.window - 1 - before)
        aggregated: Tensor = self.filters(around)  # (B, S, H)
        return aggregated
