"""Plot of an explanation: importance and attention over the source words."""

import textwrap
import warnings
from pathlib import Path
from typing import Any

import numpy as np

from readagain.errors import ConfigError, require
from readagain.explain.view import IMPORTANCE_NAMES, ExplanationView
from readagain.storage.files import write_output

FORMATS = (".png", ".svg", ".pdf")
_CELL_INCHES = 0.24  # width and height of the cell of a source word and a summary word
_SOURCE_LABEL_INCHES = 1.3  # height of the source words, which are rotated
_SUMMARY_LABEL_INCHES = 2.2  # width of the summary words
_TITLE_INCHES = 0.9
_MAX_LABEL_CHARACTERS = 22  # longer labels, such as URLs, are truncated
_TITLE_CHARACTERS_PER_CELL = 2.5
_MIN_TITLE_CHARACTERS = 36  # per line of the title
_DOTS_PER_INCH = 200
_FIRST_ROW_Y = 1.3  # y of the first row of the attention below the importance


def check_plot(path: Path) -> None:
    """Check that the name of a plot has a known format, and that matplotlib is installed.

    Raises:
        ConfigError: for an unknown format.
        MissingExtraError: if matplotlib is not installed.
    """
    if path.suffix.lower() not in FORMATS:
        raise ConfigError(
            f"{path}: unknown plot format; expected a name that ends in {', '.join(FORMATS)}"
        )
    require("matplotlib.figure", extra="plot", purpose="plotting")


def plot_attention(view: ExplanationView, path: Path) -> None:
    """Plot the importance of the source words, and below it the attention of each summary word.

    The source word from which a summary word was copied is framed. Call `check_plot` first.

    Raises:
        DataError: if the file cannot be written.
    """
    figure = _figure(view)
    with write_output(path) as partial, warnings.catch_warnings():
        # Characters that the font lacks are drawn as boxes.
        warnings.filterwarnings("ignore", message="(?s)Glyph .* missing from")
        figure.savefig(
            partial,
            format=path.suffix.lower().removeprefix("."),
            dpi=_DOTS_PER_INCH,
            bbox_inches="tight",
        )


def _figure(view: ExplanationView) -> Any:
    """Return the figure, with a column per source word and a row per summary word."""
    from matplotlib.figure import Figure
    from matplotlib.patches import Rectangle

    # Coordinates: the center of column i is at x = i. The center of the importance row is at y = 0,
    # and that of row i of the attention is at y = first_row + i.
    has_importance = view.importance_kind is not None
    first_row = _FIRST_ROW_Y if has_importance else 0.0
    right, bottom = len(view.source) - 0.5, len(view.words) + first_row - 0.5
    width = len(view.source) * _CELL_INCHES + _SUMMARY_LABEL_INCHES
    height = (len(view.words) + has_importance) * _CELL_INCHES + _SOURCE_LABEL_INCHES
    figure = Figure(figsize=(width, height + _TITLE_INCHES), layout="constrained")
    line_length = max(_MIN_TITLE_CHARACTERS, int(len(view.source) * _TITLE_CHARACTERS_PER_CELL))
    title = textwrap.fill(view.summary, width=line_length, max_lines=3, placeholder=" …")
    figure.suptitle(title, fontsize=11, fontweight="bold", parse_math=False)
    axes: Any = figure.subplots()
    image_options: dict[str, Any] = {
        "vmin": 0.0,
        "vmax": 1.0,
        "aspect": "equal",
        "interpolation": "nearest",
    }
    attention = np.array([token.attention for token in view.words])  # (T, S)
    # The square root makes small weights visible.
    extent = (-0.5, right, bottom, first_row - 0.5)
    axes.imshow(attention**0.5, cmap="Blues", extent=extent, **image_options)
    if view.importance_kind is not None:
        importance = np.array([[word.importance for word in view.source]], dtype=float)  # (1, S)
        # Scale to 0 ... 1; 1e-9 avoids a division by 0 if all values are equal.
        importance = (importance - importance.min()) / max(float(np.ptp(importance)), 1e-9)
        axes.imshow(importance, cmap="Oranges", extent=(-0.5, right, 0.5, -0.5), **image_options)
        kind = IMPORTANCE_NAMES[view.importance_kind]
        legend = f"orange: importance, {kind}; blue: attention; framed: where a word was taken from"
        axes.xaxis.set_label_position("bottom")
        axes.set_xlabel(legend, fontsize=7, color="0.35")
    axes.set_ylim(bottom, -0.5)
    for row, token in enumerate(view.words):
        if token.source is not None:
            corner = (token.source - 0.5, first_row + row - 0.5)
            axes.add_patch(Rectangle(corner, 1, 1, fill=False, linewidth=1.2, clip_on=False))
    source_labels = [_shorten(word.surface) for word in view.source]
    axes.xaxis.tick_top()
    axes.set_xticks(range(len(source_labels)), source_labels, parse_math=False)
    row_labels = [_shorten(token.surface or f"({token.form})") for token in view.words]
    row_centers = [first_row + row for row in range(len(view.words))]
    if has_importance:
        row_labels, row_centers = ["importance", *row_labels], [0.0, *row_centers]
    axes.set_yticks(row_centers, row_labels, parse_math=False)
    axes.tick_params(length=0, labelsize=8)
    axes.tick_params(axis="x", rotation=90)
    axes.spines[:].set_visible(False)
    return figure


def _shorten(label: str) -> str:
    """Truncate a label to `_MAX_LABEL_CHARACTERS`."""
    if len(label) <= _MAX_LABEL_CHARACTERS:
        return label
    return f"{label[: _MAX_LABEL_CHARACTERS - 1]}…"
