"""The settings of a row: its preset, the scale, and how it is trained."""

from dataclasses import fields, is_dataclass, replace
from typing import Any, Literal

from readagain.config.override import override
from readagain.config.parameters import count_parameters
from readagain.config.schema import ModelSpec, RunSpec
from readagain.experiments.rows import Experiment
from readagain.presets import PRESETS

Scale = Literal["small", "paper"]
Recipe = Literal["modern", "paper"]

# A point to validate and to go on from. Of a minute's training some suffice, since each costs
# seconds of writing; the paper's recipe takes minutes and is validated after each epoch.
_MODERN_VALIDATIONS = 2
_MODERN_EPOCHS = 5
# A part of the corpus is seen more often, or there would be too few updates.
_MODERN_UPDATES = 8_000
_MODERN_WARMUP = 1_344
# Not larger: without copying a network learns late to look at the text, and after as many pairs
# in batches of 1,024 it has hardly begun.
_MODERN_BATCH = 256

_WIDTH_STEP = 16  # the kernels for GPUs take widths that are multiples of it
_COMMON_WORDS = 15_000  # the size that most of the paper's rows have

# What `small` leaves of widths, vocabularies and training.
_SMALL_WIDTH = 16
_SMALL_WORDS = 100  # one word for so many
_SMALL_SOURCE, _SMALL_SUMMARY = 30, 12
_SMALL_SHORTLIST = 40  # room for every word of a source
_SMALL_BATCH, _SMALL_EPOCHS, _SMALL_RATE = 32, 8, 5e-3


def row_run(
    row: Experiment,
    *,
    scale: Scale,
    recipe: Recipe,
    seed: int,
    train_pairs: int,
    epochs: int | None = None,
) -> RunSpec:
    """Resolve what is trained for a row.

    Args:
        row: a row whose system is a preset.
        scale: the paper's sizes, or small ones.
        recipe: how to train.
        seed: of weights, order and dropout.
        train_pairs: the size of the corpus, which decides how often a modern recipe sees it.
        epochs: instead of the recipe's; written down with the result like every setting.
    """
    run = row_network(row, scale=scale)
    training = _training(row, recipe, scale, train_pairs, epochs)
    return override(run, {**training, "train.seed": seed})


def row_network(row: Experiment, *, scale: Scale) -> RunSpec:
    """Resolve the network of a row, whichever way it is trained."""
    run = PRESETS[row.system]
    changes = {"title": row.title, **row.changes}
    run = override(run, changes) if scale == "paper" else _shrunk(override(run, changes))
    if row.as_large_as is None:
        return run
    twin = PRESETS[row.as_large_as]
    wanted = count_parameters(twin if scale == "paper" else _shrunk(twin))
    return widened(run, wanted)


def common_words(scale: Scale) -> int:
    """Return the size of the vocabulary by which rows of all sizes are counted alike."""
    return _COMMON_WORDS if scale == "paper" else _COMMON_WORDS // _SMALL_WORDS


def widened(run: RunSpec, parameters: int) -> RunSpec:
    """Widen the encoder of a run until its network has at least so many parameters."""
    assert isinstance(run.model, ModelSpec)
    width = run.model.encoder.hidden_size
    while count_parameters(run) < parameters:
        width += _WIDTH_STEP
        run = override(run, {"model.encoder.hidden_size": width})
    return run


def _training(
    row: Experiment, recipe: Recipe, scale: Scale, pairs: int, epochs: int | None
) -> dict[str, object]:
    """Say what is changed in how a preset is trained; the paper's recipe is the preset's own."""
    is_modern = recipe == "modern"
    changes: dict[str, object] = {"train": "modern"} if is_modern else {}
    if scale == "small":
        changes |= {
            "train.batch_size": _SMALL_BATCH,
            "train.epochs": _SMALL_EPOCHS,
            "train.precision": "float32",
            "train.rouge_pairs": 0,
        }
        if is_modern:
            changes |= {
                "train.learning_rate": _SMALL_RATE,
                "train.warmup_steps": 0,
                "train.ema_decay": 0.9,
            }
    else:
        changes |= {"train.precision": "bfloat16", "train.rouge_pairs": 64, "train.log_every": 100}
        if is_modern:
            changes |= {
                **_modern(pairs, epochs or row.modern_epochs),
                "train.learning_rate": row.modern_rate,
            }
    return changes if epochs is None else changes | {"train.epochs": epochs}


def _modern(pairs: int, epochs: int | None) -> dict[str, int]:
    steps = max(1, -(-pairs // _MODERN_BATCH))
    most = 3 * _MODERN_EPOCHS
    epochs = epochs or max(_MODERN_EPOCHS, min(most, _MODERN_UPDATES // steps))
    updates = epochs * steps
    return {
        "train.batch_size": _MODERN_BATCH,
        "train.epochs": epochs,
        "train.warmup_steps": min(_MODERN_WARMUP, updates // 8),
        # Batches of like lengths are not all full, so there are a few more than counted here.
        "train.validate_every": int(1.1 * updates) // _MODERN_VALIDATIONS,
    }


def _shrunk(run: RunSpec) -> RunSpec:
    """Make a network that trains in a second or two, and is like its large brother otherwise."""
    return replace(
        run,
        vocab_size=max(run.vocab_size // _SMALL_WORDS, 8),
        source_vocab_size=max(run.source_vocab_size // _SMALL_WORDS, 8),
        model=_narrowed(run.model),
        data=replace(run.data, max_source_words=_SMALL_SOURCE, max_summary_words=_SMALL_SUMMARY),
        decode=replace(run.decode, beam_size=2, max_words=_SMALL_SUMMARY),
    )


def _narrowed(spec: Any) -> Any:
    """Narrow every width of a part and of its parts."""
    changes: dict[str, Any] = {}
    for each in fields(spec):
        value = getattr(spec, each.name)
        if is_dataclass(value):
            changes[each.name] = _narrowed(value)
        elif each.name == "shortlist_size":
            changes[each.name] = min(value, _SMALL_SHORTLIST)
        elif each.name.endswith("_size") and isinstance(value, int):
            changes[each.name] = min(value, _SMALL_WIDTH)
    return replace(spec, **changes)
