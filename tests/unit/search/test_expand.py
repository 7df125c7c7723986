"""The best options of every document, chosen among those of all."""

import numpy as np

from readagain.search.expand import Continuations, choose
from readagain.search.live import ActiveHypotheses


def chosen(document, ranking, widths):
    """Choose, and tell for each document the row and column of what was chosen."""
    rows, columns = np.shape(ranking)
    live = ActiveHypotheses(
        document=np.array(document),
        words=np.zeros((rows, 1), dtype=np.int64),
        copied_from=np.full((rows, 1), -1),
        log_probs=np.zeros(rows),
        coverage=None,
    )
    scores = np.array(ranking, dtype=np.float64)
    nothing = np.empty(0)
    options = Continuations(
        candidates=None,
        log_probs=scores,
        scores=scores,
        ranking=scores,
        stuck=nothing.astype(np.int64),
        stuck_scores=nothing,
        coverage=None,
        over_attention=None,
    )
    choice = choose(live, options, np.array(widths))
    return choice, [
        [divmod(int(place), columns) for place in places[is_real]]
        for places, is_real in zip(choice.places, choice.ends | choice.grows, strict=True)
    ]


def test_each_document_chooses_among_its_own_rows_however_many_others_have():
    ranking = [[-9, -1], [-2, -8], [-3, -7], [-1, -4], [-2, -6]]  # ending, one word
    choice, places = chosen([0, 0, 0, 2, 2], ranking, [3, 9, 2])
    assert choice.documents.tolist() == [0, 2]
    assert places == [[(0, 1), (1, 0), (2, 0)], [(3, 0), (4, 0)]]
    assert choice.ends.tolist() == [[False, True, True], [True, True, False]]
    assert choice.grows.tolist() == [[True, False, False], [False, False, False]]


def test_a_beam_that_is_wider_than_all_there_is_takes_all_there_is():
    ranking = [[-1, -2, -np.inf], [-2, -1, -3]] * 5
    _, places = chosen(np.arange(10), ranking, [9] * 10)
    assert places[0] == [(0, 0), (0, 1)]
    assert places[9] == [(9, 1), (9, 0), (9, 2)]
    _, (together,) = chosen([0, 0], ranking[:2], [9])
    assert together == [(0, 0), (1, 1), (0, 1), (1, 0), (1, 2)]
