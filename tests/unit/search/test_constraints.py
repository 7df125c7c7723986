"""Decoding constraints, alone and in a search."""

from dataclasses import replace

import numpy as np
import pytest

from readagain.search.beam import beam_search
from readagain.search.constraints import (
    ByteLengthConstraint,
    Constraint,
    ConstraintList,
    ForcedPrefix,
    LengthConstraint,
    NoDoubledWord,
    NoRepeatedNgram,
)
from readagain.search.hypotheses import ActiveHypotheses
from readagain.search.scoring import Scoring
from readagain.text.vocab import BOS, UNK


def active_with(*rows):
    """Return one hypothesis with generated words per document."""
    ids = np.array(rows)
    copied_from = np.full(ids.shape, -1)
    return replace(ActiveHypotheses.initial(len(ids)), ids=ids, copied_from=copied_from)


def test_base_constraint_bans_nothing(make_candidates):
    active = active_with([4])
    assert Constraint().max_banned(9) == 0
    assert Constraint().banned_words(active, make_candidates([5])) is None
    assert Constraint().banned_end(active) is None


def test_length_constraint_bans_words_at_the_maximum(make_candidates):
    constraint = LengthConstraint(minimum=1, maximum=2)
    assert constraint.banned_words(active_with([4]), make_candidates([5, 6])) is None
    assert constraint.banned_words(active_with([4, 5]), make_candidates([5, 6])).all()


def test_length_constraint_bans_ending_before_the_minimum():
    constraint = LengthConstraint(minimum=2, maximum=3)
    assert constraint.banned_end(active_with([4])).all()
    assert constraint.banned_end(active_with([4, 5])) is None


def test_no_repeated_unigram_bans_used_words(make_candidates):
    banned = NoRepeatedNgram(1).banned_words(
        active_with([4, 5], [6, 7]), make_candidates([[5, 6], [5, 6]])
    )
    assert banned.tolist() == [[True, False], [False, True]]


def test_no_repeated_bigram_bans_the_following_word(make_candidates):
    # 4 5 6 5 4: the last word, 4, was followed by 5 before, so 5 is banned.
    banned = NoRepeatedNgram(2).banned_words(
        active_with([4, 5, 6, 5, 4]), make_candidates([5, 6, 4])
    )
    assert banned.tolist() == [[True, False, False]]


def test_no_repeated_bigram_treats_rows_independently(make_candidates):
    active = active_with([4, 5, 4], [4, 5, 6])
    banned = NoRepeatedNgram(2).banned_words(active, make_candidates([[5, 6], [5, 6]]))
    assert banned.tolist() == [[True, False], [False, False]]


def test_no_repeated_bigram_bans_nothing_after_a_new_word(make_candidates):
    assert (
        NoRepeatedNgram(2).banned_words(active_with([4, 5, 6]), make_candidates([4, 5, 6])) is None
    )


def test_no_repeated_trigram_needs_the_whole_context(make_candidates):
    banned = NoRepeatedNgram(3).banned_words(
        active_with([4, 5, 6, 7, 5, 6, 4, 5]), make_candidates([6, 7])
    )
    assert banned.tolist() == [[True, False]]


@pytest.mark.parametrize("size", [1, 2, 3])
def test_no_repeated_ngram_stays_within_max_banned(make_candidates, size):
    rng = np.random.default_rng(size)
    for num_words in range(6):
        active = active_with(rng.integers(4, 8, size=num_words))
        banned = NoRepeatedNgram(size).banned_words(active, make_candidates(np.arange(4, 8)))
        assert banned is None or banned.sum() <= NoRepeatedNgram(size).max_banned(6)


def test_constraint_list_bans_what_any_member_bans(make_candidates):
    constraints = ConstraintList(
        [NoRepeatedNgram(1), LengthConstraint(minimum=2, maximum=3), NoRepeatedNgram(2)]
    )
    assert constraints.max_banned(5) == 4 + 3
    assert constraints.banned_words(active_with([4]), make_candidates([4, 5])).tolist() == [
        [True, False]
    ]
    assert constraints.banned_end(active_with([4])).tolist() == [True]
    assert constraints.banned_end(active_with([4, 5])) is None


