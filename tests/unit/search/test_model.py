"""Batches of sources."""

import numpy as np

from readagain.search.model import SourceBatch


def test_source_valid_marks_real_words():
    batch = SourceBatch(
        source_ids=np.zeros((2, 3, 4), int),
        lengths=np.array([[4, 1, 0], [2, 0, 3]]),
        source_ext_ids=np.zeros((2, 12), int),
    )
    assert batch.source_valid.sum(axis=1).tolist() == [5, 5]
    assert np.flatnonzero(batch.source_valid[0]).tolist() == [0, 1, 2, 3, 4]
    assert np.flatnonzero(batch.source_valid[1]).tolist() == [0, 1, 8, 9, 10]
