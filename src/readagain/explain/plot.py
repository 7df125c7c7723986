"""Plot of importance and attention over the source words."""

import textwrap
import warnings
from pathlib import Path
from typing import Any

import numpy as np

from readagain.errors import ConfigError, require
from readagain.explain.view import IMPORTANCE, ExplanationView
from readagain.storage.files import write_output

FORMATS = (".png", ".svg", ".pdf")
_CELL_INCHES = 0.24
_LABEL_INCHES = 1.3  # length of rotated labels
_LABEL_CHARACTERS = 22  # longer labels, such as URLs, are truncated
_TITLE_CHARACTERS = 2.5  # number of characters of the title per column
_DOTS_PER_INCH = 200
_FIRST_ROW = 1.3  # offset of attention below importance, in rows


def check_plot(path: Path) -> None:
    """Check the format of a plot and that matplotlib is installed.

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
    """Plot the importance of the source words, and the attention of each summary word below it.

    For a copied word, the source word is framed. `check_plot` must have accepted the path.

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
    from matplotlib.figure import Figure
    from matplotlib.patches import Rectangle

    has_importance = view.importance_kind is not None
    top = _FIRST_ROW if has_importance else 0.0
    right, bottom = len(view.source) - 0.5, len(view.words) + top - 0.5
    height = (len(view.words) + has_importance) * _CELL_INCHES + _LABEL_INCHES + 0.9
    figure = Figure(figsize=(len(view.source) * _CELL_INCHES + 2.2, height), layout="constrained")
    width = max(36, int(len(view.source) * _TITLE_CHARACTERS))
    title = textwrap.fill(view.summary, width=width, max_lines=3, placeholder=" …")
    figure.suptitle(title, fontsize=11, fontweight="bold", parse_math=False)
    axes: Any = figure.subplots()
    shade: dict[str, Any] = {
        "vmin": 0.0,
        "vmax": 1.0,
        "aspect": "equal",
        "interpolation": "nearest",
    }
    attention = np.array([token.attention for token in view.words])
    axes.imshow(attention**0.5, cmap="Blues", extent=(-0.5, right, bottom, top - 0.5), **shade)
    if view.importance_kind is not None:
        importance = np.array([[word.importance for word in view.source]], dtype=float)
        importance = (importance - importance.min()) / max(float(np.ptp(importance)), 1e-9)
        axes.imshow(importance, cmap="Oranges", extent=(-0.5, right, 0.5, -0.5), **shade)
        kind = IMPORTANCE[view.importance_kind]
        key = f"orange: importance, {kind}; blue: attention; framed: where a word was taken from"
        axes.xaxis.set_label_position("bottom")
        axes.set_xlabel(key, fontsize=7, color="0.35")
    axes.set_ylim(bottom, -0.5)
    for row, token in enumerate(view.words):
        if token.source is not None:
            corner = (token.source - 0.5, top + row - 0.5)
            axes.add_patch(Rectangle(corner, 1, 1, fill=False, linewidth=1.2, clip_on=False))
    rows = [0.0] * has_importance + [top + row for row in range(len(view.words))]
    labels = ["importance"] * has_importance + [
        _label(token.surface or f"({token.form})") for token in view.words
    ]
    axes.xaxis.tick_top()
    words = [_label(word.surface) for word in view.source]
    axes.set_xticks(range(len(words)), words, parse_math=False)
    axes.set_yticks(rows, labels, parse_math=False)
    axes.tick_params(length=0, labelsize=8)
    axes.tick_params(axis="x", rotation=90)
    axes.spines[:].set_visible(False)
    return figure


def _label(word: str) -> str:
    return word if len(word) <= _LABEL_CHARACTERS else f"{word[: _LABEL_CHARACTERS - 1]}…"
