import numpy as np
import pytest

from readagain.errors import ConfigError, ShapeError
from readagain.search.beam import beam_search
from readagain.search.prefix import ForcedPrefix
from readagain.search.rules import LengthConstraint, NoRepeatedNgram
from readagain.search.scoring import Scoring
from readagain.text.vocab import BOS, UNK

TABLE = {BOS: {4: 0.9}, 4: {5: 0.8}, 5: {6: 0.7}, UNK: {7: 0.9}}


def search(model, sources, prefix, **options):
    options = {"beam_size": 2, "words": LengthConstraint(maximum=4), "rules": []} | options
    options["rules"] = [*options["rules"], prefix]
    return beam_search(model, sources, **options)


def test_prefixes_of_any_length_stand_side_by_side(table_model, sources_of):
    prefix = ForcedPrefix([[5, 6], [], [5]], [[-1, -1], [], [0]])
    found = search(table_model(TABLE), sources_of([4], [4], [5]), prefix)
    assert [best.ids.tolist() for (best,) in found] == [[5, 6], [4, 5, 6], [5, 6]]
    assert found[2][0].copied_from.tolist() == [[0, 0], [-1, -1]]


def test_forced_words_are_not_scored(table_model, sources_of):
    ((best,),) = search(table_model(TABLE), sources_of([4]), ForcedPrefix([[6, 5]], [[-1, -1]]))
    assert best.ids.tolist() == [6, 5, 6]
    np.testing.assert_allclose(np.exp(best.log_probs), [1, 1, 0.7, 1])


def test_a_mean_is_taken_over_the_words_that_were_chosen(table_model, sources_of):
    ((best,),) = search(
        table_model(TABLE),
        sources_of([4]),
        ForcedPrefix([[6, 5]], [[-1, -1]]),
        scoring=Scoring(length_exponent=1.0),
    )
    assert best.score == pytest.approx(np.log(0.7) / 2)


def test_a_word_that_nobody_knows_can_be_forced(table_model, sources_of):
    ((best,),) = search(table_model(TABLE), sources_of([4]), ForcedPrefix([[UNK]], [[-1]]))
    assert best.ids.tolist() == [UNK, 7]


def test_rules_let_forced_words_pass_and_remember_them(table_model, sources_of):
    model = table_model({4: {4: 0.9, 5: 0.05}})
    ((best,),) = search(
        model,
        sources_of([4]),
        ForcedPrefix([[4, 4]], [[-1, -1]]),
        rules=[NoRepeatedNgram(1)],
        words=LengthConstraint(minimum=3, maximum=4),
    )
    assert best.ids.tolist() == [4, 4, 5]


def test_forced_words_count_towards_the_maximum(table_model, sources_of):
    ((best,),) = search(
        table_model(TABLE),
        sources_of([4]),
        ForcedPrefix([[4, 5]], [[-1, -1]]),
        words=LengthConstraint(maximum=2),
    )
    assert best.ids.tolist() == [4, 5]


def test_a_prefix_longer_than_the_summary_is_refused(table_model, sources_of):
    with pytest.raises(ConfigError, match="must begin with 5 words and have at most 4; allow more"):
        search(table_model(TABLE), sources_of([4]), ForcedPrefix([[4] * 5], [[-1] * 5]))


def test_prefixes_for_other_documents_are_refused(table_model, sources_of):
    with pytest.raises(ShapeError, match="prefixes for 2 documents and 1 documents; expected one"):
        search(table_model(TABLE), sources_of([4]), ForcedPrefix([[], []], [[], []]))
