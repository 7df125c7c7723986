"""Plots of the tables."""

from matplotlib.figure import Figure

from readagain.experiments.catalog import EXPERIMENTS, PAPER_EXAMPLES
from readagain.experiments.importance import WORD_CLASSES
from readagain.experiments.plots import _plot_importance
from readagain.experiments.store import ResultStore

INPUTS = [example.text.split() for example in PAPER_EXAMPLES if example.reference]


def importance(content, *, kind="weight", inputs=INPUTS):
    means = dict.fromkeys(WORD_CLASSES, 0.3) | {"content": content}
    return {
        "kind": kind,
        "classes": {name: {"mean": mean} for name, mean in means.items()},
        "samples": [
            {"words": words, "weights": [0.1, content, *[0.2] * (len(words) - 2)]}
            for words in inputs
        ],
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
    assert image.get_array().tolist()[0][:3] == [0.1, 0.7, 0.2]


def test_importance_plot_shows_the_papers_inputs(result):
    """A recipe with more rows, but with other sentences, is not shown."""
    other = [["the", "bridge"]] * 5
    store = ResultStore(
        [
            result("read_again_gru_15k", importance=importance(0.9, inputs=other)),
            result("read_again_gru_copy_15k", importance=importance(0.8, inputs=other)),
            result("sigmoid_importance", recipe="converged", importance=importance(0.7)),
        ]
    )
    figure = Figure()
    assert _plot_importance(figure, store)
    _, *strips = figure.axes
    shown = [[label.get_text() for label in strip.get_xticklabels()] for strip in strips]
    assert shown == INPUTS


def test_importance_plot_needs_the_papers_inputs(result):
    other = importance(0.9, inputs=[["the", "bridge"]] * 5)
    store = ResultStore([result("read_again_gru_15k", importance=other)])
    assert not _plot_importance(Figure(), store)
