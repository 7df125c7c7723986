"""Settings of a fit, chosen from the number of pairs, their lengths and the machine."""

import math
from dataclasses import asdict, dataclass
from typing import Any

from readagain.config.files import run_from_dict, spec_to_dict
from readagain.config.override import override
from readagain.config.schema import RunSpec
from readagain.presets.paper import CITATION, READ_AGAIN_LSTM_COPY
from readagain.training.timing import Timing

MIN_PAIRS = 50
"""Minimum number of training pairs; with fewer pairs, the scores of the report are only noise."""
PATIENCE = 3
"""Number of epochs without a lower dev loss after which training stops."""
NUM_ADDED_WORDS = 1000
"""Number of words of the corpus that fine-tuning adds to each vocabulary."""


@dataclass(frozen=True, kw_only=True)
class NetworkSize:
    """Size of a new network.

    Args:
        min_pairs: minimum number of training pairs for which this size is chosen on a GPU.
        min_pairs_on_cpu: the same on a CPU, where larger networks take hours.
        learning_rate: learning rate after warm-up.
        settings: sizes of the vocabularies and layers.
    """

    min_pairs: int
    min_pairs_on_cpu: float
    learning_rate: float
    settings: dict[str, int]


def _layer_sizes(embedding: int, encoder: int, decoder: int) -> dict[str, int]:
    return {
        "model.embedding_size": embedding,
        "model.encoder.hidden_size": encoder,
        "model.decoder.hidden_size": decoder,
        "model.decoder.attention_size": embedding,
    }


SIZES: dict[str, NetworkSize] = {
    "small": NetworkSize(
        min_pairs=0,
        min_pairs_on_cpu=0,
        learning_rate=4e-3,
        settings={"source_vocab_size": 12_000, "vocab_size": 6000, **_layer_sizes(96, 96, 160)},
    ),
    "base": NetworkSize(
        min_pairs=10_000,
        min_pairs_on_cpu=100_000,
        learning_rate=2e-3,
        settings={"source_vocab_size": 24_000, "vocab_size": 10_000, **_layer_sizes(192, 224, 384)},
    ),
    "large": NetworkSize(
        min_pairs=200_000,
        min_pairs_on_cpu=math.inf,
        learning_rate=1e-3,
        settings={"source_vocab_size": 40_000, "vocab_size": 16_000, **_layer_sizes(256, 320, 512)},
    ),
}


@dataclass(frozen=True, kw_only=True)
class FitPlan:
    """Settings that were chosen for a fit, and measured times.

    `network_name` is the size (a key of `SIZES`) of a new network, or the name of the model to
    fine-tune; it is stored as "size" in the plan file.
    """

    run: RunSpec
    network_name: str
    timing: Timing

    def to_dict(self) -> dict[str, Any]:
        """Return the content of the plan file."""
        run, timing = spec_to_dict(self.run), asdict(self.timing)
        return {"run": run, "size": self.network_name, "timing": timing}

    @classmethod
    def from_dict(cls, content: dict[str, Any]) -> "FitPlan":
        """Return the plan from the content of the plan file."""
        return cls(
            run=run_from_dict(content["run"], where="plan.json"),
            network_name=content["size"],
            timing=Timing(**content["timing"]),
        )


def choose_size(num_pairs: int, *, has_gpu: bool) -> str:
    """Return the largest size whose minimum number of pairs is reached.

    >>> choose_size(40_000, has_gpu=True), choose_size(40_000, has_gpu=False)
    ('base', 'small')
    """
    names = [
        name
        for name, size in SIZES.items()
        if num_pairs >= (size.min_pairs if has_gpu else size.min_pairs_on_cpu)
    ]
    return names[-1]


