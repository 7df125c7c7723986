"""Confidence of a headline: a logistic model over features of the headline and its text."""

from collections.abc import Sequence

from readagain.engine.checks import CHECKS, CheckedWord, Words, align
from readagain.engine.source import SourceText
from readagain.engine.summary import Summary
from readagain.text.part_of_speech import part_of_speech

_VERBS = ("verb", "auxiliary")


def aligned_words(summary: Summary, source: SourceText) -> tuple[list[CheckedWord], Words]:
    """Return the printed words of a summary, aligned with the words of its text, and these."""
    document = source.document
    text = [CheckedWord(word.norm, document.surface(word)) for word in document.words]
    printed = [
        CheckedWord(
            word.norm,
            word.surface,
            word.copied_from if word.digits_from is None else word.digits_from,
        )
        for word in summary.words
        if word.surface
    ]
    return align(printed, text), text


def features(summary: Summary, source: SourceText) -> dict[str, float]:
    """Return what the confidence of a summary is computed from, by name.

    Args:
        summary: summary with at least one word.
        source: its text, as `SourceReader.read` returns it.
    """
    headline, text = aligned_words(summary, source)
    log_probs = [word.log_prob for word in summary.words]
    num_words = max(1, len(headline))
    positions = [word.position for word in headline if word.position is not None]
    steps = [two - one for one, two in zip(positions, positions[1:], strict=False)]
    first, last = (min(positions), max(positions)) if positions else (0, 0)
    end_of_first_sentence = len(source.document.sentences[0])
    values = {
        "mean_log_prob": sum(log_probs) / max(1, len(log_probs)),
        "min_log_prob": min(log_probs, default=0.0),
        "end_log_prob": summary.end_log_prob,
        "num_words": num_words,
        "length_ratio": num_words / len(text),
        "copied": sum(word.origin == "copied" for word in summary.words) / num_words,
        "not_in_text": sum(word.position is None for word in headline) / num_words,
        "in_order": _longest_increasing(positions) / num_words,
        "jumps": sum(step != 1 for step in steps) / num_words,
        "longest_gap": max((step - 1 for step in steps), default=0) / 10,
        "start": first / 10,
        "skipped_verbs": _num_verbs(text[first : last + 1]) - _num_verbs(headline),
        "two_sentences": first < end_of_first_sentence <= last,
        "truncated": summary.truncated,
    }
    for name, check in CHECKS.items():
        values[name] = check(headline, text)
    return {name: float(value) for name, value in values.items()}


def _num_verbs(words: Words) -> int:
    return sum(part_of_speech(word.norm) in _VERBS for word in words)


def _longest_increasing(positions: Sequence[int]) -> int:
    """Return the length of the longest increasing subsequence."""
    best: list[int] = []
    for nth, position in enumerate(positions):
        shorter = (best[n] for n in range(nth) if positions[n] < position)
        best.append(1 + max(shorter, default=0))
    return max(best, default=0)
