"""Beam search with small models, whose best summaries are known."""

from dataclasses import replace

import numpy as np
import pytest

from readagain.errors import ArtifactError
from readagain.search.beam import beam_search
from readagain.search.constraints import LengthConstraint, NoDoubledWord, NoRepeatedNgram
from readagain.search.model import SourceBatch
from readagain.search.scoring import Scoring
from readagain.text.vocab import BOS, EOS, PAD, UNK

# Greedy search takes 4, the more probable first word, but "5 6" is the most probable summary.
GREEDY_FAILS = {BOS: {4: 0.6, 5: 0.4}, 4: {6: 0.3, 7: 0.3}, 5: {6: 0.9}, 6: {}, 7: {}}


class RecordingModel:
    """Model that records the arguments of each step, and may change the candidates."""

    def __init__(self, model, change=lambda candidates: candidates):
        self.model, self.change = model, change
        self.num_rows, self.num_candidates, self.documents = [], [], []

    def start(self, sources):
        return self.model.start(sources)

    def step(self, state, previous_ids, k):
        self.num_rows.append(len(previous_ids))
        self.num_candidates.append(k)
        self.documents.append(set(state.document.tolist()))
        candidates, state = self.model.step(state, previous_ids, k)
        return self.change(candidates), state

    def select(self, state, rows):
        return self.model.select(state, rows)


def search(model, sources, *, beam_size=2, maximum=4, minimum=1, **options):
    length = LengthConstraint(minimum=minimum, maximum=maximum)
    return beam_search(model, sources, beam_size=beam_size, length=length, **options)


def ids_of(hypotheses):
    return [hypothesis.ids.tolist() for hypothesis in hypotheses]


def test_beam_of_two_finds_what_greedy_search_misses(table_model, sources_of):
    model, sources = table_model(GREEDY_FAILS), sources_of([4])
    ((greedy,),) = search(model, sources, beam_size=1, minimum=2)
    ((best,),) = search(model, sources, beam_size=2, minimum=2)
    assert greedy.ids.tolist() == [4, 6]
    assert best.ids.tolist() == [5, 6]
    assert np.exp(best.score) == pytest.approx(0.4 * 0.9)


def test_ties_are_ranked_by_end_then_id(table_model, sources_of):
    model = table_model({BOS: {6: 0.25, 4: 0.25, 5: 0.25}, 4: {7: 0.5}, 5: {7: 0.5}, 6: {7: 0.5}})
    (hypotheses,) = search(model, sources_of([4]), beam_size=4, n_best=4, maximum=2)
    assert ids_of(hypotheses) == [[4], [5], [4, 7], [5, 7]]


def test_probable_summary_stops_the_search_early(table_model, sources_of):
    model = RecordingModel(table_model({BOS: {4: 0.9}, 4: {5: 0.1}, 5: {6: 0.9}}))
    search(model, sources_of([4]), beam_size=4, maximum=50)
    assert len(model.num_rows) == 2  # "4" and its end; "4 5" cannot get a better score


def test_search_waits_for_a_hypothesis_that_can_still_win(table_model, sources_of):
    model = table_model({BOS: {4: 1.0}, 4: {5: 0.505}, 5: {6: 0.01}})
    ((best,),) = search(model, sources_of([4]))
    assert best.ids.tolist() == [4, 5]  # 0.505 * 0.99, more than 0.495 of "4"


def test_length_penalty_keeps_longer_hypotheses_active(table_model, sources_of):
    model = table_model({BOS: {4: 0.9}, 4: {5: 0.45}, 5: {6: 0.95}, 6: {7: 0.05}})
    ((by_sum,),) = search(model, sources_of([4]), maximum=4)
    ((by_mean,),) = search(model, sources_of([4]), maximum=4, scoring=Scoring(length_penalty=1))
    assert by_sum.ids.tolist() == [4]
    assert by_mean.ids.tolist() == [4, 5, 6]


@pytest.mark.parametrize("maximum", [1, 3, 7])
def test_steps_are_bounded_by_the_maximum_length(table_model, sources_of, maximum):
    model = RecordingModel(table_model({BOS: {4: 1 - 1e-9}, 4: {4: 1 - 1e-9}}))
    ((best,),) = search(model, sources_of([4]), maximum=maximum, scoring=Scoring(length_penalty=1))
    assert best.ids.tolist() == [4] * maximum
    assert len(model.num_rows) == maximum + 1