def choose_settings(
    size: str, num_pairs: int, statistics: dict[str, Any], *, is_spaced: bool, has_gpu: bool
) -> RunSpec:
    """Return the settings to train a new network from random weights.

    The maximum lengths follow the lengths of the pairs, within limits: 90% of the texts and 99% of
    the headlines are not truncated.

    Args:
        size: a key of `SIZES`.
        num_pairs: the number of training pairs.
        statistics: percentiles of the lengths of the training pairs, from the report of `prepare`,
            such as `{"words_per_text": {"p90": 64, ...}, ...}`.
        is_spaced: whether spaces separate words, as in `Language`; otherwise characters are tokens.
        has_gpu: whether the network is trained on a GPU.
    """
    batch_size = _batch_size(num_pairs, max_size=512 if has_gpu else 64)
    steps_per_epoch = math.ceil(num_pairs / batch_size)
    # About 1,200 updates, within limits on the number of epochs.
    min_epochs, max_epochs = (12, 60) if has_gpu else (8, 40)
    epochs = _clamp(math.ceil(1200 / steps_per_epoch), min_epochs, max_epochs)
    sentences = statistics["sentences_per_text"]["p90"]
    text_words = statistics["words_per_text"]["p90"]
    headline_words = _clamp(statistics["words_per_summary"]["p99"], 8, 32 if is_spaced else 48)
    return override(
        READ_AGAIN_LSTM_COPY,
        {
            "title": f"{size} model trained by readagain fit",
            "paper": f"{CITATION}, section 3; sizes are ours",
            **SIZES[size].settings,
            "model.encoder.bidirectional": True,
            "model.dropout": 0.3 if num_pairs < 100_000 else 0.2,
            "data.num_sentences": max(sentences, 1),
            "data.join_sentences": True,
            "data.max_source_words": _clamp(text_words, 16, 80 if is_spaced else 160),
            "data.max_summary_words": headline_words,
            **_training_settings(batch_size, epochs, num_pairs),
            "train.learning_rate": SIZES[size].learning_rate,
            "train.warmup_steps": min(300, steps_per_epoch),
            "decode.max_words": headline_words,
            "decode.no_repeat_ngram": 2,
            "decode.length_penalty": 1.0,
        },
    )


def choose_fine_tuning_settings(run: RunSpec, num_pairs: int, *, has_gpu: bool) -> RunSpec:
    """Return the settings to fine-tune a model; its network and decoding settings are kept."""
    batch_size = _batch_size(num_pairs, max_size=256 if has_gpu else 32)
    steps_per_epoch = math.ceil(num_pairs / batch_size)
    # About 120 updates, within limits on the number of epochs.
    min_epochs, max_epochs = (4, 10) if has_gpu else (2, 6)
    epochs = _clamp(math.ceil(120 / steps_per_epoch), min_epochs, max_epochs)
    return override(
        run,
        {
            **_training_settings(batch_size, epochs, num_pairs),
            "train.learning_rate": 5e-4,
            "train.warmup_steps": min(30, steps_per_epoch),
        },
    )


def _training_settings(batch_size: int, epochs: int, num_pairs: int) -> dict[str, Any]:
    """Return the training settings that are the same for new and fine-tuned networks."""
    num_updates = epochs * math.ceil(num_pairs / batch_size)
    # The moving average of the weights covers about the last twentieth of the updates.
    ema_decay = round(min(max(1 - 20 / num_updates, 0.8), 0.9995), 4)
    return {
        "train": "modern",  # the recipe, which the settings below change
        "train.batch_size": batch_size,
        "train.epochs": epochs,
        "train.label_smoothing": 0.1,
        "train.ema_decay": ema_decay,
        "train.patience": PATIENCE,
        # Few texts, since their ROUGE is only printed; the best weights are those with the lowest
        # dev loss.
        "train.rouge_pairs": 16,
        "train.log_every": 10,
    }


def _batch_size(num_pairs: int, *, max_size: int) -> int:
    """Return a power of two near `num_pairs` / 300, for about 300 updates per epoch, within limits.

    >>> _batch_size(5_000, max_size=64), _batch_size(40_000, max_size=512)
    (32, 128)
    """
    min_size = 32 if num_pairs > 1000 else 16
    return _clamp(2 ** max(round(math.log2(num_pairs / 300)), 0), min_size, max_size)


def _clamp(value: int, low: int, high: int) -> int:
    return min(max(value, low), high)
