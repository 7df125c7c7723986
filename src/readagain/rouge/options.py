"""Options of ROUGE-1.5.5 under readable names, and protocols."""

from dataclasses import dataclass, field
from difflib import get_close_matches
from typing import Annotated, Literal

from readagain.config.fields import Range, check_fields
from readagain.errors import ArgumentError, ConfigError

ScoreKind = Literal["recall", "precision", "f1"]
"""Kind of score of a ROUGE measure."""
SCORE_KINDS: tuple[ScoreKind, ...] = ("recall", "precision", "f1")

UNICODE = "unicode"
"""Protocol for users' own data, in any language."""
GIGAWORD = "gigaword"


@dataclass(frozen=True, kw_only=True)
class RougeOptions:
    """Options of ROUGE-1.5.5; the defaults are the script's, except for `max_ngram`."""

    unicode: bool = False
    """Compare words of any language; the script compares ASCII letters and digits only."""
    max_ngram: Annotated[int, Range(0)] = 2
    """ROUGE-1 up to ROUGE-N (-n)."""
    rouge_l: bool = True
    """ROUGE-L, the longest common subsequence (off: -x)."""
    wlcs_weight: Annotated[float | None, Range(0, exclusive=True)] = None
    """ROUGE-W with this exponent for consecutive matches, such as 1.2 (-w)."""
    skip_gap: Annotated[int | None, Range(-1)] = None
    """ROUGE-S with at most this many words in between; -1 for any number (-2)."""
    skip_unigrams: Literal["without", "with", "both"] = "without"
    """Unigrams besides skip-bigrams: without (ROUGE-S), with (ROUGE-SU, -u), or both (-U)."""
    stem: bool = False
    """Compare stems (-m)."""
    stop_words: frozenset[str] = frozenset()
    """Words to ignore (-s)."""
    max_bytes: Annotated[int | None, Range(1)] = None
    """Truncate every text to this many bytes (-b)."""
    max_words: Annotated[int | None, Range(1)] = None
    """Truncate every text to this many words (-l)."""
    pooling: Literal["sum", "best", "jackknife"] = "sum"
    """Several references: sum the hits (-f A), take the best (-f B), or leave out each in turn."""
    alpha: Annotated[float, Range(0, 1)] = 0.5
    """Weight of precision in F (-p)."""
    unit: Literal["item", "token"] = "item"
    """Average over items (-t 0) or over all words (-t 1)."""
    samples: Annotated[int, Range(2)] = 1000
    """Bootstrap samples (-r)."""
    confidence: Annotated[float, Range(0, 100)] = 95.0
    """Confidence level of the intervals in percent (-c)."""

    def __post_init__(self) -> None:
        check_fields(self)
        if self.max_bytes is not None and self.max_words is not None:
            raise ArgumentError(
                "{max_bytes} is {0} and {max_words} is {1}; use one of them",
                self.max_bytes,
                self.max_words,
            )
        if self.stem and self.unicode:
            raise ArgumentError("{stem}: the stemmer is English; remove {stem} or {unicode}")
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
        # The script has no flags for these. Its configuration file lists the references of each
        # jackknife evaluation, and it compares ASCII words only.
        flags += ["(jackknife)"] if self.pooling == "jackknife" else []
        flags += ["(Unicode words)"] if self.unicode else []
        return " ".join(flags)


@dataclass(frozen=True, kw_only=True)
class Protocol:
    """Options of a published evaluation, and the main score that it reports."""

    options: RougeOptions = field(default_factory=RougeOptions)
    main_score: ScoreKind = "f1"

    def __post_init__(self) -> None:
        check_fields(self)


_DUC = Protocol(options=RougeOptions(stem=True, max_bytes=75), main_score="recall")

PROTOCOLS: dict[str, Protocol] = {
    # Rush, Chopra and Weston 2015, section 7; full-length F1 since Chopra, Auli and Rush 2016.
    GIGAWORD: Protocol(options=RougeOptions(stem=True), main_score="f1"),
    # Task 1, very short summaries: 75 bytes of summary and references, four references.
    "duc2003": _DUC,
    "duc2004": _DUC,
    UNICODE: Protocol(options=RougeOptions(unicode=True), main_score="f1"),
}


def corpus_protocol(*, is_tokenized: bool) -> str:
    """Return the protocol for a corpus: `GIGAWORD` if it is tokenized as Gigaword, or `UNICODE`."""
    return GIGAWORD if is_tokenized else UNICODE


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
