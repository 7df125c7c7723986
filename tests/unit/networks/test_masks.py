import torch
from hypothesis import given
from hypothesis import strategies as st

from readagain.networks.masks import (
    concat_windows,
    gather_last_states,
    masked_softmax,
    reverse_sequences,
    valid_positions,
)


def test_valid_positions_marks_real_words():
    assert valid_positions(torch.tensor([2, 0]), 3).tolist() == [
        [True, True, False],
        [False, False, False],
    ]


def test_masked_softmax_of_equal_scores_is_uniform():
    weights = masked_softmax(torch.zeros(1, 4), torch.tensor([[True, False, True, False]]))
    torch.testing.assert_close(weights, torch.tensor([[0.5, 0.0, 0.5, 0.0]]))


def test_masked_softmax_of_empty_row_is_zero():
    scores = torch.zeros(1, 3, requires_grad=True)
    weights = masked_softmax(scores, torch.zeros(1, 3, dtype=torch.bool))
    weights.sum().backward()
    assert weights.tolist() == [[0.0, 0.0, 0.0]]
    assert scores.grad.tolist() == [[0.0, 0.0, 0.0]]


def test_reverse_sequences_keeps_padding_at_the_end():
    sequences = torch.tensor([[1.0, 2.0, 3.0, 0.0], [4.0, 0.0, 0.0, 0.0]]).unsqueeze(-1)
    reversed_sequences = reverse_sequences(sequences, torch.tensor([3, 1])).squeeze(-1)
    assert reversed_sequences.tolist() == [[3, 2, 1, 0], [4, 0, 0, 0]]


@given(st.lists(st.integers(0, 6), min_size=1, max_size=4))
def test_reversing_twice_returns_input(lengths):
    sequences = torch.arange(len(lengths) * 6.0).view(len(lengths), 6, 1)
    lengths = torch.tensor(lengths)
    once = reverse_sequences(sequences, lengths)
    assert torch.equal(reverse_sequences(once, lengths), sequences)


def test_last_state_of_empty_sequence_is_zero():
    states = torch.tensor([[[1.0], [2.0]], [[3.0], [4.0]], [[5.0], [6.0]]])
    assert gather_last_states(states, torch.tensor([2, 1, 0])).tolist() == [[2.0], [3.0], [0.0]]


def test_concat_windows_joins_neighbours():
    vectors = torch.tensor([[[1, 10], [2, 20], [3, 30]]])
    assert concat_windows(vectors, 2).tolist() == [[[1, 10, 2, 20], [2, 20, 3, 30]]]
