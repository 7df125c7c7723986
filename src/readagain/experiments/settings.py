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
from readagain.experiments.catalog import Experiment, Recipe
from readagain.presets import PRESETS

Scale = Literal["small", "paper"]

_MODERN_VALIDATIONS = 2  # a validation takes seconds, the training about a minute
_MODERN_EPOCHS = 5
_MODERN_UPDATES = 8_000  # smaller corpora are trained on for more epochs to reach this number
_ADAMW_WARMUP = 1_344
# Not larger: with batches of 1,024 examples, networks without copying hardly learned to attend to
# the source.
_ADAMW_BATCH = 256
_PAPER_SCALE: dict[str, object] = {
    "train.precision": "bfloat16",
    "train.rouge_pairs": 64,
    "train.log_every": 100,
}
# The same rule for all experiments: validate on the selection split after every half epoch, halve
# the learning rate after a validation without improvement, stop after three such validations in a
# row.
_CONVERGED: dict[str, object] = {
    "train.schedule": "plateau",
    "train.patience": 3,
    "train.rouge_pairs": 0,
}
_CONVERGED_PAPER_SCALE: dict[str, object] = {
    "train.batch_size": _ADAMW_BATCH,
    "train.warmup_steps": _ADAMW_WARMUP,
    "train.epochs": 40,
}
_SMALL_SCALE: dict[str, object] = {
    "train.batch_size": 32,
    "train.epochs": 8,
    "train.precision": "float32",
    "train.rouge_pairs": 0,
}
_SMALL_ADAMW: dict[str, object] = {
    "train.learning_rate": 5e-3,
    "train.warmup_steps": 0,
    "train.ema_decay": 0.9,
}
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
    is_paper_scale = scale == "paper"
    settings: dict[str, object] = {"train.seed": seed}
    if recipe == "paper":
        settings |= _PAPER_SCALE if is_paper_scale else _SMALL_SCALE
    elif is_paper_scale:
        settings |= {"train": "modern", **_PAPER_SCALE}
        settings["train.learning_rate"] = experiment.adamw_learning_rate
    else:
        settings |= {"train": "modern", **_SMALL_SCALE, **_SMALL_ADAMW}
    if recipe == "modern" and is_paper_scale:
        settings |= _modern_schedule(train_pairs, epochs or experiment.modern_epochs)
    if recipe == "converged":
        settings |= _CONVERGED | (_CONVERGED_PAPER_SCALE if is_paper_scale else {})
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


def _modern_schedule(train_pairs: int, epochs: int | None) -> dict[str, object]:
    steps = max(1, -(-train_pairs // _ADAMW_BATCH))
    epochs = epochs or max(_MODERN_EPOCHS, min(3 * _MODERN_EPOCHS, _MODERN_UPDATES // steps))
    updates = epochs * steps
    return {
        "train.batch_size": _ADAMW_BATCH,
        "train.epochs": epochs,
        "train.warmup_steps": min(_ADAMW_WARMUP, updates // 8),
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
