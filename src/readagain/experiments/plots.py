"""The tables as pictures: bars and curves, the paper's beside ours."""

import warnings
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from readagain.errors import require
from readagain.experiments.board import Figure, ResultStore
from readagain.experiments.paper import paper_table
from readagain.experiments.plan import rows_of
from readagain.experiments.rouge_tables import ABLATIONS
from readagain.experiments.rows import ROWS
from readagain.experiments.time_table import milliseconds
from readagain.experiments.word_classes import CLASSES
from readagain.storage.files import write_output

_DOTS_PER_INCH = 150
_PAPER, _OURS, _OTHER = "#999999", "#1f5fa8", "#c4512d"
_SAMPLES = 4  # sentences of the figure, as in the paper


def draw_all(
    board: ResultStore, timing: dict[str, Any] | None, recipe: str, folder: Path
) -> list[Path]:
    """Draw a picture for each table that has something to show.

    Raises:
        MissingExtraError: when matplotlib is not installed.
        DataError: when a file cannot be written.
    """
    figures = require("matplotlib.figure", extra="plot", purpose="drawing the tables")
    drawers: dict[str, Callable[[Any], bool]] = {
        "table1": lambda figure: _bars(figure, board, recipe, "table1", "f1"),
        "table2": lambda figure: _bars(figure, board, recipe, "table2", "recall"),
        "table3": lambda figure: _sizes(figure, board, recipe),
        "table4": lambda figure: _times(figure, timing),
        "table5": lambda figure: _copied(figure, board, recipe),
        "importance": lambda figure: _importance(figure, board, recipe),
        "ablations": lambda figure: _ablations(figure, board, recipe),
    }
    drawn = []
    for name, draw in drawers.items():
        figure = figures.Figure(figsize=(9, 5), layout="constrained")
        if draw(figure):
            path = folder / f"{name}.png"
            _save(figure, path)
            drawn.append(path)
    return drawn


def _save(figure: Any, path: Path) -> None:
    with write_output(path) as aside, warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="(?s)Glyph .* missing from")
        figure.savefig(aside, format="png", dpi=_DOTS_PER_INCH)


def _bars(figure: Any, board: ResultStore, recipe: str, table: str, kind: str) -> bool:
    """Draw ROUGE-1 of each row, the paper's bar beside ours."""
    lines = list(paper_table(table))
    axes = figure.subplots()
    labels, printed, ours, errors = [], [], [], []
    for line in lines:
        figures = _first_figures(board, line.row, recipe, kind)
        if figures is None:
            continue
        labels.append(f"{line.label} {line.size}")
        printed.append(line.rouge[0])
        ours.append(figures.value)
        errors.append(figures.reach)
    if not labels:
        return False
    places = list(range(len(labels)))
    axes.barh([p - 0.2 for p in places], printed, 0.38, color=_PAPER, label="paper, its data")
    axes.barh(
        [p + 0.2 for p in places],
        ours,
        0.38,
        xerr=list(zip(*errors, strict=True)),
        color=_OURS,
        label="ours, our data",
    )
    axes.set_yticks(places, labels)
    axes.invert_yaxis()
    axes.set_xlabel("ROUGE-1 " + ("recall at 75 bytes" if kind == "recall" else "F1"))
    axes.set_title(f"Table {table[-1]}")
    figure.legend(loc="outside lower center", ncols=2)
    return True


def _first_figures(board: ResultStore, row: str, recipe: str, kind: str) -> Any:
    entry = board.entry(row, recipe)
    if entry is None:
        return None
    names = [name for name in entry.sets if entry.of(name)[0].figure == kind]
    return entry.figures(names[0])["rouge-1"] if names else None


def _sizes(figure: Any, board: ResultStore, recipe: str) -> bool:
    """Draw ROUGE-1 against the decoder's vocabulary."""
    axes = figure.subplots()
    for has_copy, color in ((True, _OURS), (False, _OTHER)):
        lines = [line for line in paper_table("table3") if ("_copy" in line.row) == has_copy]
        title = "with copying" if has_copy else "without"
        thousands = [int(line.size[:-1]) for line in lines]
        axes.plot(
            thousands,
            [line.rouge[0] for line in lines],
            color=color,
            linestyle=":",
            marker=".",
            label=f"paper, {title}",
        )
        found = [
            (size, _first_figures(board, line.row, recipe, "f1"))
            for size, line in zip(thousands, lines, strict=True)
        ]
        points = [(size, figures) for size, figures in found if figures is not None]
        if points:
            values = [figures.value for _, figures in points]
            axes.errorbar(
                [size for size, _ in points],
                values,
                yerr=list(zip(*(figures.reach for _, figures in points), strict=True)),
                color=color,
                marker="o",
                capsize=3,
                label=f"ours, {title}",
            )
    _size_axis(axes, [int(line.size[:-1]) for line in paper_table("table3")])
    axes.set_ylabel("ROUGE-1 F1")
    axes.set_title("Table 3: ROUGE against the decoder's vocabulary")
    axes.legend()
    return True


