"""How far the second reading's state moves, on states one can follow on paper."""

import numpy as np
import pytest

from readagain.engine.movement import state_movement


def moved(states, lengths, *, num_directions=1):
    """Measure (B, N, L, H) states of sentences of so many words."""
    states = np.array(states, dtype=np.float32)
    valid = np.arange(states.shape[2]) < np.array(lengths)[..., None]
    return state_movement(states, valid, num_directions=num_directions)


def test_a_word_that_leaves_the_state_where_it_was_has_no_importance():
    # The state goes from 0 to (3, 4), stays, goes to (3, 0), and stays: moves of 5, 0, 4 and 0.
    found = moved([[[[3, 4], [3, 4], [3, 0], [3, 0]]]], [[4]])
    assert found[0, 0].tolist() == pytest.approx([1.0, 0.0, 0.8, 0.0])


def test_each_direction_is_compared_with_the_word_it_read_before():
    # Forward 0 -> 3 -> 3, backward, from the right, 0 -> 4 -> 4: moves of 3 and 4.
    found = moved([[[[3, 4], [3, 4]]]], [[2]], num_directions=2)
    assert found[0, 0].tolist() == pytest.approx([0.75, 1.0])


def test_a_backward_reading_begins_at_the_last_word_not_at_padding():
    alone = moved([[[[1, 2], [3, 1]]]], [[2]], num_directions=2)
    padded = moved([[[[1, 2], [3, 1], [9, 9]]]], [[2]], num_directions=2)
    assert padded[0, 0].tolist() == pytest.approx([*alone[0, 0], 0.0])


def test_sentences_are_read_apart_and_measured_together():
    # The second sentence begins at zero again: moves of 2 and 1, the largest of both is 2.
    found = moved([[[[2]], [[1]]]], [[1, 1]])
    assert found[0, :, 0].tolist() == [1.0, 0.5]


def test_texts_of_a_batch_do_not_measure_each_other():
    found = moved([[[[1]]], [[[7]]]], [[1], [1]])
    assert found.ravel().tolist() == [1.0, 1.0]


def test_a_state_that_never_moves_gives_zeros():
    assert moved([[[[0, 0], [0, 0]]]], [[2]]).tolist() == [[[0.0, 0.0]]]
