"""Baselines without a network."""

from readagain.config.schema import BaselineSpec, LeadSpec, PrefixSpec, TopiarySpec

BASELINES: dict[str, BaselineSpec] = {
    "prefix": PrefixSpec(
        title="Prefix",
        paper="Rush, Chopra and Weston 2015 (EMNLP), section 7.2",
    ),
    "lead": LeadSpec(
        title="First sentence",
        paper="none: the usual baseline of news summarization since DUC 2001",
    ),
    "topiary": TopiarySpec(
        title="TOPIARY",
        paper="Zajic, Dorr and Schwartz 2004 (DUC); Dorr, Zajic and Schwartz 2003 (HLT-NAACL)",
    ),
}
