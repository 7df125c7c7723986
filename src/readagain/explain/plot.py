"""A story as a picture for papers: importance and attention over the words of the text."""

import math
import textwrap
import warnings
from pathlib import Path
from typing import Any

import numpy as np

from readagain.errors import ConfigError, require
from readagain.explain.view import IMPORTANCE, ExplanationView
from readagain.storage.files import write_output

FORMATS = (".png", ".svg", ".pdf")
_BAND_WORDS = 48  # words of the text side by side; longer texts go on below
_CELL_INCHES = 0.24
_LABEL_INCHES = 1.3  # the longest usual word, written upwards
_LABEL_CHARACTERS = 22  # what fits there; an address on the web would crowd out the picture
_TITLE_CHARACTERS = 2.5  # above each column, on a line
_DOTS_PER_INCH = 200
_FIRST_ROW = 1.3  # where attention begins below importance, in rows


def check_plot(path: Path) -> None:
    """Find out before any work whether a picture of this name can be drawn.

    Raises:
        ConfigError: for a kind of picture we do not write.
        MissingExtraError: when matplotlib is not installed.
    """
    if path.suffix.lower() not in FORMATS:
        raise ConfigError(f"{path}: expected a name that ends in {', '.join(FORMATS)}")
    require("matplotlib.figure", extra="plot", purpose="drawing a picture")


def plot_attention(story: ExplanationView, path: Path) -> None:
    """Draw a strip of importance above a row of attention for each word of the summary.

    The place that a word was taken from is framed.

    Raises:
        ConfigError: for a kind of picture we do not write.
        MissingExtraError: when matplotlib is not installed.
        DataError: when the file cannot be written.
    """
    check_plot(path)
    figure = _figure(story)
    with write_output(path) as aside, warnings.catch_warnings():
        # A script that the font lacks is drawn as boxes, which the picture itself shows.
        warnings.filterwarnings("ignore", message="(?s)Glyph .* missing from")
        figure.savefig(
            aside,
            format=path.suffix.lower().removeprefix("."),
            dpi=_DOTS_PER_INCH,
            bbox_inches="tight",
        )


def _figure(story: ExplanationView) -> Any:
    from matplotlib.figure import Figure

    num_bands = math.ceil(len(story.source) / _BAND_WORDS)
    columns = math.ceil(len(story.source) / num_bands)
    rows = len(story.words) + (story.importance_kind is not None)
    band_inches = rows * _CELL_INCHES + _LABEL_INCHES
    figure = Figure(
        figsize=(columns * _CELL_INCHES + 2.2, num_bands * band_inches + 0.9),
        layout="constrained",
    )
    width = max(36, int(columns * _TITLE_CHARACTERS))
    title = textwrap.fill(story.summary, width=width, max_lines=3, placeholder=" …")
    figure.suptitle(title, fontsize=11, fontweight="bold", parse_math=False)
    bands = figure.subplots(num_bands, 1, squeeze=False)[:, 0]
    for band, axes in enumerate(bands):
        _draw_band(axes, story, range(band * columns, (band + 1) * columns))
    if story.importance_kind is not None:
        what = IMPORTANCE[story.importance_kind]
        key = f"orange: importance, {what}; blue: attention; framed: where a word was taken from"
        bands[-1].xaxis.set_label_position("bottom")
        bands[-1].set_xlabel(key, fontsize=7, color="0.35")
    return figure


def _draw_band(axes: Any, story: ExplanationView, places: range) -> None:
    """Draw some words of the text; a last band that is shorter stays empty on the right."""
    from matplotlib.patches import Rectangle

    words = story.source[places.start : places.stop]
    is_weighed = story.importance_kind is not None
    top = _FIRST_ROW if is_weighed else 0.0
    shade = {"vmin": 0.0, "vmax": 1.0, "aspect": "equal", "interpolation": "nearest"}
    right, bottom = len(words) - 0.5, len(story.words) + top - 0.5
    attention = np.array([told.attention for told in story.words])[:, places.start : places.stop]
    axes.imshow(attention**0.5, cmap="Blues", extent=(-0.5, right, bottom, top - 0.5), **shade)
    if is_weighed:
        importance = np.array([[word.shade for word in words]])
        axes.imshow(importance, cmap="Oranges", extent=(-0.5, right, 0.5, -0.5), **shade)
    axes.set_xlim(-0.5, len(places) - 0.5)
    axes.set_ylim(bottom, -0.5)
    for row, told in enumerate(story.words):
        if told.source is not None and told.source in places:
            corner = (told.source - places.start - 0.5, top + row - 0.5)
            axes.add_patch(Rectangle(corner, 1, 1, fill=False, linewidth=1.2, clip_on=False))
    rows = [0.0] * is_weighed + [top + row for row in range(len(story.words))]
    labels = ["importance"] * is_weighed + [
        _label(told.surface or f"({told.form})") for told in story.words
    ]
    axes.xaxis.tick_top()
    axes.set_xticks(range(len(words)), [_label(word.surface) for word in words], parse_math=False)
    axes.set_yticks(rows, labels, parse_math=False)
    axes.tick_params(length=0, labelsize=8)
    axes.tick_params(axis="x", rotation=90)
    axes.set_anchor("N")  # what room is left goes below
    axes.spines[:].set_visible(False)


def _label(word: str) -> str:
    return word if len(word) <= _LABEL_CHARACTERS else f"{word[: _LABEL_CHARACTERS - 1]}…"