def _times(figure: Any, timing: dict[str, Any] | None) -> bool:
    """Draw decoding time against the vocabulary, each curve over its own 2K."""
    axes = figure.subplots()
    for line, color in zip(paper_table("table4"), (_OTHER, _OURS), strict=True):
        _curve(axes, line.seconds, color, ":", f"paper, {line.label}")
        if timing is not None:
            for precision, style in (("int8", "-"), ("float32", "--")):
                times = milliseconds(timing, line.row, precision, 1)
                _curve(axes, times, color, style, f"ours, {line.label}, {precision}")
    _size_axis(axes, [int(size[:-1]) for size in paper_table("table4")[0].seconds])
    axes.set_ylabel("decoding time, times that of 2K")
    axes.set_title("Table 4: decoding time against the decoder's vocabulary")
    axes.legend()
    return True


def _curve(axes: Any, times: dict[str, float], color: str, style: str, label: str) -> None:
    smallest = next(iter(times.values()))
    axes.plot(
        [int(size[:-1]) for size in times],
        [value / smallest for value in times.values()],
        color=color,
        linestyle=style,
        marker=".",
        label=label,
    )


def _size_axis(axes: Any, thousands: Sequence[int]) -> None:
    axes.set_xscale("log")
    marks = sorted(set(thousands))
    axes.set_xticks(marks, [f"{size}K" for size in marks])
    axes.set_xticks([], minor=True)
    axes.set_xlabel("words of the decoder")
    axes.grid(alpha=0.3)


def _copied(figure: Any, board: ResultStore, recipe: str) -> bool:
    """Draw the share of unknown reference words that were written."""
    axes = figure.subplots()
    labels, shares = [], []
    for row in rows_of("table5"):
        entry = board.entry(row, recipe)
        if entry is not None:
            counts = [each.unknown["common"] for each in entry.of(entry.sets[0])]
            words = sum(each["words"] for each in counts)
            labels.append(ROWS[row].title)
            shares.append(100 * sum(each["written"] for each in counts) / max(words, 1))
    if not labels:
        return False
    axes.barh(labels, shares, color=_OURS)
    axes.invert_yaxis()
    axes.set_xlabel("written, % of the reference words outside the common vocabulary")
    axes.set_title("Table 5: words that copying brings")
    return True


def _importance(figure: Any, board: ResultStore, recipe: str) -> bool:
    """Draw mean weights by class; below, sentences by the row that tells the classes apart best."""
    found = {
        row: entry.results[0].importance
        for row in rows_of("importance")
        if (entry := board.entry(row, recipe)) is not None
    }
    shown = {row: each for row, each in found.items() if each is not None}
    if not shown:
        return False
    figure.set_size_inches(12, 8)
    upper, *strips = figure.subplots(1 + _SAMPLES, 1, height_ratios=[4, *[1] * _SAMPLES])
    width = 0.8 / len(shown)
    for number, (row, each) in enumerate(shown.items()):
        places = [place + number * width for place in range(len(CLASSES))]
        means = [each["classes"][name]["mean"] for name in CLASSES]
        upper.bar(places, means, width, label=ROWS[row].title)
    upper.set_xticks([place + 0.4 - width / 2 for place in range(len(CLASSES))], CLASSES)
    upper.set_title("Mean importance by word class, and of invented sentences")
    figure.legend(loc="outside lower center", ncols=3, fontsize=8)
    weighed = [row for row, each in shown.items() if each["kind"] == "weight"]
    clearest = max(weighed or shown, key=lambda row: _contrast(shown[row]))
    strips[0].set_title(f"{ROWS[clearest].title}: white is 0, dark is 1", fontsize=8)
    for axes, sample in zip(strips, shown[clearest]["samples"], strict=False):
        axes.imshow([sample["weights"]], aspect="auto", cmap="Blues", vmin=0, vmax=1)
        words = sample["words"]
        axes.set_xticks(range(len(words)), words, rotation=60, ha="right", fontsize=6)
        axes.set_yticks([])
    return True


def _contrast(importance: dict[str, Any]) -> float:
    """Return how much more content words weigh than function words."""
    means = {name: each["mean"] for name, each in importance["classes"].items()}
    return float((means["content"] or 0) - (means["function"] or 0))


def _ablations(figure: Any, board: ResultStore, recipe: str) -> bool:
    """Draw what each change does to ROUGE-1, with its interval."""
    axes = figure.subplots()
    labels, values, errors = [], [], []
    for row, against in ABLATIONS.items():
        compared = board.compare(row, against, recipe)
        if compared is not None:
            change = compared["rouge-1"].tested
            labels.append(ROWS[row].title)
            values.append(100 * change.difference)
            bounds = (100 * change.difference, 100 * change.low, 100 * change.high)
            errors.append(Figure(*bounds).reach)
    if not labels:
        return False
    axes.barh(labels, values, xerr=list(zip(*errors, strict=True)), color=_OURS)
    axes.invert_yaxis()
    axes.axvline(0, color="black", linewidth=0.8)
    axes.set_xlabel("change of ROUGE-1, points")
    axes.set_title("Ablations")
    return True
