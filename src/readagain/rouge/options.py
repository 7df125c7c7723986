"""Options of ROUGE-1.5.5 under readable names, and the protocols of published results."""

from dataclasses import dataclass, field
from difflib import get_close_matches
from typing import Literal, get_args

from readagain.errors import ArgumentError, ConfigError

Figure = Literal["recall", "precision", "f1"]
FIGURES: tuple[Figure, ...] = ("recall", "precision", "f1")

Pooling = Literal["sum", "best", "jackknife"]
SkipUnigrams = Literal["without", "with", "both"]
Unit = Literal["item", "token"]


def _check_choice(name: str, value: str, choices: tuple[str, ...]) -> None:
    if value not in choices:
        raise ArgumentError(f"{{{name}}} is '{{0}}'; expected {{1}}", value, ", ".join(choices))


def _check_min(name: str, value: int | None, minimum: int) -> None:
    if value is not None and value < minimum:
        raise ArgumentError(f"{{{name}}} is {{0}}; expected {{1}} or more", value, minimum)


def _check_range(name: str, value: float, low: float, high: float) -> None:
    if not low <= value <= high:
        raise ArgumentError(f"{{{name}}} is {{0:g}}; expected {{1:g}} to {{2:g}}", value, low, high)


@dataclass(frozen=True, kw_only=True)
class RougeOptions:
    """Options of ROUGE-1.5.5; the defaults are the script's, except for `max_ngram`."""

    max_ngram: int = 2
    """ROUGE-1 up to ROUGE-N (-n)."""
    rouge_l: bool = True
    """ROUGE-L, the longest common subsequence (off: -x)."""
    wlcs_weight: float | None = None
    """ROUGE-W with this exponent for consecutive matches (-w)."""
    skip_gap: int | None = None
    """ROUGE-S with at most this many words in between; -1 for any number (-2)."""
    skip_unigrams: SkipUnigrams = "without"
    """ROUGE-S, ROUGE-SU with single words (-u), or both (-U)."""
    stem: bool = False
    """Compare stems (-m)."""
    stop_words: frozenset[str] = frozenset()
    """Words to ignore (-s, with a list of one's own)."""
    max_bytes: int | None = None
    """Truncate every text to this many bytes (-b)."""
    max_words: int | None = None
    """Truncate every text to this many words (-l)."""
    pooling: Pooling = "sum"
    """Several references: sum the hits (-f A), take the best (-f B), or leave each out in turn."""
    alpha: float = 0.5
    """Weight of precision in F (-p)."""
    unit: Unit = "item"
    """Average over items (-t 0) or over all words (-t 1)."""
    samples: int = 1000
    """Bootstrap samples (-r)."""
    confidence: float = 95.0
    """Confidence level of the interval in percent (-c)."""

    def __post_init__(self) -> None:
        _check_min("max_ngram", self.max_ngram, 0)
        _check_min("skip_gap", self.skip_gap, -1)
        _check_min("max_bytes", self.max_bytes, 1)
        _check_min("max_words", self.max_words, 1)
        _check_min("samples", self.samples, 2)
        _check_choice("skip_unigrams", self.skip_unigrams, get_args(SkipUnigrams))
        _check_choice("pooling", self.pooling, get_args(Pooling))
        _check_choice("unit", self.unit, get_args(Unit))
        _check_range("alpha", self.alpha, 0, 1)
        _check_range("confidence", self.confidence, 0, 100)
        if self.wlcs_weight is not None and not self.wlcs_weight > 0:
            raise ArgumentError(
                "{wlcs_weight} is {0:g}; expected more than 0, such as 1.2", self.wlcs_weight
            )
        if self.max_bytes is not None and self.max_words is not None:
            raise ArgumentError(
                "{max_bytes} is {0} and {max_words} is {1}; use one of them",
                self.max_bytes,
                self.max_words,
            )
        if self.skip_gap is None and self.skip_unigrams != "without":
            raise ArgumentError(
                "{skip_unigrams} is '{0}' and {skip_gap} is not set; set the number of words in "
                "between, or -1 for any number",
                self.skip_unigrams,
            )
        if not (self.max_ngram or self.rouge_l or self.wlcs_weight or self.skip_gap is not None):
            raise ConfigError("no measure: every kind of ROUGE is switched off; enable one")

    def flags(self) -> str:
        """Return the command-line flags of the script.

        >>> RougeOptions(stem=True, max_bytes=75).flags()
        '-n 2 -m -b 75 -c 95 -r 1000 -f A -p 0.5 -t 0'
        """
        flags = [f"-n {self.max_ngram}"] if self.max_ngram else []
        flags += [] if self.rouge_l else ["-x"]
        flags += [] if self.wlcs_weight is None else [f"-w {self.wlcs_weight:g}"]
        flags += [] if self.skip_gap is None else [f"-2 {self.skip_gap}"]
        flags += {"without": [], "with": ["-u"], "both": ["-U"]}[self.skip_unigrams]
        flags += ["-m"] if self.stem else []
        flags += ["-s"] if self.stop_words else []
        flags += [] if self.max_bytes is None else [f"-b {self.max_bytes}"]
        flags += [] if self.max_words is None else [f"-l {self.max_words}"]
        flags += [f"-c {self.confidence:g}", f"-r {self.samples}"]
        flags += ["-f B" if self.pooling == "best" else "-f A", f"-p {self.alpha:g}"]
        flags += ["-t 1" if self.unit == "token" else "-t 0"]
        # The script has no flag for it: its configuration lists each left-out reference.
        flags += ["(jackknife)"] if self.pooling == "jackknife" else []
        return " ".join(flags)


@dataclass(frozen=True, kw_only=True)
class Protocol:
    """Options of a published evaluation, and the score that it quotes with an interval."""

    options: RougeOptions = field(default_factory=RougeOptions)
    headline: Figure = "f1"

    def __post_init__(self) -> None:
        _check_choice("headline", self.headline, FIGURES)


_DUC = Protocol(options=RougeOptions(stem=True, max_bytes=75), headline="recall")

PROTOCOLS: dict[str, Protocol] = {
    # Rush, Chopra and Weston 2015, section 7; full-length F1 since Chopra, Auli and Rush 2016.
    "gigaword": Protocol(options=RougeOptions(stem=True), headline="f1"),
    # Task 1, very short summaries: 75 bytes of summary and references, four references.
    "duc2003": _DUC,
    "duc2004": _DUC,
}


def find_protocol(name: str) -> Protocol:
    """Return a protocol by name.

    Raises:
        ConfigError: with the closest name.
    """
    if name in PROTOCOLS:
        return PROTOCOLS[name]
    near = get_close_matches(name, PROTOCOLS, n=1)
    hint = f"did you mean '{near[0]}'?" if near else f"choose one of {', '.join(PROTOCOLS)}"
    raise ConfigError(f"no protocol '{name}'; {hint}")
