"""Presets with small sizes, for tests over all of them."""

from readagain.config.fields import walk_fields
from readagain.config.override import override
from readagain.config.schema import RunSpec
from readagain.presets import PRESETS

V, SOURCE_V = 30, 40
SIZES = {
    "vocab_size": V,
    "source_vocab_size": SOURCE_V,
    "model.embedding_size": 6,
    "model.encoder.hidden_size": 8,
    "model.decoder.hidden_size": 7,
    "model.decoder.attention_size": 5,
    "model.hidden_size": 9,
    "model.num_positions": 3,
}
"""Every width differs, so that no two can be confused."""


def small_preset(name: str, **changes: object) -> RunSpec:
    """Return a preset with small sizes and the given settings, as far as it has them."""
    run = PRESETS[name]
    settings = {path for path, _, _ in walk_fields(run)}
    wanted = {**SIZES, **changes}
    return override(run, {path: value for path, value in wanted.items() if path in settings})
