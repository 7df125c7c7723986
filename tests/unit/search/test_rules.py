from dataclasses import replace

import numpy as np
import pytest

from readagain.errors import ConfigError
from readagain.search.live import ActiveHypotheses
from readagain.search.rules import (
    Constraint,
    ConstraintList,
    CopyLimit,
    LengthConstraint,
    NoDoubledWord,
    NoRepeatedNgram,
)


def live_with(*rows, copied_from=None):
    words = np.array(rows)
    return ActiveHypotheses(
        document=np.arange(len(words)),
        words=words,
        copied_from=np.full(words.shape, -1) if copied_from is None else np.array(copied_from),
        log_probs=np.zeros(len(words)),
        coverage=None,
    )


def test_a_rule_forbids_nothing_unless_it_says_so(offer):
    live = live_with([4])
    assert Constraint().max_bans(9) == 0
    assert Constraint().banned_words(live, offer([5])) is None
    assert Constraint().bans_end(live) is None


def test_no_word_follows_the_last_one(offer):
    limits = LengthConstraint(minimum=1, maximum=2)
    assert limits.banned_words(live_with([4]), offer([5, 6])) is None
    assert limits.banned_words(live_with([4, 5]), offer([5, 6])).all()


def test_a_summary_does_not_end_before_its_minimum():
    limits = LengthConstraint(minimum=2, maximum=3)
    assert limits.bans_end(live_with([4])).all()
    assert limits.bans_end(live_with([4, 5])) is None


def test_a_minimum_above_the_maximum_is_refused():
    with pytest.raises(ConfigError, match="at least 5 and at most 3 words; expected 0 <= minimum"):
        LengthConstraint(minimum=5, maximum=3)


def test_no_word_stands_twice(offer):
    banned = NoRepeatedNgram(1).banned_words(live_with([4, 5], [6, 7]), offer([[5, 6], [5, 6]]))
    assert banned.tolist() == [[True, False], [False, True]]


def test_no_pair_of_words_stands_twice(offer):
    # 4 5 6 5 4: after 4 came 5; that 6 came after 5 is no matter now.
    banned = NoRepeatedNgram(2).banned_words(live_with([4, 5, 6, 5, 4]), offer([5, 6, 4]))
    assert banned.tolist() == [[True, False, False]]


def test_a_pair_that_another_summary_has_is_free(offer):
    live = live_with([4, 5, 4], [4, 5, 6])
    banned = NoRepeatedNgram(2).banned_words(live, offer([[5, 6], [5, 6]]))
    assert banned.tolist() == [[True, False], [False, False]]


def test_behind_a_word_that_is_new_no_pair_can_come_again(offer):
    assert NoRepeatedNgram(2).banned_words(live_with([4, 5, 6]), offer([4, 5, 6])) is None


def test_three_words_repeat_only_as_a_whole(offer):
    banned = NoRepeatedNgram(3).banned_words(live_with([4, 5, 6, 7, 5, 6, 4, 5]), offer([6, 7]))
    assert banned.tolist() == [[True, False]]


def test_an_ngram_of_no_words_is_refused():
    with pytest.raises(ConfigError, match="no repeated n-gram of 0 words; expected 1 or more"):
        NoRepeatedNgram(0)


@pytest.mark.parametrize("size", [1, 2, 3])
def test_no_more_words_are_banned_than_were_asked_for(offer, size):
    rng = np.random.default_rng(size)
    for num_words in range(6):
        live = live_with(rng.integers(4, 8, size=num_words))
        banned = NoRepeatedNgram(size).banned_words(live, offer(np.arange(4, 8)))
        assert banned is None or banned.sum() <= NoRepeatedNgram(size).max_bans(6)


def test_a_word_is_copied_as_often_as_the_source_has_it(offer, sources_of):
    rule = CopyLimit(sources_of([4, 5, 4]))
    offered = offer([4, 5], copied_from=[0, 1])
    assert rule.banned_words(live_with([4, 5]), offered).tolist() == [[False, True]]
    assert rule.banned_words(live_with([4, 4]), offered).tolist() == [[True, False]]


def test_a_generated_word_may_come_again(offer, sources_of):
    rule = CopyLimit(sources_of([4]))
    assert not rule.banned_words(live_with([4, 4]), offer([4], copied_from=[-1])).any()


def test_padding_does_not_count_as_a_word_of_the_source(offer, sources_of):
    padded = replace(sources_of([4, 4, 4]), lengths=np.array([[1]]))
    rule = CopyLimit(padded)
    assert rule.banned_words(live_with([4]), offer([4], copied_from=[0])).tolist() == [[True]]


def test_several_rules_forbid_what_any_of_them_forbids(offer):
    rules = ConstraintList(
        [NoRepeatedNgram(1), LengthConstraint(minimum=2, maximum=3), NoRepeatedNgram(2)]
    )
    assert rules.max_bans(5) == 4 + 3
    assert rules.banned_words(live_with([4]), offer([4, 5])).tolist() == [[True, False]]
    assert rules.bans_end(live_with([4])).tolist() == [True]
    assert rules.bans_end(live_with([4, 5])) is None


def test_no_word_follows_itself(offer):
    banned = NoDoubledWord().banned_words(live_with([4, 5], [5, 4]), offer([[4, 5], [4, 5]]))
    assert banned.tolist() == [[False, True], [True, False]]
    assert NoDoubledWord().max_bans(6) == 1


def test_before_the_first_word_nothing_is_doubled(offer):
    assert NoDoubledWord().banned_words(live_with([]), offer([4, 5])) is None
