import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import array_shapes, arrays

from readagain.search.ranking import best_columns, in_order

few_values = st.sampled_from([-np.inf, -2.0, -1.0, -0.5])


@given(
    arrays(float, array_shapes(min_dims=2, max_dims=2, max_side=9), elements=few_values), st.data()
)
def test_the_best_are_those_of_a_stable_sort(scores, data):
    count = data.draw(st.integers(1, scores.shape[1]))
    expected = np.argsort(-scores, axis=1, kind="stable")[:, :count]
    assert best_columns(scores, count).tolist() == expected.tolist()


def test_equals_are_put_in_the_order_of_their_ids(offer):
    log_probs = np.array([[-1.0, -2.0, -2.0, -3.0], [-1.0, -2.0, -3.0, -4.0]])
    offered = offer(
        [[9, 7, 5, 6], [9, 7, 5, 6]], copied_from=[[0, 1, 2, 3]] * 2, log_probs=log_probs
    )
    settled = in_order(offered)
    assert settled.ids.tolist() == [[9, 5, 7, 6], [9, 7, 5, 6]]
    assert settled.copied_from.tolist() == [[0, 2, 1, 3], [0, 1, 2, 3]]


def test_a_model_that_offers_out_of_order_is_put_right(offer):
    settled = in_order(offer([4, 5, 6], log_probs=np.array([[-3.0, -1.0, -2.0]])))
    assert settled.ids.tolist() == [[5, 6, 4]]
    assert settled.log_probs.tolist() == [[-1.0, -2.0, -3.0]]


def test_candidates_in_order_are_left_alone(offer):
    offered = offer([4, 5, 6])
    assert in_order(offered) is offered
