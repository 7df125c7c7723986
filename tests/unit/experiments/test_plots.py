"""Plots of the tables."""

from matplotlib.figure import Figure

from readagain.experiments.catalog import EXPERIMENTS
from readagain.experiments.importance import WORD_CLASSES
from readagain.experiments.plots import _plot_importance
from readagain.experiments.store import ResultStore


def importance(content, *, kind="weight"):
    means = dict.fromkeys(WORD_CLASSES, 0.3) | {"content": content}
    return {
        "kind": kind,
        "classes": {name: {"mean": mean} for name, mean in means.items()},
        "samples": [{"words": ["the", "bridge"], "weights": [0.1, content]}],
    }


def test_importance_plot_shows_the_row_with_most_contrast(result):
    store = ResultStore(
        [
            result("read_again_gru_15k", importance=importance(0.31)),
            result("sigmoid_importance", importance=importance(0.7)),
            result("read_again_lstm_15k", importance=importance(0.9, kind="movement")),
        ]
    )
    figure = Figure()
    assert _plot_importance(figure, store)
    _, strip, *_ = figure.axes
    assert strip.get_title().startswith(EXPERIMENTS["sigmoid_importance"].title)
    (image,) = strip.get_images()
    assert image.get_array().tolist() == [[0.1, 0.7]]
