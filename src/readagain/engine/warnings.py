"""Warnings about a summary: a code for programs and a message for people."""

from dataclasses import dataclass

from readagain.engine.source import SourceText
from readagain.text.language import UNDETERMINED, Language, count_scripts, detect_language

MESSAGES = {
    "too_short": "the text is too short to summarize",
    "truncated": "only {0} of the text was read",
    "language": "the text seems to be {0}; the model writes {1}",
    "numbers": "a number may be wrong or belong to something else",
    "negation": "a negation may be missing or added",
    "modality": "something uncertain may be stated as a fact",
    "cut_off": "the end of the headline may be missing",
    "repetition": "a word may be repeated by mistake",
    "restriction": "a word that limits the meaning of another, such as 'former', may be missing",
    "subject": "the headline may be about something other than the text",
    "agreement": "a verb may not agree with its subject",
    "low_confidence": "the headline was left out, since its confidence is below the minimum",
    "fallback": "a shortened first sentence replaces a headline below the minimum confidence",
}
"""Message of each warning code."""
NO_WORDS_MESSAGE = "the text has no words"
"""Message of `too_short` for a text without a letter or a digit."""
_MIN_FUNCTION_WORDS = 0.2
"""A text is assumed to be in the model's language if at least this fraction of its words are
function words of that language. 95% of English texts are above it."""


@dataclass(frozen=True)
class SummaryWarning:
    """A possible problem of a summary."""

    code: str
    message: str

    def __str__(self) -> str:
        return self.message


def warning(code: str, *values: str) -> SummaryWarning:
    """Return the warning with a code; `values` are inserted into its message."""
    return SummaryWarning(code, MESSAGES[code].format(*values))


def source_warnings(source: SourceText, language: Language) -> tuple[SummaryWarning, ...]:
    """Return the warnings about a text that is too long, or not in the language of the model."""
    warnings = []
    if source.is_truncated:
        warnings.append(warning("truncated", percent(source.read_share)))
    if other_language := _other_language(source, language):
        warnings.append(warning("language", other_language, language.name))
    return tuple(warnings)


def percent(share: float) -> str:
    """Format a share in percent: 100% only if it is exactly 1, and never 0%.

    >>> percent(0.996), percent(0.001), percent(1.0)
    ('99%', '1%', '100%')
    """
    return f"{100 if share == 1 else min(99, max(1, round(100 * share)))}%"


def _other_language(source: SourceText, language: Language) -> str:
    """Return the name of the language of a text if it is not that of the model, otherwise ''.

    If only the script of the text is known to differ, return "in the ... script".
    """
    norms = [word.norm for word in source.read_words]
    if language.code == UNDETERMINED or not norms:
        return ""
    num_function_words = sum(norm in language.function_words for norm in norms)
    if num_function_words >= _MIN_FUNCTION_WORDS * len(norms):
        return ""
    text = source.document.text[source.document.words[0].start :]
    detected = detect_language(text)
    if detected is not None:
        return "" if detected.code == language.code else detected.name
    counts = count_scripts(text)
    main_script = max(counts, key=lambda script: counts[script], default=language.script)
    return "" if main_script == language.script else f"in the {main_script} script"
