"""Tests of one statement each: what was compared, the statistics, and what they say."""

from dataclasses import dataclass
from typing import Any, Literal

from readagain.experiments.board import ComparedResults, ResultStore, shared_seeds
from readagain.experiments.results import Scores
from readagain.experiments.rows import ROWS
from readagain.experiments.time_table import milliseconds
from readagain.rouge.significance import compare_scores

Verdict = Literal["supported", "partly supported", "not supported", "contradicted", "not measured"]

NEAR = 0.5
"""Points of ROUGE-1 within which two systems count as equally good."""
SMALL_LOSS = 3.0
"""The most points of ROUGE-1 that 2K may lose; the paper says two to three."""
FELT = 0.01
"""The least difference between two mean weights, of a range from 0 to 1, that counts as one."""
_MEASURE = "rouge-1"
WORDS = {"content": "content words", "noun": "nouns", "verb": "verbs"}
"""Words whose weights are compared with those of function words."""
_VERDICTS: dict[int, Verdict] = {1: "supported", -1: "contradicted", 0: "not supported"}


@dataclass(frozen=True)
class Evidence:
    """One test of a claim.

    Args:
        statement: what was compared.
        statistics: the numbers, in words.
        verdict: what they say about the claim.
    """

    statement: str
    statistics: str
    verdict: Verdict


def better(board: ResultStore, recipe: str, first: str, second: str) -> Evidence:
    """Test whether one row scores higher than another."""
    statement = f"{_title(first)} scores higher than {_title(second)}"
    found = _compare(board, first, second, recipe)
    if found is None:
        return Evidence(statement, "one of the rows is missing", "not measured")
    return Evidence(statement, str(found), _directed(found))


def as_good(board: ResultStore, recipe: str, first: str, second: str) -> Evidence:
    """Test whether one row loses at most half a point against another."""
    statement = f"{_title(first)} is at most {NEAR} points below {_title(second)}"
    found = _compare(board, first, second, recipe)
    if found is None:
        return Evidence(statement, "one of the rows is missing", "not measured")
    if 100 * found.tested.low > -NEAR:
        verdict: Verdict = "supported"
    else:
        verdict = "contradicted" if 100 * found.tested.high < -NEAR else "not supported"
    return Evidence(statement, str(found), verdict)


def alike(board: ResultStore, recipe: str, first: str, second: str) -> Evidence:
    """Test whether two rows are within half a point of each other."""
    statement = f"{_title(first)} and {_title(second)} are within {NEAR} points of each other"
    found = _compare(board, first, second, recipe)
    if found is None:
        return Evidence(statement, "one of the rows is missing", "not measured")
    if max(abs(100 * found.tested.low), abs(100 * found.tested.high)) < NEAR:
        verdict: Verdict = "supported"
    else:
        is_apart = 100 * found.tested.low > NEAR or 100 * found.tested.high < -NEAR
        verdict = "contradicted" if is_apart else "not supported"
    return Evidence(statement, str(found), verdict)


def small_loss(board: ResultStore, recipe: str) -> Evidence:
    """Test whether copying from 69K down to 2K loses at most three points."""
    large, small = "read_again_lstm_copy_69k", "read_again_lstm_copy_2k"
    statement = f"With copying, 2K loses at most {SMALL_LOSS:g} points against 69K"
    found = _compare(board, large, small, recipe)
    if found is None:
        return Evidence(statement, "one of the rows is missing", "not measured")
    if 100 * found.tested.high < SMALL_LOSS:
        verdict: Verdict = "supported"
    else:
        verdict = "contradicted" if 100 * found.tested.low > SMALL_LOSS else "not supported"
    told = f"{found}; the paper's own table loses 3.68, its text says two to three"
    return Evidence(statement, told, verdict)


