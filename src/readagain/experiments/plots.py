"""Plots of the tables with the paper's values and ours."""

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from readagain.errors import require
from readagain.experiments.catalog import (
    EXPERIMENTS,
    PAPER_EXAMPLES,
    TABLES,
    PaperRow,
    paper_table,
)
from readagain.experiments.importance import WORD_CLASSES
from readagain.experiments.results import milliseconds
from readagain.experiments.store import ResultStore
from readagain.experiments.table import Table, TableSection
from readagain.rouge.corpus import Estimate
from readagain.storage.files import write_output

_GREY, _BLUE, _RED = "#999999", "#1f5fa8", "#c4512d"
_SAMPLE_WORDS = [example.text.split() for example in PAPER_EXAMPLES if example.reference]
"""Words of the inputs that the paper prints; the plot of importance shows them."""


def plot_tables(
    tables: Sequence[Table], store: ResultStore, timing: Mapping[str, Any] | None, directory: Path
) -> list[Path]:
    """Plot Tables 1 to 4 and the importance of words.

    Table 4 is always plotted, with the paper's times; the others only if they have results.

    Returns:
        The files that were written.

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
    paths = []
    for name, plot in plots.items():
        figure = figures.Figure(figsize=(9, 5), layout="constrained")
        if plot(figure):
            path = directory / f"{name}.png"
            with write_output(path) as partial_file:
                figure.savefig(partial_file, format="png", dpi=150)
            paths.append(path)
    return paths


def _plot_scores(figure: Any, table: Table) -> bool:
    """Plot the paper's and our ROUGE-1 of each row as bars; return False if there is no result.

    Our scores are those on the first data set. Rows of different recipes cannot be compared, so
    only the recipe with the most rows is shown.
    """
    section = max(table.sections, key=lambda section: len(_paper_and_our_scores(section, table)))
    rows = _paper_and_our_scores(section, table)
    if not rows:
        return False
    axes = figure.subplots()
    scores = [score for _, score in rows]
    below = [max(score.value - score.low, 0.0) for score in scores]
    above = [max(score.high - score.value, 0.0) for score in scores]
    positions = range(len(rows))
    axes.barh(
        [position - 0.2 for position in positions],
        [paper_row.rouge[0] for paper_row, _ in rows],
        height=0.38,
        color=_GREY,
        label="paper (original data)",
    )
    axes.barh(
        [position + 0.2 for position in positions],
        [score.value for score in scores],
        height=0.38,
        xerr=[below, above],
        color=_BLUE,
        label="ours (our data)",
    )
    axes.set_yticks(positions, [f"{row.label} {row.size}" for row, _ in rows])
    axes.invert_yaxis()
    axes.set_xlabel("ROUGE-1 recall at 75 bytes" if table.name == "table2" else "ROUGE-1 F1")
    axes.set_title(f"Table {table.name[-1]}\n{section.heading}", fontsize=9)
    figure.legend(loc="outside lower center", ncols=2)
    return True


def _paper_and_our_scores(section: TableSection, table: Table) -> list[tuple[PaperRow, Estimate]]:
    """Return the paper's rows that we have a score for, with our ROUGE-1 on the first data set."""
    our_scores = {
        row["row"]: next((value for value in row.values() if isinstance(value, Estimate)), None)
        for row in section.rows
    }
    return [
        (paper_row, score)
        for paper_row in paper_table(table.name)
        if (score := our_scores.get(EXPERIMENTS[paper_row.experiment].title)) is not None
    ]