def test_maximum_length_ends_with_true_eos_probability(table_model, sources_of):
    model = table_model({BOS: {4: 0.9}, 4: {4: 0.99}})
    ((best,),) = search(model, sources_of([4]), minimum=2, maximum=2)
    np.testing.assert_allclose(np.exp(best.log_probs), [0.9, 0.99, 0.01])


def test_finished_documents_leave_the_batch(table_model, sources_of):
    # The model copies the source from left to right; the second document has one word.
    model = table_model({BOS: {}, 4: {}, 5: {}, 6: {}}, copying=0.99, continuing=1e4)
    model = RecordingModel(model)
    search(
        model,
        sources_of([4, 5, 6, 7], [4]),
        beam_size=1,
        minimum=1,
        constraints=[NoRepeatedNgram(1)],
    )
    assert model.documents[0] == {0, 1}
    assert model.documents[-1] == {0}


def test_beam_narrows_as_hypotheses_end(table_model, sources_of):
    model = RecordingModel(
        table_model({BOS: {4: 0.4, 5: 0.35}, 4: {6: 0.5}, 5: {6: 0.3}, 6: {7: 0.9}})
    )
    (hypotheses,) = search(model, sources_of([4]), beam_size=2, n_best=2)
    assert model.num_rows == [1, 2]
    assert ids_of(hypotheses) == [[5], [4]]


def test_search_requests_more_candidates_for_bans(table_model, sources_of):
    model = RecordingModel(table_model(GREEDY_FAILS))
    sources = sources_of([4])
    search(model, sources, beam_size=2, maximum=4, minimum=2, constraints=[NoRepeatedNgram(2)])
    assert set(model.num_candidates) == {2 + 2}
    model.num_candidates.clear()
    constraints = [NoRepeatedNgram(1), NoDoubledWord()]
    search(model, sources, beam_size=2, maximum=4, minimum=2, constraints=constraints)
    assert set(model.num_candidates) == {2 + 3 + 1}


def test_summaries_have_no_special_tokens(table_model, sources_of):
    model = table_model(GREEDY_FAILS, copying=0.3)
    (hypotheses,) = search(model, sources_of([4, 9, 5]), beam_size=50, n_best=50)
    summary_ids = {word for hypothesis in hypotheses for word in hypothesis.ids.tolist()}
    assert not summary_ids & {PAD, UNK, BOS, EOS}
    assert 9 in summary_ids


def test_diversity_keeps_different_first_words(table_model, sources_of):
    table = {BOS: {4: 0.7, 5: 0.25}, 4: {6: 0.5, 7: 0.49}, 5: {6: 0.9}}
    model, sources = table_model(table), sources_of([4])
    options = {"minimum": 2, "maximum": 2, "n_best": 2}
    (similar,) = search(model, sources, **options)
    (diverse,) = search(model, sources, **options, scoring=Scoring(diversity=1.0))
    assert ids_of(similar) == [[4, 6], [4, 7]]
    assert ids_of(diverse) == [[4, 6], [5, 6]]
    assert np.exp(diverse[1].score) == pytest.approx(0.25 * 0.9)  # without the diversity penalty


def test_search_of_empty_batch_returns_nothing(table_model):
    empty_batch = SourceBatch(
        source_ids=np.zeros((0, 1, 3), int),
        lengths=np.zeros((0, 1), int),
        source_ext_ids=np.zeros((0, 3), int),
    )
    assert search(table_model({}), empty_batch) == []


def test_model_without_eos_probability_gives_no_summary(table_model, sources_of):
    model = table_model({BOS: {4: 1.0}, 4: {4: 1.0}})
    assert search(model, sources_of([4])) == [[]]


@pytest.mark.parametrize("name", ["log_probs", "end_log_probs"])
def test_search_rejects_nan_from_the_model(table_model, sources_of, name):
    def set_to_nan(candidates):
        return replace(candidates, **{name: getattr(candidates, name) * np.nan})

    model = RecordingModel(table_model(GREEDY_FAILS), set_to_nan)
    with pytest.raises(ArtifactError, match="NaN at word 1 of document 0 of the batch"):
        search(model, sources_of([4]))
