"""Expansion step of beam search: sorting, bans and selection."""

from dataclasses import replace

import numpy as np
import pytest

from readagain.search.expansion import (
    Continuations,
    select_continuations,
    sort_candidates,
    take_allowed,
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


@pytest.mark.parametrize("banned", [None, [[False, False, False]], [[False, False, True]]])
def test_take_allowed_changes_nothing_without_relevant_bans(make_candidates, banned):
    candidates, bonuses = make_candidates([7, 8, 9]), np.zeros((1, 3))
    mask = None if banned is None else np.array(banned)
    allowed, allowed_bonuses = take_allowed(candidates, bonuses, mask, 2)
    assert allowed is candidates
    assert allowed_bonuses is bonuses


@pytest.mark.parametrize("num_banned", range(1, 12))
def test_take_allowed_skips_any_number_of_bans(make_candidates, num_banned):
    num_rows = 30
    rng = np.random.default_rng(num_banned)
    ids = np.array([rng.permutation(np.arange(4, 18)) for _ in range(num_rows)])  # 14 candidates
    bans = [rng.choice(np.arange(4, 18), size=num_banned, replace=False) for _ in range(num_rows)]
    banned = np.array([np.isin(*pair) for pair in zip(ids, bans, strict=True)])
    candidates = make_candidates(ids, copied_from=ids + 100)
    allowed, bonuses = take_allowed(candidates, ids + 0.5, banned, 2)
    assert np.isfinite(allowed.log_probs).all()
    for row in range(num_rows):
        allowed_ids = [word_id for word_id in ids[row] if word_id not in bans[row]]
        assert allowed.ids[row].tolist() == allowed_ids[:2]
    assert (allowed.copied_from == allowed.ids + 100).all()
    assert (bonuses == allowed.ids + 0.5).all()


@pytest.mark.parametrize("num_rows", [1, 5])
def test_take_allowed_fills_rows_up_with_impossible_words(make_candidates, num_rows):
    ids = np.tile(np.arange(4, 13), (num_rows, 1))
    banned = np.zeros(ids.shape, dtype=bool)
    banned[0, :-1] = True
    candidates = make_candidates(ids)
    allowed, bonuses = take_allowed(candidates, None, banned, 2)
    assert allowed.ids[0, 0] == 12
    assert allowed.log_probs[0].tolist() == [-9.0, -np.inf]
    assert allowed.log_probs[1:].tolist() == [[-1.0, -2.0]] * (num_rows - 1)
    assert np.isfinite(candidates.log_probs).all()
    assert bonuses is None


def select(documents, ranking_scores, num_to_select):
    """Return a selection, and the (row, column) of each selected continuation by document."""
    rows, columns = np.shape(ranking_scores)
    active = replace(ActiveHypotheses.initial(rows), documents=np.array(documents))
    scores = np.array(ranking_scores, dtype=np.float64)
    continuations = Continuations(
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
