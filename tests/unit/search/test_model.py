import numpy as np
import pytest

from readagain.errors import ShapeError
from readagain.search.model import SourceBatch


def batch(**changes):
    arrays = {
        "source_ids": np.zeros((2, 3, 4), int),
        "lengths": np.array([[4, 1, 0], [2, 0, 3]]),
        "source_ext_ids": np.zeros((2, 12), int),
    }
    return SourceBatch(**(arrays | changes))


def test_source_valid_marks_real_words():
    assert batch().source_valid.sum(axis=1).tolist() == [5, 5]
    assert np.flatnonzero(batch().source_valid[0]).tolist() == [0, 1, 2, 3, 4]
    assert np.flatnonzero(batch().source_valid[1]).tolist() == [0, 1, 8, 9, 10]


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"source_ids": np.zeros((2, 4))}, r"source_ids: has shape \(2, 4\); expected \(B, N, L\)"),
        (
            {"lengths": np.zeros(2)},
            r"lengths: has shape \(2,\); expected \(2, 3\) for source",
        ),
        ({"source_ext_ids": np.zeros((2, 4))}, r"source_ext_ids: has shape .* expected \(2, 12\)"),
    ],
)
def test_source_batch_rejects_wrong_shapes(changes, message):
    with pytest.raises(ShapeError, match=message):
        batch(**changes)
