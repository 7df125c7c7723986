import torch
from hypothesis import given
from hypothesis import strategies as st

from readagain.networks.masks import (
    last_states,
    masked_softmax,
    reverse_rows,
    valid_positions,
    windows,
)

ROWS = torch.tensor([[[1, 10], [2, 20], [3, 30]]])


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


def test_reverse_rows_keeps_padding_at_the_end():
    rows = torch.tensor([[1.0, 2.0, 3.0, 0.0], [4.0, 0.0, 0.0, 0.0]]).unsqueeze(-1)
    reversed_rows = reverse_rows(rows, torch.tensor([3, 1])).squeeze(-1)
    assert reversed_rows.tolist() == [[3, 2, 1, 0], [4, 0, 0, 0]]


@given(st.lists(st.integers(0, 6), min_size=1, max_size=4))
def test_reverse_rows_twice_returns_input(lengths):
    rows = torch.arange(len(lengths) * 6.0).view(len(lengths), 6, 1)
    lengths = torch.tensor(lengths)
    assert torch.equal(reverse_rows(reverse_rows(rows, lengths), lengths), rows)


def test_last_state_of_empty_row_is_zero():
    states = torch.tensor([[[1.0], [2.0]], [[3.0], [4.0]], [[5.0], [6.0]]])
    assert last_states(states, torch.tensor([2, 1, 0])).tolist() == [[2.0], [3.0], [0.0]]


def test_windows_concatenate_neighbours():
    assert windows(ROWS, 2).tolist() == [[[1, 10, 2, 20], [2, 20, 3, 30]]]
