"""Protocols: the options under which published figures were made, and the figure they quote."""

from dataclasses import dataclass, field
from difflib import get_close_matches

from readagain.errors import ConfigError
from readagain.rouge.options import FIGURES, Figure, RougeOptions, require_one_of


@dataclass(frozen=True, kw_only=True)
class Protocol:
    """How to score, and which figure to quote; its interval is the one that reports show."""

    options: RougeOptions = field(default_factory=RougeOptions)
    headline: Figure = "f1"

    def __post_init__(self) -> None:
        require_one_of("headline", self.headline, FIGURES)


_DUC = Protocol(options=RougeOptions(stem=True, max_bytes=75), headline="recall")

PROTOCOLS: dict[str, Protocol] = {
    # Rush, Chopra and Weston 2015, section 7; full-length F1 since Chopra, Auli and Rush 2016.
    "gigaword": Protocol(options=RougeOptions(stem=True), headline="f1"),
    # Task 1, very short summaries: 75 bytes of summary and references, four references.
    "duc2003": _DUC,
    "duc2004": _DUC,
}


def find_protocol(name: str) -> Protocol:
    """Look a protocol up by its name.

    Raises:
        ConfigError: naming the nearest protocol there is.
    """
    if name in PROTOCOLS:
        return PROTOCOLS[name]
    near = get_close_matches(name, PROTOCOLS, n=1)
    hint = f"did you mean '{near[0]}'?" if near else f"choose one of {', '.join(PROTOCOLS)}"
    raise ConfigError(f"no protocol '{name}'; {hint}")
