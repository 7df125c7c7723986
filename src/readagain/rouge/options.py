"""What to measure and how: the options of ROUGE-1.5.5 under readable names."""

from dataclasses import dataclass
from typing import Literal, get_args

from readagain.errors import ArgumentError, ConfigError

Figure = Literal["recall", "precision", "f1"]
FIGURES: tuple[Figure, ...] = ("recall", "precision", "f1")

# How several references of one item become one score.
Pooling = Literal["sum", "best", "jackknife"]
# Which skip-bigram measures are wanted: ROUGE-S, ROUGE-SU or both.
SkipUnigrams = Literal["without", "with", "both"]
# What the printed figures average over: the scores of the items, or all their words at once.
Unit = Literal["item", "token"]


@dataclass(frozen=True, kw_only=True)
class RougeOptions:
    """One set of ROUGE-1.5.5 options; the defaults are the script's, except for `max_ngram`."""

    max_ngram: int = 2
    """ROUGE-1 up to ROUGE-N (-n)."""
    rouge_l: bool = True
    """ROUGE-L, the longest common subsequence (off: -x)."""
    wlcs_weight: float | None = None
    """ROUGE-W with this exponent for words in a row (-w)."""
    skip_gap: int | None = None
    """ROUGE-S with at most this many words between the two; -1 for any number (-2)."""
    skip_unigrams: SkipUnigrams = "without"
    """Count single words among the skip-bigrams: ROUGE-SU (-u) or both measures (-U)."""
    stem: bool = False
    """Compare stems (-m)."""
    stop_words: frozenset[str] = frozenset()
    """Words to leave out (-s, with a list of one's own)."""
    max_bytes: int | None = None
    """Read only so many bytes of every text (-b)."""
    max_words: int | None = None
    """Read only so many words of every text (-l)."""
    pooling: Pooling = "sum"
    """Add up hits over references (-f A), take the best one (-f B), or leave each out in turn."""
    alpha: float = 0.5
    """Weight of precision in F (-p)."""
    unit: Unit = "item"
    """Average over items (-t 0) or over all words (-t 1)."""
    samples: int = 1000
    """Bootstrap samples (-r)."""
    confidence: float = 95.0
    """Percentage that the interval covers (-c)."""

    def __post_init__(self) -> None:
        _require_at_least("max_ngram", self.max_ngram, 0)
        _require_at_least("skip_gap", self.skip_gap, -1)
        _require_at_least("max_bytes", self.max_bytes, 1)
        _require_at_least("max_words", self.max_words, 1)
        _require_at_least("samples", self.samples, 2)
        require_one_of("skip_unigrams", self.skip_unigrams, get_args(SkipUnigrams))
        require_one_of("pooling", self.pooling, get_args(Pooling))
        require_one_of("unit", self.unit, get_args(Unit))
        _require_within("alpha", self.alpha, 0, 1)
        _require_within("confidence", self.confidence, 0, 100)
        if self.wlcs_weight is not None and not self.wlcs_weight > 0:
            raise ArgumentError(
                "{wlcs_weight} is {0:g}; expected more than 0, as 1.2", self.wlcs_weight
            )
        if self.max_bytes is not None and self.max_words is not None:
            raise ArgumentError(
                "{max_bytes} is {0} and {max_words} is {1}; a text can be cut by one of them only",
                self.max_bytes,
                self.max_words,
            )
        if self.skip_gap is None and self.skip_unigrams != "without":
            raise ArgumentError(
                "{skip_unigrams} is '{0}' but {skip_gap} is not set; say how many words may stand "
                "between the two, or -1 for any number",
                self.skip_unigrams,
            )
        if not (self.max_ngram or self.rouge_l or self.wlcs_weight or self.skip_gap is not None):
            raise ConfigError("nothing to measure: every kind of ROUGE is switched off")

    def flags(self) -> str:
        """Write the options as one would type them for the script.

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
        # The script has no flag for it: one lists every item once for each reference left out.
        flags += ["(jackknife)"] if self.pooling == "jackknife" else []
        return " ".join(flags)


def require_one_of(name: str, value: str, choices: tuple[str, ...]) -> None:
    """Check a setting that is one of a few words.

    Raises:
        ConfigError: naming the words.
    """
    if value not in choices:
        raise ArgumentError(f"{{{name}}} is '{{0}}'; expected {{1}}", value, ", ".join(choices))


def _require_at_least(name: str, value: int | None, least: int) -> None:
    if value is not None and value < least:
        raise ArgumentError(f"{{{name}}} is {{0}}; expected {{1}} or more", value, least)


def _require_within(name: str, value: float, low: float, high: float) -> None:
    if not low <= value <= high:
        raise ArgumentError(f"{{{name}}} is {{0:g}}; expected {{1:g}} to {{2:g}}", value, low, high)
