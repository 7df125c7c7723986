"""Run settings of experiments by recipe and scale."""

from dataclasses import replace

import pytest

from readagain.config.schema import PAPER
from readagain.experiments.catalog import EXPERIMENTS, Experiment
from readagain.experiments.settings import common_vocab_size, experiment_network, experiment_run
from readagain.networks.build import count_parameters
from readagain.presets import PRESETS
from readagain.training.optim import learning_rate


def resolved(name, **options):
    defaults = {"scale": "paper", "recipe": "modern", "seed": 1, "train_pairs": 551_062}
    return experiment_run(EXPERIMENTS[name], **{**defaults, **options})


def test_paper_scale_uses_the_preset():
    run, preset = resolved("read_again_gru_15k"), PRESETS["read_again_gru_15k"]
    assert (run.model, run.data, run.decode) == (preset.model, preset.data, preset.decode)
    assert (run.vocab_size, run.source_vocab_size) == (15_000, 69_000)


def test_paper_recipe_is_that_of_the_preset():
    ours = resolved("read_again_gru_15k", recipe="paper").train
    assert (ours.optimizer, ours.learning_rate, ours.batch_size, ours.epochs) == ("sgd", 2, 64, 10)
    abs_own, abs_run = PRESETS["abs_69k"].train, resolved("abs_69k", recipe="paper").train
    assert (abs_run.learning_rate, abs_run.epochs) == (abs_own.learning_rate, abs_own.epochs)


def test_converged_recipe_validates_twice_an_epoch():
    run = resolved("gru_15k", recipe="converged", train_pairs=548_062)
    assert (run.train.schedule, run.train.patience, run.train.best_by) == ("plateau", 3, "loss")
    assert run.train.validate_every == 548_062 // 512
    changed = resolved(
        "gru_15k", recipe="converged", train_pairs=548_062, changes=["train.batch_size=1024"]
    )
    assert changed.train.validate_every == 548_062 // 2048


def test_converged_recipe_is_the_same_for_all_experiments():
    def settings_except_learning_rate(name):
        return replace(resolved(name, recipe="converged").train, learning_rate=1.0)

    names = [name for name, experiment in EXPERIMENTS.items() if experiment.system in PRESETS]
    assert len(set(map(settings_except_learning_rate, names))) == 1


def test_smaller_corpus_has_more_epochs():
    whole, part = resolved("gru_15k").train, resolved("gru_15k", train_pairs=160_000).train
    assert whole.epochs < part.epochs
    assert part.warmup_steps <= part.epochs * 160_000 / part.batch_size / 8


def test_epochs_and_seed_are_applied():
    run = resolved("gru_15k", epochs=2, seed=7)
    assert (run.train.epochs, run.train.seed) == (2, 7)


@pytest.mark.parametrize("name", ["wide_gru_15k", "wide_lstm_15k", "wide_lstm_copy_15k"])
@pytest.mark.parametrize("scale", ["paper", "small"])
def test_wide_control_matches_the_parameters(name, scale):
    control = EXPERIMENTS[name]
    target = EXPERIMENTS[control.match_parameters]
    num_control, num_target = (
        count_parameters(experiment_network(experiment, scale=scale))
        for experiment in (control, target)
    )
    assert num_target <= num_control < 1.15 * num_target
    if scale == "paper":
        assert num_control < 1.005 * num_target


@pytest.mark.parametrize(
    "name", [name for name, row in EXPERIMENTS.items() if row.system in PRESETS]
)
def test_small_scale_networks_are_tiny(name):
    assert count_parameters(experiment_network(EXPERIMENTS[name], scale="small")) < 200_000


def test_small_scale_keeps_the_order_of_vocabularies():
    sizes = [
        experiment_network(EXPERIMENTS[f"read_again_lstm_{size}k"], scale="small").vocab_size
        for size in (2, 5, 15, 30, 69)
    ]
    assert sizes == [20, 50, 150, 300, 690]
    assert (common_vocab_size("paper"), common_vocab_size("small")) == (15_000, 150)


def test_changes_of_an_experiment_are_applied():
    experiment = Experiment(
        name="x",
        system="gru_15k",
        title="A title",
        group="main",
        changes={"model.encoder.cell": "lstm"},
    )
    run = experiment_network(experiment, scale="paper")
    assert (run.title, run.model.encoder.cell) == ("A title", "lstm")


def test_slow_experiments_have_their_own_modern_recipe():
    assert resolved("abs_69k").train.epochs == 2 * resolved("gru_69k").train.epochs
    assert resolved("abs_69k", epochs=1).train.epochs == 1
    assert resolved("abs_69k").train.learning_rate == 3 * resolved("gru_69k").train.learning_rate
    assert resolved("abs_69k").model.dropout == resolved("gru_69k").model.dropout
    by_its_paper = resolved("abs_69k", recipe="paper").train
    own = PRESETS["abs_69k"].train
    assert (by_its_paper.learning_rate, by_its_paper.epochs) == (own.learning_rate, own.epochs)


def test_paper_recipe_has_the_papers_schedule_in_updates():
    """The command in docs/reproduce.md. The paper has ten epochs of 59,400 updates."""
    changes = ["train.halving_from_epoch=35", "train.halving_every=7"]
    run = resolved("lstm_15k", recipe="paper", epochs=69, changes=changes)
    total_steps = run.train.epochs * 8_621

    def rate(spec, step, steps_per_epoch):
        return learning_rate(
            spec, step=step, total_steps=total_steps, steps_per_epoch=steps_per_epoch
        )

    assert total_steps == pytest.approx(594_000, rel=0.002)
    # The middle of each epoch of the paper.
    for step in range(29_700, 594_000, 59_400):
        assert rate(run.train, step, 8_621) == rate(PAPER, step, 59_400)
