"""Prefix and lead: the floor of every table, the beginning of a text as its summary."""

from readagain.config.schema import LeadSpec, PrefixSpec

PREFIX = PrefixSpec(
    title="Prefix",
    paper="Rush, Chopra and Weston 2015 (EMNLP), section 7.2",
)
LEAD = LeadSpec(
    title="First sentence",
    paper="none: the usual floor of news summarization since DUC 2001",
)
