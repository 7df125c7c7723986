"""How each variant is spelled in files and on the command line: `kind = "read_again"`."""

from readagain.config.schema import (
    AbsSpec,
    AttentionDecoderSpec,
    AttentiveBagSpec,
    HierarchicalSpec,
    ModelSpec,
    OnePassSpec,
    RasSpec,
    ReadAgainSpec,
)

KINDS: dict[str, type] = {
    "encoder_decoder": ModelSpec,
    "abs": AbsSpec,
    "ras": RasSpec,
    "one_pass": OnePassSpec,
    "read_again": ReadAgainSpec,
    "hierarchical": HierarchicalSpec,
    "attention": AttentionDecoderSpec,
    "attentive_bag": AttentiveBagSpec,
}


def kind_of(spec_type: type) -> str | None:
    """Return the spelling of a variant, or None for a spec that is the only one of its part."""
    return next((kind for kind, variant in KINDS.items() if variant is spec_type), None)