def test_no_doubled_word_bans_the_last_word(make_candidates):
    banned = NoDoubledWord().banned_words(
        active_with([4, 5], [5, 4]), make_candidates([[4, 5], [4, 5]])
    )
    assert banned.tolist() == [[False, True], [True, False]]
    assert NoDoubledWord().max_banned(6) == 1


def test_no_doubled_word_bans_nothing_at_the_start(make_candidates):
    assert NoDoubledWord().banned_words(active_with([]), make_candidates([4, 5])) is None


CHAIN = {BOS: {4: 0.9}, 4: {5: 0.9}, 5: {6: 0.9}, 6: {7: 0.9}}


def byte_arguments(bytes_by_id, sources):
    """Return arguments of `ByteLengthConstraint`; every source word has 3 bytes."""
    vocab_bytes = np.zeros(8, dtype=int)
    for word_id, num_bytes in bytes_by_id.items():
        vocab_bytes[word_id] = num_bytes
    return {
        "vocab_bytes": vocab_bytes,
        "source_bytes": np.full(sources.source_ext_ids.shape, 3),
    }


def search_with(model, sources, constraint, **options):
    length = LengthConstraint(maximum=9)
    return beam_search(
        model, sources, beam_size=3, length=length, constraints=[constraint], **options
    )


@pytest.mark.parametrize(
    ("maximum", "words"), [(11, [4, 5, 6]), (10, [4, 5]), (3, [4]), (7, [4, 5])]
)
def test_byte_maximum_counts_spaces(table_model, sources_of, maximum, words):
    sources = sources_of([4])
    limit = ByteLengthConstraint(
        **byte_arguments({4: 3, 5: 3, 6: 3, 7: 3}, sources), maximum=maximum
    )
    ((best,),) = search_with(
        table_model(CHAIN), sources, limit, scoring=Scoring(length_penalty=1.0)
    )
    assert best.ids.tolist() == words


def test_byte_limit_measures_copies_by_position():
    constraint = ByteLengthConstraint(
        vocab_bytes=np.arange(8), source_bytes=np.array([[19, 18], [17, 16]])
    )
    word_bytes = constraint.word_bytes(
        documents=np.array([0, 1]),
        ids=np.array([[4, 30], [31, 5]]),
        copied_from=np.array([[-1, 1], [0, -1]]),
    )
    assert word_bytes.tolist() == [[4, 18], [17, 5]]


@pytest.mark.parametrize(("maximum", "words"), [(13, [UNK, 4, 5]), (12, [UNK, 4]), (8, [UNK])])
def test_byte_maximum_counts_the_bytes_of_forced_words(table_model, sources_of, maximum, words):
    sources = sources_of([4])
    model = table_model({UNK: {4: 0.9}, 4: {5: 0.6}})
    limit = ByteLengthConstraint(
        **byte_arguments({4: 2, 5: 3}, sources), maximum=maximum, prefix_bytes=[6]
    )
    ((best,),) = search_with(model, sources, limit, prefix=ForcedPrefix([[UNK]]))
    assert best.ids.tolist() == words


def test_byte_minimum_counts_no_spaces(table_model, sources_of):
    sources = sources_of([4])
    model = table_model({BOS: {4: 0.9}, 4: {5: 0.2}, 5: {6: 0.2}, 6: {7: 0.2}})
    arguments = byte_arguments({4: 3, 5: 3, 6: 3, 7: 3}, sources)
    for minimum, num_words in [(3, 1), (4, 2), (6, 2), (7, 3)]:
        limit = ByteLengthConstraint(**arguments, minimum=minimum)
        ((best,),) = search_with(model, sources, limit)
        assert len(best) == num_words


def test_byte_maximum_overrides_the_minimum(table_model, sources_of):
    sources = sources_of([4])
    limit = ByteLengthConstraint(**byte_arguments({4: 3, 5: 30}, sources), minimum=5, maximum=12)
    model = table_model({BOS: {4: 1.0}, 4: {5: 0.5}})
    ((best,),) = search_with(model, sources, limit)
    assert best.ids.tolist() == [4]
    assert not best.meets_min_length


