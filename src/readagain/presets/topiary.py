"""TOPIARY: topic words, then the first sentence trimmed; the best system of DUC 2004, task 1."""

from readagain.config.schema import TopiarySpec

SPEC = TopiarySpec(
    title="TOPIARY",
    paper="Zajic, Dorr and Schwartz 2004 (DUC); Dorr, Zajic and Schwartz 2003 (HLT-NAACL)",
)
