"""How far the second reading's state moves at each word: importance where nothing weighs words."""

import numpy as np

from readagain.search.model import Bools, Floats


def state_movement(states: Floats, valid: Bools, *, num_directions: int) -> Floats:
    """Measure how far the state moves at each word, as a share of its largest move in the text.

    m_i = |h²_i - h²_{i-1}|, divided by the largest m of the text. A reading begins at zero, in each
    sentence anew. Read from both ends, each half of a state is compared with the word that its own
    direction read before, and |.| is taken over both halves.

    An LSTM has no α to average. Its second state is what the decoder looks at, so a word that
    leaves it where it was has added nothing there, as a word with α = 0 does in the GRU.

    Args:
        states: (B, N, L, H) second-read states; forward in the first half of H, then backward.
        valid: (B, N, L) where a word stands.
        num_directions: 1, or 2 for a reading from both ends.

    Returns:
        (B, N, L) shares from 0 to 1, 0 at padding.
    """
    states = np.where(valid[..., None], states, 0.0)
    moves = states.copy()
    H = states.shape[-1] // num_directions
    moves[:, :, 1:, :H] -= states[:, :, :-1, :H]
    if num_directions == 2:
        moves[:, :, :-1, H:] -= states[:, :, 1:, H:]
    lengths = np.where(valid, np.linalg.norm(moves, axis=-1), 0.0)  # (B, N, L)
    largest = lengths.max(axis=(1, 2), keepdims=True, initial=0.0)
    shares: Floats = lengths / np.where(largest > 0, largest, 1.0)
    return shares
