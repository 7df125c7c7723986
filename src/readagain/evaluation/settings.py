"""How each protocol has a model search, where not as the model's own settings say."""

from typing import Any

# "We generate summaries with 15 words using beam-size of 10" (Zeng, Luo, Fidler and Urtasun 2016,
# section 4), of which ROUGE then reads 75 bytes.
_PAPERS_DUC = {"beam_size": 10, "min_words": 15, "max_words": 15, "min_bytes": 0, "max_bytes": 0}
# A search that knows the 75 bytes fills them better than one whose words are cut off behind them.
# Spaces do not count for the minimum: with those of a dozen words it is about 72. The measure is
# recall, and so is that of the vote, which many beginnings make a better one.
_DUC = {
    "beam_size": 32,
    "min_words": 1,
    "max_words": 20,
    "min_bytes": 61,
    "max_bytes": 75,
    "consensus_by": "recall",
}

PROTOCOL_SETTINGS: dict[str, dict[str, Any]] = {
    "gigaword": {},
    "duc2003": _DUC,
    "duc2004": _DUC,
}

PAPER_SETTINGS: dict[str, dict[str, Any]] = {
    "gigaword": {},
    "duc2003": _PAPERS_DUC,
    "duc2004": _PAPERS_DUC,
}
"""How the paper has its rows search, for tables that are held against its own."""
