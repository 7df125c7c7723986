import numpy as np
import pytest

from readagain.search.allowed import SLACK, first_allowed
from readagain.search.live import Live
from readagain.search.prefix import ForcedPrefix
from readagain.search.rules import Rule


class Ban(Rule):
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
    return Live(
        document=np.arange(num_rows),
        words=np.zeros((num_rows, 0), int),
        copied_from=np.zeros((num_rows, 0), int),
        log_probs=np.zeros(num_rows),
        coverage=None,
    )


def test_without_bans_the_first_candidates_are_taken(offer):
    columns, missing = first_allowed(
        no_words(1), offer([7, 8, 9]), Rule(), ForcedPrefix.among([], 1), 2
    )
    assert columns.tolist() == [[0, 1]]
    assert not missing.any()


@pytest.mark.parametrize("num_banned", range(12))
def test_any_number_of_bans_leaves_the_first_allowed_in_order(offer, num_banned):
    rng = np.random.default_rng(num_banned)
    ids = np.array([rng.permutation(np.arange(4, 18)) for _ in range(20)])  # 14 candidates
    bans = [rng.choice(np.arange(4, 18), size=num_banned, replace=False) for _ in range(20)]
    columns, missing = first_allowed(
        no_words(20), offer(ids), Ban(*bans), ForcedPrefix.among([], 20), 2
    )
    assert not missing.any()
    for row in range(20):
        allowed = [id for id in ids[row] if id not in bans[row]]
        assert ids[row, columns[row]].tolist() == allowed[:2]


def test_a_row_with_too_few_allowed_words_says_so(offer):
    ids = np.arange(4, 4 + 2 + SLACK + 3)
    columns, missing = first_allowed(
        no_words(1), offer(ids), Ban(ids[:-1]), ForcedPrefix.among([], 1), 2
    )
    assert columns[0, 0] == len(ids) - 1
    assert missing.tolist() == [[False, True]]


def test_rules_have_no_say_in_a_forced_word(offer):
    prefix = ForcedPrefix([[4], []], [[-1], []])
    columns, missing = first_allowed(no_words(2), offer([[4, 5], [4, 5]]), Ban([4], [4]), prefix, 1)
    assert columns.tolist() == [[0], [1]]
    assert not missing.any()
