import numpy as np
import pytest

from readagain.search.allowed import FEW_ROWS, SLACK, first_allowed
from readagain.search.live import ActiveHypotheses
from readagain.search.prefix import ForcedPrefix
from readagain.search.rules import Constraint


class Ban(Constraint):
    """Forbids the words of a list in each document."""

    def __init__(self, *words):
        self.words = words

    def banned_words(self, live, offered):
        return np.array(
            [
                np.isin(ids, self.words[document])
                for document, ids in zip(live.document, offered.ids, strict=True)
            ]
        ).reshape(offered.ids.shape)


def no_words(num_rows):
    return ActiveHypotheses(
        document=np.arange(num_rows),
        words=np.zeros((num_rows, 0), int),
        copied_from=np.zeros((num_rows, 0), int),
        log_probs=np.zeros(num_rows),
        coverage=None,
    )


@pytest.mark.parametrize("rule", [Constraint(), Ban([]), Ban([9])])
def test_where_no_ban_reaches_them_the_first_candidates_are_taken(offer, rule):
    columns, missing = first_allowed(
        no_words(1), offer([7, 8, 9]), rule, ForcedPrefix.among([], 1), 2
    )
    assert columns is None
    assert missing is None


@pytest.mark.parametrize("num_rows", [FEW_ROWS - 1, FEW_ROWS + 1])
@pytest.mark.parametrize("num_banned", range(1, 12))
def test_any_number_of_bans_leaves_the_first_allowed_in_order(offer, num_banned, num_rows):
    rng = np.random.default_rng(num_banned)
    ids = np.array([rng.permutation(np.arange(4, 18)) for _ in range(num_rows)])  # 14 candidates
    bans = [rng.choice(np.arange(4, 18), size=num_banned, replace=False) for _ in range(num_rows)]
    columns, missing = first_allowed(
        no_words(num_rows), offer(ids), Ban(*bans), ForcedPrefix.among([], num_rows), 2
    )
    assert not missing.any()
    for row in range(num_rows):
        allowed = [id for id in ids[row] if id not in bans[row]]
        assert ids[row, columns[row]].tolist() == allowed[:2]


@pytest.mark.parametrize("num_rows", [1, FEW_ROWS + 1])
def test_a_row_with_too_few_allowed_words_says_so(offer, num_rows):
    ids = np.tile(np.arange(4, 4 + 2 + SLACK + 3), (num_rows, 1))
    bans = [ids[0, :-1], *[[]] * (num_rows - 1)]
    columns, missing = first_allowed(
        no_words(num_rows), offer(ids), Ban(*bans), ForcedPrefix.among([], num_rows), 2
    )
    assert columns[0, 0] == ids.shape[1] - 1
    assert missing[0].tolist() == [False, True]
    assert not missing[1:].any()


def test_rules_have_no_say_in_a_forced_word(offer):
    prefix = ForcedPrefix([[4], []], [[-1], []])
    columns, missing = first_allowed(no_words(2), offer([[4, 5], [4, 5]]), Ban([4], [4]), prefix, 1)
    assert columns.tolist() == [[0], [1]]
    assert not missing.any()
