"""Expansion step of beam search: sorting, bans and selection."""

import numpy as np
import pytest

from readagain.search.constraints import Constraint, ForcedPrefix
from readagain.search.expansion import (
    Continuations,
    find_allowed,
    select_continuations,
    sort_candidates,
)
from readagain.search.hypotheses import ActiveHypotheses


def test_sort_candidates_breaks_ties_by_id(make_candidates):
    log_probs = np.array([[-1.0, -2.0, -2.0, -3.0], [-1.0, -2.0, -3.0, -4.0]])
    candidates = make_candidates(
        [[9, 7, 5, 6], [9, 7, 5, 6]], copied_from=[[0, 1, 2, 3]] * 2, log_probs=log_probs
    )
    ordered = sort_candidates(candidates)
    assert ordered.ids.tolist() == [[9, 5, 7, 6], [9, 7, 5, 6]]
    assert ordered.copied_from.tolist() == [[0, 2, 1, 3], [0, 1, 2, 3]]


def test_sort_candidates_sorts_unsorted_rows(make_candidates):
    ordered = sort_candidates(make_candidates([4, 5, 6], log_probs=np.array([[-3.0, -1.0, -2.0]])))
    assert ordered.ids.tolist() == [[5, 6, 4]]
    assert ordered.log_probs.tolist() == [[-1.0, -2.0, -3.0]]


def test_sort_candidates_returns_sorted_input_unchanged(make_candidates):
    candidates = make_candidates([4, 5, 6])
    assert sort_candidates(candidates) is candidates


class BannedIds(Constraint):
    """Constraint that bans the ids of one list per document."""

    def __init__(self, *ids_by_document):
        self.ids_by_document = ids_by_document

    def banned_words(self, active, candidates):
        return np.array(
            [
                np.isin(ids, self.ids_by_document[document])
                for document, ids in zip(active.documents, candidates.ids, strict=True)
            ]
        ).reshape(candidates.ids.shape)


def empty_hypotheses(num_rows):
    return ActiveHypotheses(
        documents=np.arange(num_rows),
        ids=np.zeros((num_rows, 0), int),
        copied_from=np.zeros((num_rows, 0), int),
        log_probs=np.zeros(num_rows),
    )


@pytest.mark.parametrize("constraint", [Constraint(), BannedIds([]), BannedIds([9])])
def test_find_allowed_returns_none_without_relevant_bans(make_candidates, constraint):
    columns, is_missing = find_allowed(
        empty_hypotheses(1), make_candidates([7, 8, 9]), constraint, ForcedPrefix([()]), 2
    )
    assert columns is None
    assert is_missing is None


@pytest.mark.parametrize("num_banned", range(1, 12))
def test_find_allowed_skips_any_number_of_bans(make_candidates, num_banned):
    num_rows = 30
    rng = np.random.default_rng(num_banned)
    ids = np.array([rng.permutation(np.arange(4, 18)) for _ in range(num_rows)])  # 14 candidates
    bans = [rng.choice(np.arange(4, 18), size=num_banned, replace=False) for _ in range(num_rows)]
    columns, is_missing = find_allowed(
        empty_hypotheses(num_rows),
        make_candidates(ids),
        BannedIds(*bans),
        ForcedPrefix([()] * num_rows),
        2,
    )
    assert not is_missing.any()
    for row in range(num_rows):
        allowed_ids = [word_id for word_id in ids[row] if word_id not in bans[row]]
        assert ids[row, columns[row]].tolist() == allowed_ids[:2]


@pytest.mark.parametrize("num_rows", [1, 5])
def test_find_allowed_marks_missing_candidates(make_candidates, num_rows):
    ids = np.tile(np.arange(4, 13), (num_rows, 1))
    bans = [ids[0, :-1], *[[]] * (num_rows - 1)]
    columns, is_missing = find_allowed(
        empty_hypotheses(num_rows),
        make_candidates(ids),
        BannedIds(*bans),
        ForcedPrefix([()] * num_rows),
        2,
    )
    assert columns[0, 0] == ids.shape[1] - 1
    assert is_missing[0].tolist() == [False, True]
    assert not is_missing[1:].any()


def test_find_allowed_never_bans_a_forced_word(make_candidates):
    prefix = ForcedPrefix([[4], []])
    columns, is_missing = find_allowed(
        empty_hypotheses(2), make_candidates([[4, 5], [4, 5]]), BannedIds([4], [4]), prefix, 1
    )
    assert columns.tolist() == [[0], [1]]
    assert not is_missing.any()


def select(documents, ranking_scores, num_to_select):
    """Return a selection, and the (row, column) of each selected continuation by document."""
    rows, columns = np.shape(ranking_scores)
    active = ActiveHypotheses(
        documents=np.array(documents),
        ids=np.zeros((rows, 1), dtype=np.int64),
        copied_from=np.full((rows, 1), -1),
        log_probs=np.zeros(rows),
    )
    scores = np.array(ranking_scores, dtype=np.float64)
    continuations = Continuations(
        candidate_columns=None,
        log_probs=scores,
        scores=scores,
        ranking_scores=scores,
        dead_ends=np.empty(0, dtype=np.int64),
        dead_end_scores=np.empty(0),
    )
    selection = select_continuations(active, continuations, np.array(num_to_select))
    is_selected = selection.is_end | selection.is_word
    return selection, [
        [divmod(int(index), columns) for index in indices[mask]]
        for indices, mask in zip(selection.indices, is_selected, strict=True)
    ]


def test_selection_handles_beams_of_different_width():
    ranking_scores = [[-9, -1], [-2, -8], [-3, -7], [-1, -4], [-2, -6]]  # EOS, one word
    selection, cells = select([0, 0, 0, 2, 2], ranking_scores, [3, 9, 2])
    assert selection.documents.tolist() == [0, 2]
    assert cells == [[(0, 1), (1, 0), (2, 0)], [(3, 0), (4, 0)]]
    assert selection.is_end.tolist() == [[False, True, True], [True, True, False]]
    assert selection.is_word.tolist() == [[True, False, False], [False, False, False]]


def test_selection_of_a_wide_beam_takes_all_continuations():
    ranking_scores = [[-1, -2, -np.inf], [-2, -1, -3]] * 5
    _, cells = select(np.arange(10), ranking_scores, [9] * 10)
    assert cells[0] == [(0, 0), (0, 1)]
    assert cells[9] == [(9, 1), (9, 0), (9, 2)]
    _, (cells,) = select([0, 0], ranking_scores[:2], [9])
    assert cells == [(0, 0), (1, 1), (0, 1), (1, 0), (1, 2)]


def test_selection_breaks_ties_by_rank_and_ends_first():
    _, (cells,) = select([0, 0], [[-1, -1, -2], [-1, -1, -1]], [4])
    assert cells == [(0, 0), (0, 1), (1, 0), (1, 1)]