def _plot_timing(figure: Any, timing: Mapping[str, Any] | None) -> bool:
    """Plot decoding time by vocabulary size, relative to the time with the smallest."""
    axes = figure.subplots()
    sizes = list(paper_table("table4")[0].seconds)
    size_values = [int(size.removesuffix("K")) for size in sizes]

    def plot_line(times: Mapping[str, float], color: str, linestyle: str, label: str) -> None:
        ratios = [time / times[sizes[0]] for time in times.values()]
        axes.plot(size_values, ratios, color=color, linestyle=linestyle, marker=".", label=label)

    for row, color in zip(paper_table("table4"), (_RED, _BLUE), strict=True):
        plot_line(row.seconds, color, ":", f"paper, {row.label}")
        if timing is not None:
            for precision, linestyle in (("int8", "-"), ("float32", "--")):
                times = milliseconds(timing, row.experiment, precision, batch_size=1)
                plot_line(times, color, linestyle, f"ours, {row.label}, {precision}")
    axes.set_xscale("log")
    axes.set_xticks(size_values, sizes)
    axes.set_xticks([], minor=True)
    axes.set_xlabel("size of the decoder vocabulary")
    axes.grid(alpha=0.3)
    axes.set_ylabel("decoding time relative to 2K")
    axes.set_title("Table 4: decoding time by size of the decoder vocabulary")
    axes.legend()
    return True


def _plot_importance(figure: Any, store: ResultStore) -> bool:
    """Plot mean importance by word class, and the importance of each word in the paper's inputs.

    The inputs are shown for the model with the largest difference between content words and
    function words. Only one recipe is shown: the one with the most rows, of those with importance
    for the paper's inputs. Return False if there is none; results of older versions have other
    sentences.
    """
    recipe_importances: list[dict[str, dict[str, Any]]] = [
        {
            name: results.runs[0].importance
            for name in TABLES["importance"].rows
            if (results := store.find(name, recipe))
            and results.runs[0].importance
            and _has_paper_inputs(results.runs[0].importance)
        }
        for recipe in store.recipes
    ]
    importance_by_name = max(recipe_importances, key=len)
    if not importance_by_name:
        return False
    figure.set_size_inches(12, 10)
    num_samples = len(_SAMPLE_WORDS)
    class_axes, *sample_axes = figure.subplots(
        1 + num_samples, 1, height_ratios=[4, *[1] * num_samples]
    )
    # The bars of one word class share a width of 0.8.
    bar_width = 0.8 / len(importance_by_name)
    for number, (name, importance) in enumerate(importance_by_name.items()):
        positions = [position + number * bar_width for position in range(len(WORD_CLASSES))]
        means = [importance["classes"][word_class]["mean"] for word_class in WORD_CLASSES]
        class_axes.bar(positions, means, bar_width, label=EXPERIMENTS[name].title)
    centers = [position + 0.4 - bar_width / 2 for position in range(len(WORD_CLASSES))]
    class_axes.set_xticks(centers, WORD_CLASSES)
    class_axes.set_title("Mean importance by word class, and importance of each word in examples")
    figure.legend(loc="outside lower center", ncols=3, fontsize=8)

    def content_minus_function(name: str) -> float:
        classes = importance_by_name[name]["classes"]
        return float(classes["content"]["mean"] - classes["function"]["mean"])

    # Prefer networks with importance weights. For others, importance is the distance between
    # successive states of the second pass (`state_movement`).
    with_weights = [
        name for name, importance in importance_by_name.items() if importance["kind"] == "weight"
    ]
    sample_name = max(with_weights or importance_by_name, key=content_minus_function)
    sample_axes[0].set_title(f"{EXPERIMENTS[sample_name].title}: white is 0, dark is 1", fontsize=8)
    for axes, sample in zip(sample_axes, importance_by_name[sample_name]["samples"], strict=False):
        axes.imshow([sample["weights"]], aspect="auto", cmap="Blues", vmin=0, vmax=1)
        words = sample["words"]
        axes.set_xticks(range(len(words)), words, rotation=60, ha="right", fontsize=6)
        axes.set_yticks([])
    return True


def _has_paper_inputs(importance: Mapping[str, Any]) -> bool:
    """Return whether the samples are the paper's inputs, perhaps truncated (`--scale small`)."""
    samples = [sample["words"] for sample in importance["samples"]]
    return len(samples) >= len(_SAMPLE_WORDS) and all(
        words == text_words[: len(words)]
        for words, text_words in zip(samples, _SAMPLE_WORDS, strict=False)
    )
