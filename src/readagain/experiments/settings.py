"""Options of a reproduction, and run settings of an experiment."""

from collections.abc import Sequence
from dataclasses import dataclass, field, fields, is_dataclass, replace
from pathlib import Path
from typing import Any, Literal, get_args

from readagain.config.fields import join_with_or
from readagain.config.override import override, parse_assignments
from readagain.config.parameters import count_parameters
from readagain.config.schema import ModelSpec, RunSpec
from readagain.errors import ArgumentError
from readagain.experiments.catalog import RECIPES, Experiment, Recipe
from readagain.presets import PRESETS

Scale = Literal["small", "paper"]

_MODERN_VALIDATIONS = 2  # a validation takes seconds, the training about a minute
_MODERN_EPOCHS = 5
_MODERN_UPDATES = 8_000  # smaller corpora are trained on for more epochs to reach this number
_MODERN_WARMUP = 1_344
_WIDTH_STEP = 16  # the GPU kernels require a multiple of it
_COMMON_VOCAB = 15_000  # vocabulary size of most of the paper's rows

_SMALL_WIDTH = 16
_SMALL_VOCAB_DIVISOR = 100
_SMALL_SOURCE_WORDS, _SMALL_SUMMARY_WORDS = 30, 12
_SMALL_SHORTLIST = 40  # enough for all words of a source


@dataclass(frozen=True, kw_only=True)
class ReproduceOptions:
    """Options of a reproduction.

    Args:
        names: tables and experiments; all if empty.
        out: directory of the results; results of other machines can be copied into its `rows/`.
        data: the prepared corpus; None for a synthetic one at small scale.
        tests: additional data sets by name.
        scale, recipes, seeds, only_seed, epochs, changes: see `experiment_run` and `plan_runs`.
        max_minutes: training time of a run, after which its best checkpoint is scored and the
            result records that the training had not converged; None for no limit.
        limit: score only the first texts of each data set.
        device_name, threads: device, and number of CPU threads.
        keep_weights: keep the model directories of finished experiments in `work/`.
    """

    names: Sequence[str] = ()
    out: Path
    data: Path | None = None
    tests: dict[str, Path] = field(default_factory=dict)
    scale: Scale = "paper"
    recipes: Sequence[Recipe] = ("converged",)
    seeds: int = 1
    only_seed: int | None = None
    epochs: int | None = None
    changes: Sequence[str] = ()
    max_minutes: float | None = None
    limit: int | None = None
    device_name: Literal["auto", "cpu", "cuda"] = "auto"
    threads: int = 0
    keep_weights: bool = False

    def __post_init__(self) -> None:
        for recipe in self.recipes:
            if recipe not in get_args(Recipe):
                raise ArgumentError(
                    "{recipe} is {0!r}; expected {1}", recipe, join_with_or(get_args(Recipe))
                )

    @property
    def work(self) -> Path:
        """Directory for temporary weights and subsets of corpora."""
        return self.out / "work"


def experiment_run(
    experiment: Experiment,
    *,
    scale: Scale,
    recipe: Recipe,
    seed: int,
    train_pairs: int,
    epochs: int | None = None,
    changes: Sequence[str] = (),
) -> RunSpec:
    """Return the run that trains an experiment.

    Args:
        experiment: an experiment whose system is a preset.
        scale: the paper's sizes, or small ones.
        recipe: `converged` trains until the loss on the selection split no longer improves,
            `modern` for a fixed number of epochs, `paper` with the training settings of the preset.
        seed: random seed of weights, data order and dropout.
        train_pairs: size of the corpus, from which `modern` derives the number of epochs.
        epochs: overrides the recipe.
        changes: assignments such as `train.batch_size=512`, which override the recipe.
    """
    settings: dict[str, object] = {"train.seed": seed, **RECIPES[recipe][scale]}
    is_paper_scale = scale == "paper"
    if is_paper_scale and recipe != "paper":
        settings["train.learning_rate"] = experiment.adamw_learning_rate
    if is_paper_scale and recipe == "modern":
        batch_size = RECIPES[recipe][scale]["train.batch_size"]
        steps = max(1, -(-train_pairs // batch_size))
        settings |= _modern_schedule(steps, epochs or experiment.modern_epochs)
    if epochs is not None:
        settings["train.epochs"] = epochs
    run = override(experiment_network(experiment, scale=scale), settings)
    run = override(run, parse_assignments(changes), where="--set")
    if recipe == "converged" and is_paper_scale and not run.train.validate_every:
        steps = max(1, train_pairs // (2 * run.train.batch_size))
        run = override(run, {"train.validate_every": steps})
    return run


def experiment_network(experiment: Experiment, *, scale: Scale) -> RunSpec:
    """Return the run of an experiment with the training settings of its preset."""
    run = override(PRESETS[experiment.system], {"title": experiment.title, **experiment.changes})
    if scale == "small":
        run = _shrink(run)
    if experiment.match_parameters is None:
        return run
    larger = PRESETS[experiment.match_parameters]
    num_parameters = count_parameters(larger if scale == "paper" else _shrink(larger))
    assert isinstance(run.model, ModelSpec)
    width = run.model.encoder.hidden_size
    while count_parameters(run) < num_parameters:
        width += _WIDTH_STEP
        run = override(run, {"model.encoder.hidden_size": width})
    return run


def common_vocab_size(scale: Scale) -> int:
    """Return the vocabulary size that defines out-of-vocabulary words for all experiments."""
    return _COMMON_VOCAB if scale == "paper" else _COMMON_VOCAB // _SMALL_VOCAB_DIVISOR


def _modern_schedule(steps_per_epoch: int, epochs: int | None) -> dict[str, object]:
    if epochs is None:
        enough = _MODERN_UPDATES // steps_per_epoch
        epochs = max(_MODERN_EPOCHS, min(3 * _MODERN_EPOCHS, enough))
    updates = epochs * steps_per_epoch
    return {
        "train.epochs": epochs,
        "train.warmup_steps": min(_MODERN_WARMUP, updates // 8),
        # Some bucketed batches are not full, so there are a few more than calculated here.
        "train.validate_every": int(1.1 * updates) // _MODERN_VALIDATIONS,
    }


def _shrink(run: RunSpec) -> RunSpec:
    """Return a run of the same kind with a small network, which trains in a second or two."""
    return replace(
        run,
        vocab_size=max(run.vocab_size // _SMALL_VOCAB_DIVISOR, 8),
        source_vocab_size=max(run.source_vocab_size // _SMALL_VOCAB_DIVISOR, 8),
        model=_shrink_sizes(run.model),
        data=replace(
            run.data, max_source_words=_SMALL_SOURCE_WORDS, max_summary_words=_SMALL_SUMMARY_WORDS
        ),
        decode=replace(run.decode, beam_size=2, max_words=_SMALL_SUMMARY_WORDS),
    )


def _shrink_sizes(spec: Any) -> Any:
    changes: dict[str, Any] = {}
    for each in fields(spec):
        value = getattr(spec, each.name)
        if is_dataclass(value):
            changes[each.name] = _shrink_sizes(value)
        elif each.name == "shortlist_size":
            changes[each.name] = min(value, _SMALL_SHORTLIST)
        elif each.name.endswith("_size") and isinstance(value, int):
            changes[each.name] = min(value, _SMALL_WIDTH)
    return replace(spec, **changes)
