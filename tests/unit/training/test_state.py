"""State of a run: best scores, patience and validation steps."""

import json
from dataclasses import asdict

import pytest

from readagain.config.schema import TrainSpec
from readagain.training.state import Scores, TrainingState

BY_LOSS = TrainSpec(patience=2)


def test_lower_loss_is_best_and_resets_patience():
    state = TrainingState(step=1, num_worse=1, best=Scores(step=0, dev_loss=3.0))
    after = state.after_validation(Scores(step=1, dev_loss=2.0), BY_LOSS)
    assert (after.best.step, after.num_worse, after.validated_step) == (1, 0, 1)


def test_run_stops_when_patience_is_used_up():
    state = TrainingState().after_validation(Scores(step=1, dev_loss=1.0), BY_LOSS)
    for step in (2, 3):
        assert not state.has_stopped_early
        state = state.after_validation(Scores(step=step, dev_loss=1.0), BY_LOSS)
    assert state.has_stopped_early
    assert state.has_ended(total_steps=100)
    assert state.best.step == 1


def test_plateau_needs_a_gain_of_a_thousandth():
    spec = TrainSpec(schedule="plateau", patience=2)
    state = TrainingState()
    states = []
    for step, dev_loss in enumerate([3.0, 2.9, 2.899, 2.8, 2.799, 2.798], start=1):
        state = state.after_validation(Scores(step=step, dev_loss=dev_loss), spec)
        states.append((state.num_worse, state.num_plateaus, state.has_stopped_early))
    assert states == [
        (0, 0, False),
        (0, 0, False),
        (1, 1, False),
        (0, 1, False),
        (1, 2, False),
        (2, 3, True),
    ]
    assert state.best.step == 6  # a small gain is no improvement, but is the best checkpoint


def test_patience_of_one_stops_at_first_worse_score():
    spec = TrainSpec(patience=1)
    state = TrainingState().after_validation(Scores(step=1, dev_loss=1.0), spec)
    assert not state.has_stopped_early
    assert state.after_validation(Scores(step=2, dev_loss=1.0), spec).has_stopped_early


def test_run_ends_with_last_update():
    state = TrainingState(step=8).after_update()
    assert not state.has_ended(total_steps=10)
    assert state.after_update().has_ended(total_steps=10)


def test_run_without_patience_never_stops_early():
    state = TrainingState()
    for step in range(1, 50):
        state = state.after_validation(Scores(step=step, dev_loss=step), TrainSpec())
    assert not state.has_stopped_early


def test_more_epochs_reset_early_stopping():
    stopped = TrainingState(step=8, epochs=2, num_worse=2, has_stopped_early=True)
    assert stopped.for_epochs(2) == stopped
    assert not stopped.for_epochs(3).has_ended(total_steps=12)
    assert stopped.for_epochs(3).num_worse == 0


@pytest.mark.parametrize(("dev_loss", "is_improving"), [(1.97, True), (1.99, False), (2.1, False)])
def test_is_improving_compares_last_validation_with_best(dev_loss, is_improving):
    state = TrainingState().after_validation(Scores(step=1, dev_loss=2.0), TrainSpec())
    assert not state.is_improving
    state = state.after_validation(Scores(step=2, dev_loss=dev_loss), TrainSpec())
    assert state.is_improving is is_improving


def test_best_by_rouge_compares_rouge():
    better_loss = Scores(step=1, dev_loss=1.0, rouge_1=30.0, rouge_2=10.0, rouge_l=29.0)
    better_rouge = Scores(step=2, dev_loss=2.0, rouge_1=31.0, rouge_2=10.0, rouge_l=29.0)
    for criterion, step in (("loss", 1), ("rouge", 2)):
        spec = TrainSpec(best_by=criterion)
        state = TrainingState().after_validation(better_loss, spec)
        assert state.after_validation(better_rouge, spec).best.step == step


@pytest.mark.parametrize(
    ("step", "validated_step", "is_due"),
    [(0, 0, False), (3, 0, False), (4, 0, True), (4, 4, False), (8, 4, True), (9, 8, True)],
)
def test_validation_is_due_periodically_and_at_the_end(step, validated_step, is_due):
    state = TrainingState(step=step, validated_step=validated_step)
    assert state.is_validation_due(every=4, total_steps=9) is is_due


def test_state_survives_json():
    state = TrainingState(
        step=7, best=Scores(step=4, dev_loss=0.1), open_losses=(1.5, 0.1), minutes=2.5
    )
    assert TrainingState.from_dict(json.loads(json.dumps(asdict(state)))) == state
    assert (
        TrainingState.from_dict(json.loads(json.dumps(asdict(TrainingState())))) == TrainingState()
    )
