"""`BeamLayout`: hypotheses in a grid with one row per document."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from readagain.engine.onnx_model import BeamLayout


def test_small_beam_repeats_its_first_row():
    layout = BeamLayout.of(np.array([0, 0, 0, 1, 2, 2]))
    assert layout.grid.tolist() == [[0, 1, 2], [3, 3, 3], [4, 5, 4]]
    assert layout.place.tolist() == [0, 1, 2, 3, 6, 7]


def test_rows_of_one_document_keep_their_order():
    layout = BeamLayout.of(np.array([0, 0, 0]))
    assert layout.grid.tolist() == [[0, 1, 2]]
    assert layout.place.tolist() == [0, 1, 2]


@given(st.lists(st.integers(1, 5), min_size=1, max_size=8))
def test_grid_is_inverted_by_place(widths):
    document = np.repeat(np.arange(len(widths)), widths)
    layout = BeamLayout.of(document)
    rows = np.arange(len(document))
    assert layout.grid.shape == (len(widths), max(widths))
    np.testing.assert_array_equal(rows[layout.grid].reshape(-1)[layout.place], rows)
    np.testing.assert_array_equal(
        document[layout.grid], np.repeat(np.arange(len(widths))[:, None], max(widths), axis=1)
    )
