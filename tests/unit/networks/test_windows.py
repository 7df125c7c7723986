import torch

from readagain.networks.masks import full_windows, windows

ROWS = torch.tensor([[[1, 10], [2, 20], [3, 30]]])


def test_windows_concatenate_neighbours():
    assert full_windows(ROWS, 2).tolist() == [[[1, 10, 2, 20], [2, 20, 3, 30]]]


def test_windows_are_zero_beyond_the_ends():
    assert windows(ROWS, before=1, after=0).tolist() == [
        [[0, 0, 1, 10], [1, 10, 2, 20], [2, 20, 3, 30]]
    ]
    assert windows(ROWS, before=0, after=2)[0, 2].tolist() == [3, 30, 0, 0, 0, 0]
