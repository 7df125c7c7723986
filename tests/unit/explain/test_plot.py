"""Plot of importance and attention."""

import sys
from dataclasses import replace

import pytest

from readagain.errors import ConfigError, DataError, MissingExtraError
from readagain.explain.plot import check_plot, plot_attention

SIGNATURES = {".png": b"\x89PNG", ".svg": b"<?xml", ".pdf": b"%PDF"}


@pytest.mark.needs_extras
@pytest.mark.parametrize("suffix", SIGNATURES)
def test_plot_format_follows_the_name(view, tmp_path, suffix):
    path = tmp_path / f"ghent{suffix}"
    plot_attention(view, path)
    assert path.read_bytes().startswith(SIGNATURES[suffix])
    assert list(tmp_path.iterdir()) == [path]


@pytest.mark.needs_extras
def test_plot_has_importance_attention_and_frames(view):
    from readagain.explain.plot import _figure

    (axes,) = _figure(view).axes
    assert [label.get_text() for label in axes.get_yticklabels()] == [
        "importance",
        "Ghent",
        "buys",
        "12",
        "(#-#)",
    ]
    assert [label.get_text() for label in axes.get_xticklabels()] == ["Ghent", "bought", "12"]
    assert [patch.get_x() for patch in axes.patches] == [-0.5, 1.5]


@pytest.mark.needs_extras
@pytest.mark.parametrize("word", ["$\\frac{$", "🎉", "مدينة", "<script>", "_^{", "x" * 300])
def test_any_word_can_be_plotted(view, tmp_path, word):
    path = tmp_path / "any.png"
    source = tuple(replace(each, surface=word) for each in view.source)
    words = tuple(replace(each, surface=word) for each in view.words)
    plot_attention(replace(view, summary=word, source=source, words=words), path)
    assert path.stat().st_size > 0


def test_unknown_plot_format_is_refused(tmp_path):
    with pytest.raises(
        ConfigError, match=r"x\.gif: unknown plot format; expected a name that ends"
    ):
        check_plot(tmp_path / "x.gif")


def test_missing_matplotlib_suggests_the_extra(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    monkeypatch.delitem(sys.modules, "matplotlib.figure", raising=False)
    with pytest.raises(MissingExtraError, match=r"the extra 'plot'"):
        check_plot(tmp_path / "x.png")


@pytest.mark.needs_extras
def test_unwritable_plot_is_reported(view, tmp_path):
    with pytest.raises(DataError, match=r"nowhere/x\.png: the folder '.*nowhere' does not exist"):
        plot_attention(view, tmp_path / "nowhere" / "x.png")
