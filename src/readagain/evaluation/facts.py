"""An evaluation in words: the lines below a table, on the terminal and on the page."""

from collections.abc import Sequence
from pathlib import Path

from readagain.counts import counted
from readagain.evaluation.evaluate import Evaluation
from readagain.evaluation.statistics import SummaryStats
from readagain.rouge.options import FIGURES
from readagain.rouge.report import Report

_HABITS = {
    "words": "words, mean",
    "bytes": "bytes, mean",
    "copy_rate": "words copied by the system",
    "novel_1gram_rate": "words that the text lacks",
    "novel_2gram_rate": "pairs of words that it lacks",
    "repetition_rate": "words said before",
    "distinct": "different ones",
    "empty": "empty ones",
}
FIGURE_NAMES = {"recall": "recall", "precision": "precision", "f1": "F1"}
_COLLAPSED = 0.5
"""Share of different summaries below which a model says the same whatever it reads."""


def score_rows(report: Report) -> list[tuple[str, ...]]:
    """Write the scores in percent: measure, recall, precision, F1, interval of the quoted one."""
    rows = []
    for name, score in report.scores.items():
        figures = (getattr(score, figure).value for figure in FIGURES)
        quoted = report.headline(name)
        interval = f"{100 * quoted.low:.2f} to {100 * quoted.high:.2f}"
        rows.append((name.upper(), *(f"{100 * figure:.3f}" for figure in figures), interval))
    return rows


def habit_rows(found: Evaluation) -> list[tuple[str, str, str]]:
    """Write what summaries and references are like, side by side."""
    return [
        (title, _written(name, found.habits), _written(name, found.reference_habits))
        for name, title in _HABITS.items()
    ]


def _written(name: str, habits: SummaryStats) -> str:
    value = getattr(habits, name)
    if value is None:
        return "–"
    if name.endswith("_rate"):
        return f"{100 * value:.1f}%"
    return f"{value:,}" if isinstance(value, int) else f"{value:.1f}"


def facts_of(found: Evaluation) -> list[tuple[str, str]]:
    """Say everything needed to believe the figures, as pairs of a name and a line."""
    data = found.data
    form = "in Gigaword form" if data.is_tokenized else "raw text"
    facts = [
        ("model", _describe(found)),
        ("data", f"{_files(data.files)} ({data.format}, {form})"),
        ("rows", f"{len(data.rows):,}, SHA-256 {data.fingerprint}"),
        ("ROUGE", found.rouge.protocol.options.flags()),
        ("UNK", _unk(found)),
        ("speed", f"{found.sentences_per_s:,.1f} sentences/s on {found.machine}"),
    ]
    if (warning := collapse_warning(found)) is not None:
        facts.append(("warning", warning))
    return facts


def collapse_warning(found: Evaluation) -> str | None:
    """Notice a system that writes the same summaries for different texts."""
    texts = len({row.text for row in found.data.rows})
    distinct = found.habits.distinct
    if distinct >= _COLLAPSED * texts:
        return None
    summaries = counted(distinct, "summary", "different summaries")
    return f"only {summaries} for {counted(texts, 'different text')}"


def _files(files: Sequence[Path]) -> str:
    texts, *references = files
    return ", ".join([str(texts), *(file.name for file in references)])


def _describe(found: Evaluation) -> str:
    details = [
        f"{name} {value}" for name, value in found.details.items() if not isinstance(value, dict)
    ]
    decode: dict[str, float | str] = found.details.get("decode", {})
    search = [
        f"{name} {value if isinstance(value, str) else f'{value:g}'}"
        for name, value in decode.items()
    ]
    return ", ".join([found.system, *details, *search])


def _unk(found: Evaluation) -> str:
    if not found.rows_with_unk:
        return f"{found.unk}: no reference holds it"
    left_out = len(found.data.rows) - len(found.scored.rows)
    done = {
        "keep": "scored as it stands",
        "strip": f"taken out; {counted(left_out, 'row')} without another word left out",
        "drop": f"{counted(left_out, 'row')} left out",
    }[found.unk]
    return (
        f"{found.unk}: {counted(found.rows_with_unk, 'row')} with it in a reference, {done}; "
        f"{counted(found.summaries_with_unk, 'summary', 'summaries')} with it"
    )