def larger_loss(board: ResultStore, recipe: str) -> Evidence:
    """Test whether shrinking the vocabulary costs more without copying."""
    statement = "From 69K to 2K a model loses more without copying than with it"
    names = [
        "read_again_lstm_69k",
        "read_again_lstm_2k",
        "read_again_lstm_copy_69k",
        "read_again_lstm_copy_2k",
    ]
    entries = [entry for name in names if (entry := board.entry(name, recipe)) is not None]
    if len(entries) < len(names):
        return Evidence(statement, "one of the rows is missing", "not measured")

    def losses(seed: int | None = None) -> tuple[Scores, Scores]:
        """Return what each text loses without copying, and with it."""
        scores = [entry.items(entry.sets[0], seed=seed)[:, 0] for entry in entries]
        return scores[0] - scores[1], scores[2] - scores[3]

    without, copying = losses()
    by_seed = [losses(seed) for seed in shared_seeds(entries)]
    found = ComparedResults(
        compare_scores(without, copying),
        tuple(float((one - other).mean()) for one, other in by_seed),
    )
    told = (
        f"without copying it loses {100 * without.mean():.2f}, with copying "
        f"{100 * copying.mean():.2f} points; {found}"
    )
    return Evidence(statement, told, _directed(found))


def faster(timing: dict[str, Any] | None) -> list[Evidence]:
    """Test whether decoding time grows with the vocabulary."""
    evidence = []
    for row, title in (
        ("read_again_lstm", "without copying"),
        ("read_again_lstm_copy", "with copying"),
    ):
        statement = f"Decoding time falls with the vocabulary, {title}"
        if timing is None:
            evidence.append(Evidence(statement, "time was not measured", "not measured"))
            continue
        times = milliseconds(timing, row, "int8", 1)
        values = list(times.values())
        is_monotonous = all(a <= b for a, b in zip(values, values[1:], strict=False))
        told = ", ".join(f"{size} {ms:.1f} ms" for size, ms in times.items())
        ratio = values[-1] / values[0]
        verdict: Verdict = "supported" if is_monotonous and ratio > 1 else "partly supported"
        if ratio <= 1:
            verdict = "contradicted"
        evidence.append(Evidence(statement, f"{told}; 69K / 2K = {ratio:.2f}", verdict))
    return evidence


def weighed(board: ResultStore, recipe: str, row: str, words: str) -> Evidence:
    """Test whether content words, or nouns or verbs among them, weigh more than function words."""
    statement = f"{_title(row)}: {WORDS[words]} weigh more than function words"
    entry = board.entry(row, recipe)
    measured = [] if entry is None else [each.importance or {} for each in entry.results]
    name = f"{words}_over_function"
    gaps = [found[name] for found in measured if name in found]
    if not gaps:
        return Evidence(statement, "the row, or the measurement, is missing", "not measured")
    gap, *others = gaps
    if not gap["texts"]:
        return Evidence(statement, "no text has words of both kinds", "not measured")
    told = (
        f"mean difference {gap['mean']:+.3f} ({gap['low']:+.3f} to {gap['high']:+.3f}) over "
        f"{gap['texts']:,} texts, positive in {100 * gap['positive_share']:.0f}% of them"
    )
    if others:
        means = (f"{each['mean']:+.3f}" for each in gaps)
        told += f"; by seed {', '.join(means)}"
    # A mean may owe its sign to a few texts, so most of them must agree with it, too.
    if all(each["low"] > FELT and each["positive_share"] >= 0.5 for each in gaps):
        verdict: Verdict = "supported"
    elif all(each["high"] < -FELT and each["positive_share"] <= 0.5 for each in gaps):
        verdict = "contradicted"
    else:
        verdict = "not supported"
    return Evidence(statement, told, verdict)


def _compare(board: ResultStore, first: str, second: str, recipe: str) -> ComparedResults | None:
    found = board.compare(first, second, recipe)
    return None if found is None else found[_MEASURE]


def _directed(found: ComparedResults) -> Verdict:
    return _VERDICTS[found.direction]


def _title(row: str) -> str:
    return ROWS[row].title


def better_on_duc(board: ResultStore, recipe: str, first: str, second: str) -> Evidence:
    """Test whether one row recalls more than another by the DUC protocol."""
    statement = f"{_title(first)} recalls more than {_title(second)}"
    entry = board.entry(first, recipe)
    sets = (
        []
        if entry is None
        else [name for name in entry.sets if entry.of(name)[0].figure == "recall"]
    )
    for name in sets:
        found = board.compare(first, second, recipe, name)
        if found is not None:
            told = f"{name}: {found[_MEASURE]}"
            return Evidence(statement, told, _directed(found[_MEASURE]))
    return Evidence(
        statement, "one of the rows, or a set with several references, is missing", "not measured"
    )
