"""Options of ROUGE-1.5.5 under readable names, and protocols: the options of known evaluations."""

from dataclasses import dataclass, field
from difflib import get_close_matches
from typing import Annotated, Literal

from readagain.config.fields import Range, check_fields
from readagain.errors import ArgumentError, ConfigError

ScoreKind = Literal["recall", "precision", "f1"]
"""Kind of score of a ROUGE measure."""
SCORE_KINDS: tuple[ScoreKind, ...] = ("recall", "precision", "f1")

MEASURES = ("rouge-1", "rouge-2", "rouge-l")
"""Names of the measures that are reported by default."""

UNICODE_PROTOCOL = "unicode"
"""Name of the protocol for users' own data, in any language."""
GIGAWORD_PROTOCOL = "gigaword"
"""Name of the protocol for English texts tokenized as in Gigaword."""


@dataclass(frozen=True, kw_only=True)
class RougeOptions:
    """Options of the Perl script ROUGE-1.5.5, each with the flag of the script.

    The defaults are the script's, except for `max_ngram`. The docstrings of the fields are also the
    help of `readagain rouge`.
    """

    unicode: bool = False
    """Compare words of any language; the script compares ASCII letters and digits only."""
    max_ngram: Annotated[int, Range(1)] = 2
    """Compute ROUGE-1 up to ROUGE-N for this N (script: -n)."""
    rouge_l: bool = True
    """Compute ROUGE-L, the longest common subsequence (off in the script: -x)."""
    stem: bool = False
    """Compare English stems instead of words (script: -m)."""
    max_bytes: Annotated[int | None, Range(1)] = None
    """Truncate every summary and reference to this many bytes (script: -b)."""
    max_words: Annotated[int | None, Range(1)] = None
    """Truncate every summary and reference to this many words (script: -l)."""
    pooling: Literal["sum", "best"] = "sum"
    """With several references, add up their counts, or use only the reference with the highest
    recall (script: -f A, -f B)."""
    samples: Annotated[int, Range(2)] = 1000
    """Number of bootstrap samples for the intervals (script: -r)."""
    confidence: Annotated[float, Range(0, 100)] = 95.0
    """Confidence level of the intervals in percent (script: -c)."""

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

    @property
    def measures(self) -> list[str]:
        """Names of the measures in reports: `rouge-1`, `rouge-2`, `rouge-l`."""
        ngrams = [f"rouge-{size}" for size in range(1, self.max_ngram + 1)]
        return [*ngrams, "rouge-l"] if self.rouge_l else ngrams

    def flags(self) -> str:
        """Return the command-line flags of the script for these options.

        >>> RougeOptions(stem=True, max_bytes=75).flags()
        '-n 2 -m -b 75 -c 95 -r 1000 -f A -p 0.5 -t 0'
        """
        flags = [f"-n {self.max_ngram}"]
        flags += [] if self.rouge_l else ["-x"]
        flags += ["-m"] if self.stem else []
        flags += [] if self.max_bytes is None else [f"-b {self.max_bytes}"]
        flags += [] if self.max_words is None else [f"-l {self.max_words}"]
        flags += [f"-c {self.confidence:g}", f"-r {self.samples}"]
        flags += ["-f B" if self.pooling == "best" else "-f A", "-p 0.5 -t 0"]
        # The script has no flag for this: it compares ASCII words only.
        flags += ["(Unicode words)"] if self.unicode else []
        return " ".join(flags)


@dataclass(frozen=True, kw_only=True)
class Protocol:
    """Options of an evaluation, and the kind of score that it reports."""

    options: RougeOptions = field(default_factory=RougeOptions)
    main_score: ScoreKind = "f1"
    """Kind of score that is printed with an interval and used to compare systems."""

    def __post_init__(self) -> None:
        check_fields(self)


_DUC = Protocol(options=RougeOptions(stem=True, max_bytes=75), main_score="recall")

PROTOCOLS: dict[str, Protocol] = {
    # Rush, Chopra and Weston 2015, section 7. Chopra, Auli and Rush 2016 were the first to report
    # F1 without a length limit.
    GIGAWORD_PROTOCOL: Protocol(options=RougeOptions(stem=True), main_score="f1"),
    # Task 1 of DUC, very short summaries: the first 75 bytes of the summary and of each of four
    # references.
    "duc2003": _DUC,
    "duc2004": _DUC,
    UNICODE_PROTOCOL: Protocol(options=RougeOptions(unicode=True), main_score="f1"),
}


def corpus_protocol(*, is_tokenized: bool) -> str:
    """Return the name of the protocol for a corpus that is, or is not, tokenized as in Gigaword."""
    return GIGAWORD_PROTOCOL if is_tokenized else UNICODE_PROTOCOL


def find_protocol(name: str) -> Protocol:
    """Return a protocol by name.

    Raises:
        ConfigError: for an unknown name; the message suggests the closest one.
    """
    if name in PROTOCOLS:
        return PROTOCOLS[name]
    near = get_close_matches(name, PROTOCOLS, n=1)
    hint = f"did you mean '{near[0]}'?" if near else f"choose one of {', '.join(PROTOCOLS)}"
    raise ConfigError(f"no protocol '{name}'; {hint}")
