"""Plots of the tables: the paper's values beside ours."""

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from readagain.errors import require
from readagain.experiments.catalog import EXPERIMENTS, TABLES, PaperRow, paper_table
from readagain.experiments.importance import WORD_CLASSES
from readagain.experiments.results import milliseconds
from readagain.experiments.store import ResultStore
from readagain.experiments.table import Table, TableSection
from readagain.rouge.corpus import Estimate
from readagain.storage.files import write_output

_PAPER, _OURS, _SECOND_COLOR = "#999999", "#1f5fa8", "#c4512d"
_NUM_SAMPLES = 4  # sentences of the importance figure, as in the paper


def plot_tables(
    tables: Sequence[Table], store: ResultStore, timing: Mapping[str, Any] | None, directory: Path
) -> list[Path]:
    """Plot Tables 1 to 4 and the importance weights where there are results.

    Raises:
        MissingExtraError: if matplotlib is not installed.
        DataError: if a file cannot be written.
    """
    figures = require("matplotlib.figure", extra="plot", purpose="drawing the tables")
    plots: dict[str, Callable[[Any], bool]] = {
        table.name: partial(_plot_scores, table=table)
        for table in tables
        if table.name in ("table1", "table2", "table3")
    }
    plots["table4"] = partial(_plot_timing, timing=timing)
    plots["importance"] = partial(_plot_importance, store=store)
    written = []
    for name, plot in plots.items():
        figure = figures.Figure(figsize=(9, 5), layout="constrained")
        if plot(figure):
            path = directory / f"{name}.png"
            with write_output(path) as partial_file:
                figure.savefig(partial_file, format="png", dpi=150)
            written.append(path)
    return written


def _plot_scores(figure: Any, table: Table) -> bool:
    """Plot ROUGE-1 of each row as bars, the paper's beside ours on the first data set.

    Rows of different recipes cannot be compared, so only the recipe with the most rows is shown.
    """
    rows, heading = max(
        ((_paper_and_ours(section, table.name), section.heading) for section in table.sections),
        key=lambda each: len(each[0]),
    )
    if not rows:
        return False
    axes = figure.subplots()
    scores = [score for _, score in rows]
    below = [max(score.value - score.low, 0.0) for score in scores]
    above = [max(score.high - score.value, 0.0) for score in scores]
    positions = range(len(rows))
    paper = [row.rouge[0] for row, _ in rows]
    axes.barh(
        [p - 0.2 for p in positions], paper, 0.38, color=_PAPER, label="paper (original data)"
    )
    axes.barh(
        [p + 0.2 for p in positions],
        [score.value for score in scores],
        0.38,
        xerr=[below, above],
        color=_OURS,
        label="ours (our data)",
    )
    axes.set_yticks(positions, [f"{row.label} {row.size}" for row, _ in rows])
    axes.invert_yaxis()
    axes.set_xlabel("ROUGE-1 recall at 75 bytes" if table.name == "table2" else "ROUGE-1 F1")
    axes.set_title(f"Table {table.name[-1]}\n{heading}", fontsize=9)
    figure.legend(loc="outside lower center", ncols=2)
    return True


def _paper_and_ours(section: TableSection, table: str) -> list[tuple[PaperRow, Estimate]]:
    """Return the paper's rows that we have a score for, with our ROUGE-1 on the first data set."""
    ours = {
        row["row"]: next((each for each in row.values() if isinstance(each, Estimate)), None)
        for row in section.rows
    }
    return [
        (paper, score)
        for paper in paper_table(table)
        if (score := ours.get(EXPERIMENTS[paper.experiment].title)) is not None
    ]


def _plot_timing(figure: Any, timing: Mapping[str, Any] | None) -> bool:
    """Plot decoding time by vocabulary size, relative to the smallest."""
    axes = figure.subplots()

    def plot(times: Mapping[str, float], color: str, style: str, label: str) -> None:
        values = [value / next(iter(times.values())) for value in times.values()]
        axes.plot(thousands, values, color=color, linestyle=style, marker=".", label=label)

    sizes = list(paper_table("table4")[0].seconds)
    thousands = [int(size.removesuffix("K")) for size in sizes]
    for row, color in zip(paper_table("table4"), (_SECOND_COLOR, _OURS), strict=True):
        plot(row.seconds, color, ":", f"paper, {row.label}")
        if timing is not None:
            for precision, style in (("int8", "-"), ("float32", "--")):
                times = milliseconds(timing, row.experiment, precision, 1)
                plot(times, color, style, f"ours, {row.label}, {precision}")
    axes.set_xscale("log")
    axes.set_xticks(thousands, sizes)
    axes.set_xticks([], minor=True)
    axes.set_xlabel("size of the decoder vocabulary")
    axes.grid(alpha=0.3)
    axes.set_ylabel("decoding time relative to 2K")
    axes.set_title("Table 4: decoding time by size of the decoder vocabulary")
    axes.legend()
    return True


def _plot_importance(figure: Any, store: ResultStore) -> bool:
    """Plot mean importance by word class, and the importance of each word in sample sentences.

    The samples are of the model with the largest difference between content and function words.
    """
    by_recipe: list[dict[str, dict[str, Any]]] = [
        {
            name: results.runs[0].importance
            for name in TABLES["importance"].rows
            if (results := store.find(name, recipe)) and results.runs[0].importance
        }
        for recipe in store.recipes
    ]
    shown = max(by_recipe, key=len)
    if not shown:
        return False
    figure.set_size_inches(12, 8)
    upper, *strips = figure.subplots(1 + _NUM_SAMPLES, 1, height_ratios=[4, *[1] * _NUM_SAMPLES])
    width = 0.8 / len(shown)
    for number, (name, each) in enumerate(shown.items()):
        positions = [position + number * width for position in range(len(WORD_CLASSES))]
        means = [each["classes"][word_class]["mean"] for word_class in WORD_CLASSES]
        upper.bar(positions, means, width, label=EXPERIMENTS[name].title)
    centers = [position + 0.4 - width / 2 for position in range(len(WORD_CLASSES))]
    upper.set_xticks(centers, WORD_CLASSES)
    upper.set_title("Mean importance by word class, and importance of each word in examples")
    figure.legend(loc="outside lower center", ncols=3, fontsize=8)

    def contrast(name: str) -> float:
        classes = shown[name]["classes"]
        return float((classes["content"]["mean"] or 0) - (classes["function"]["mean"] or 0))

    # Prefer networks with importance weights. In others, importance is the distance between
    # successive states of the second pass (`state_movement`).
    weights = [name for name, each in shown.items() if each["kind"] == "weight"]
    most_contrast = max(weights or shown, key=contrast)
    strips[0].set_title(f"{EXPERIMENTS[most_contrast].title}: white is 0, dark is 1", fontsize=8)
    for axes, sample in zip(strips, shown[most_contrast]["samples"], strict=False):
        axes.imshow([sample["weights"]], aspect="auto", cmap="Blues", vmin=0, vmax=1)
        words = sample["words"]
        axes.set_xticks(range(len(words)), words, rotation=60, ha="right", fontsize=6)
        axes.set_yticks([])
    return True
