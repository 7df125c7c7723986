"""Run settings of each experiment of a reproduction."""

import math
from collections.abc import Sequence

from readagain.config.fields import walk_fields
from readagain.config.override import override, parse_assignments
from readagain.config.schema import ModelSpec, RunSpec
from readagain.experiments.catalog import RECIPE_SETTINGS, Experiment
from readagain.experiments.options import Scale
from readagain.networks.build import count_parameters
from readagain.presets import PRESETS

# Recipe `modern`. A validation takes seconds, the training about a minute.
_MODERN_VALIDATIONS = 2
_MODERN_EPOCHS = 5
# On a small corpus, train for up to three times as many epochs to reach this number of updates.
_MODERN_UPDATES = 8_000
_MODERN_WARMUP_STEPS = 1_344
_WIDTH_STEP = 16  # the GPU kernels require multiples of 16
_COMMON_VOCAB_SIZE = 15_000  # size of the decoder vocabulary in most rows of the paper

# Scale `small`.
_SMALL_WIDTH = 16
_SMALL_VOCAB_DIVISOR = 100
_SMALL_SOURCE_WORDS, _SMALL_SUMMARY_WORDS = 30, 12
_SMALL_SHORTLIST_SIZE = 40  # enough for all words of a source


def experiment_run(
    experiment: Experiment,
    *,
    scale: Scale,
    recipe: str,
    seed: int,
    train_pairs: int,
    epochs: int | None = None,
    changes: Sequence[str] = (),
) -> RunSpec:
    """Return the run settings to train an experiment.

    Args:
        experiment: an experiment whose system is a preset.
        scale: sizes of the network.
        recipe: `converged` trains until the loss on the selection split no longer improves,
            `modern` for a fixed number of epochs, `paper` with the training settings of the preset.
        seed: random seed of weights, data order and dropout.
        train_pairs: number of training pairs, from which some recipes derive the number of epochs
            and the interval of validations.
        epochs: number of epochs; None for that of the recipe.
        changes: assignments such as `train.batch_size=512`, which override the recipe.
    """
    settings: dict[str, object] = {"train.seed": seed, **RECIPE_SETTINGS[recipe][scale]}
    is_paper_scale = scale == "paper"
    if is_paper_scale and recipe != "paper":
        settings["train.learning_rate"] = experiment.adamw_learning_rate
    if is_paper_scale and recipe == "modern":
        steps_per_epoch = math.ceil(
            train_pairs / RECIPE_SETTINGS[recipe][scale]["train.batch_size"]
        )
        settings |= _modern_schedule(steps_per_epoch, epochs or experiment.modern_epochs)
    if epochs is not None:
        settings["train.epochs"] = epochs
    run = override(experiment_network(experiment, scale=scale), settings)
    run = override(run, parse_assignments(changes), argument="changes")
    if recipe == "converged" and is_paper_scale and not run.train.validate_every:
        half_epoch = max(1, train_pairs // (2 * run.train.batch_size))
        run = override(run, {"train.validate_every": half_epoch})
    return run


def experiment_network(experiment: Experiment, *, scale: Scale) -> RunSpec:
    """Return the run settings of an experiment, with the training settings of its preset."""
    run = override(PRESETS[experiment.system], {"title": experiment.title, **experiment.changes})
    if scale == "small":
        run = _shrink(run)
    if experiment.match_parameters is None:
        return run
    target = PRESETS[experiment.match_parameters]
    num_parameters = count_parameters(target if scale == "paper" else _shrink(target))
    assert isinstance(run.model, ModelSpec)
    width = run.model.encoder.hidden_size
    while count_parameters(run) < num_parameters:
        width += _WIDTH_STEP
        run = override(run, {"model.encoder.hidden_size": width})
    return run


def common_vocab_size(scale: Scale) -> int:
    """Return the vocabulary size that defines out-of-vocabulary words for all experiments."""
    return _COMMON_VOCAB_SIZE if scale == "paper" else _COMMON_VOCAB_SIZE // _SMALL_VOCAB_DIVISOR


def _modern_schedule(steps_per_epoch: int, epochs: int | None) -> dict[str, object]:
    """Return the epochs, warmup and validation interval of the recipe `modern`."""
    if epochs is None:
        enough_epochs = _MODERN_UPDATES // steps_per_epoch
        epochs = max(_MODERN_EPOCHS, min(3 * _MODERN_EPOCHS, enough_epochs))
    updates = epochs * steps_per_epoch
    return {
        "train.epochs": epochs,
        "train.warmup_steps": min(_MODERN_WARMUP_STEPS, updates // 8),
        # Some batches are not full, so there are up to 10% more updates than calculated here.
        "train.validate_every": int(1.1 * updates) // _MODERN_VALIDATIONS,
    }


def _shrink(run: RunSpec) -> RunSpec:
    """Return run settings with a small network of the same kind, which trains in seconds."""
    model_sizes = {
        name: min(value, _SMALL_SHORTLIST_SIZE if name.endswith("shortlist_size") else _SMALL_WIDTH)
        for name, _, value in walk_fields(run.model, "model.")
        if name.endswith("_size")
    }
    return override(
        run,
        {
            **model_sizes,
            "vocab_size": max(run.vocab_size // _SMALL_VOCAB_DIVISOR, 8),
            "source_vocab_size": max(run.source_vocab_size // _SMALL_VOCAB_DIVISOR, 8),
            "data.max_source_words": _SMALL_SOURCE_WORDS,
            "data.max_summary_words": _SMALL_SUMMARY_WORDS,
            "decode.beam_size": 2,
            "decode.max_words": _SMALL_SUMMARY_WORDS,
        },
    )