def test_hypotheses_below_the_byte_minimum_rank_last(table_model, sources_of):
    sources = sources_of([4])
    limit = ByteLengthConstraint(
        **byte_arguments({4: 3, 5: 30, 6: 3, 7: 3}, sources), minimum=6, maximum=12
    )
    # "4" is more probable but has no continuation that fits; "6 7" is long enough.
    model = table_model({BOS: {4: 0.9, 6: 0.1}, 4: {5: 0.1}, 6: {7: 0.1}})
    ((best, second),) = search_with(model, sources, limit, n_best=3)
    assert (best.ids.tolist(), best.meets_min_length) == ([6, 7], True)
    assert (second.ids.tolist(), second.meets_min_length) == ([4], False)


def test_byte_maximum_without_fitting_word_gives_empty_summary(table_model, sources_of):
    sources = sources_of([4])
    limit = ByteLengthConstraint(**byte_arguments({4: 30}, sources), maximum=12)
    model = table_model({BOS: {4: 0.9}})
    ((best,),) = search_with(model, sources, limit)
    assert len(best) == 0


TABLE = {BOS: {4: 0.9}, 4: {5: 0.8}, 5: {6: 0.7}, UNK: {7: 0.9}}


def search_after(model, sources, prefix, **options):
    options = {"beam_size": 2, "length": LengthConstraint(maximum=4)} | options
    return beam_search(model, sources, prefix=prefix, **options)


def test_forced_word_is_the_only_candidate_and_has_no_bonus(make_candidates):
    candidates, bonuses = make_candidates([[5, 6], [5, 6]]), np.full((2, 2), 1.5)
    forced, forced_bonuses = ForcedPrefix([[7], []]).force(active_with([], []), candidates, bonuses)
    assert forced.ids[:, 0].tolist() == [7, 5]
    assert forced.log_probs.tolist() == [[0.0, -np.inf], [-1.0, -2.0]]
    assert forced.end_log_probs.tolist() == [-np.inf, -1.0]
    assert forced_bonuses.tolist() == [[0.0, 0.0], [1.5, 1.5]]


def test_forced_prefixes_may_differ_in_length(table_model, sources_of):
    prefix = ForcedPrefix([[5, 6], [], [5]])
    n_best_lists = search_after(table_model(TABLE), sources_of([4], [4], [5]), prefix)
    assert [best.ids.tolist() for (best,) in n_best_lists] == [[5, 6], [4, 5, 6], [5, 6]]
    assert n_best_lists[2][0].copied_from.tolist() == [[-1, -1], [-1, -1]]


def test_forced_words_are_not_scored(table_model, sources_of):
    ((best,),) = search_after(table_model(TABLE), sources_of([4]), ForcedPrefix([[6, 5]]))
    assert best.ids.tolist() == [6, 5, 6]
    np.testing.assert_allclose(np.exp(best.log_probs), [1, 1, 0.7, 1])


def test_length_penalty_ignores_forced_words(table_model, sources_of):
    ((best,),) = search_after(
        table_model(TABLE),
        sources_of([4]),
        ForcedPrefix([[6, 5]]),
        scoring=Scoring(length_penalty=1.0),
    )
    assert best.score == pytest.approx(np.log(0.7) / 2)


def test_forced_prefix_may_contain_unk(table_model, sources_of):
    ((best,),) = search_after(table_model(TABLE), sources_of([4]), ForcedPrefix([[UNK]]))
    assert best.ids.tolist() == [UNK, 7]


def test_constraints_apply_after_a_forced_prefix(table_model, sources_of):
    model = table_model({4: {4: 0.9, 5: 0.05}})
    ((best,),) = search_after(
        model,
        sources_of([4]),
        ForcedPrefix([[4, 4]]),
        constraints=[NoRepeatedNgram(1)],
        length=LengthConstraint(minimum=3, maximum=4),
    )
    assert best.ids.tolist() == [4, 4, 5]


def test_forced_words_count_towards_the_maximum(table_model, sources_of):
    ((best,),) = search_after(
        table_model(TABLE),
        sources_of([4]),
        ForcedPrefix([[4, 5]]),
        length=LengthConstraint(maximum=2),
    )
    assert best.ids.tolist() == [4, 5]
