"""`BeamLayout`: hypotheses in a grid with one row per document."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from readagain.engine.onnx_model import BeamLayout


def test_short_row_repeats_its_first_hypothesis():
    layout = BeamLayout.of(np.array([0, 0, 0, 1, 2, 2]))
    assert layout.grid.tolist() == [[0, 1, 2], [3, 3, 3], [4, 5, 4]]
    assert layout.grid_position.tolist() == [0, 1, 2, 3, 6, 7]


def test_hypotheses_of_one_document_keep_their_order():
    layout = BeamLayout.of(np.array([0, 0, 0]))
    assert layout.grid.tolist() == [[0, 1, 2]]
    assert layout.grid_position.tolist() == [0, 1, 2]


@given(st.lists(st.integers(1, 5), min_size=1, max_size=8))
def test_place_finds_each_hypothesis_in_the_grid(beam_sizes):
    document = np.repeat(np.arange(len(beam_sizes)), beam_sizes)
    layout = BeamLayout.of(document)
    hypotheses = np.arange(len(document))
    assert layout.grid.shape == (len(beam_sizes), max(beam_sizes))
    np.testing.assert_array_equal(layout.grid.reshape(-1)[layout.grid_position], hypotheses)
    np.testing.assert_array_equal(
        document[layout.grid],
        np.repeat(np.arange(len(beam_sizes))[:, None], max(beam_sizes), axis=1),
    )
