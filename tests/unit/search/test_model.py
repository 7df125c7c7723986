import numpy as np
import pytest

from readagain.errors import ShapeError
from readagain.search.model import SourceBatch
from readagain.search.table import TableModel
from readagain.text.vocab import BOS, EOS


def batch(**changes):
    arrays = {
        "source_ids": np.zeros((2, 3, 4), int),
        "lengths": np.array([[4, 1, 0], [2, 0, 3]]),
        "source_ext_ids": np.zeros((2, 12), int),
    }
    return SourceBatch(**(arrays | changes))


def test_real_words_are_marked_in_every_sentence():
    assert batch().source_valid.sum(axis=1).tolist() == [5, 5]
    assert np.flatnonzero(batch().source_valid[0]).tolist() == [0, 1, 2, 3, 4]
    assert np.flatnonzero(batch().source_valid[1]).tolist() == [0, 1, 8, 9, 10]


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"source_ids": np.zeros((2, 4))}, r"source_ids has shape \(2, 4\); expected \(B, N, L\)"),
        ({"lengths": np.zeros(2)}, r"lengths has shape \(2,\); .* \(2, 3, 4\) needs \(2, 3\)"),
        ({"source_ext_ids": np.zeros((2, 4))}, r"source_ext_ids has shape .* needs \(2, 12\)"),
    ],
)
def test_arrays_that_do_not_belong_together_are_refused(changes, message):
    with pytest.raises(ShapeError, match=message):
        batch(**changes)


def test_a_table_adds_up_both_ways_to_a_word(table_model, sources_of):
    # START goes to 4 with 1/2; half is copied, evenly from 4, 9 and 4.
    model = table_model({BOS: {4: 0.5}}, copying=0.5)
    sources = sources_of([4, 9, 4])
    offered, _ = model.step(model.start(sources), np.array([BOS]), 2)
    assert offered.ids.tolist() == [[4, 9]]
    np.testing.assert_allclose(np.exp(offered.log_probs), [[1 / 4 + 1 / 3, 1 / 6]])
    np.testing.assert_allclose(np.exp(offered.end_log_probs), [1 / 4])
    assert offered.copied_from.tolist() == [[0, 1]]


def test_a_table_for_words_that_are_never_offered_is_refused():
    with pytest.raises(ShapeError, match="nothing for PAD, UNK and BOS"):
        TableModel(np.full((EOS + 2, EOS + 2), 0.2))
