"""Extensions of the documentation site, and the reference pages that are written from the code."""

from importlib import import_module
from pathlib import Path

import pytest

DOCS = Path(__file__).parents[2] / "docs"


@pytest.fixture(autouse=True)
def site_path(monkeypatch):
    """Let the modules of the site import each other, as Sphinx and the script do."""
    monkeypatch.syspath_prepend(DOCS / "site")


@pytest.mark.parametrize("name", ["python.md", "command-line.md", "http.md", "settings.md"])
def test_reference_page_is_current(name):
    written = import_module("reference").PAGES[name]()
    assert (DOCS / "reference" / name).read_text(encoding="utf-8") == written, "run: make docs"


def test_reference_folder_has_only_written_pages():
    assert {path.name for path in (DOCS / "reference").iterdir()} == set(
        import_module("reference").PAGES
    )


def test_navigation_follows_the_lists_of_an_index_page():
    page = "# T\n\n[x](x.md)\n\n## How-to\n\n- [First](a.md): one\n- [Second](b/c.md)\n\n## Rest\n"
    assert import_module("navigation").toctrees(page) == (
        "```{toctree}\n:hidden:\n:caption: How-to\n\nFirst <a>\nSecond <b/c>\n```"
    )


def test_links_to_pages_outside_the_site_become_text():
    link_text = import_module("navigation").without_outside_links
    assert link_text("see [how](../CONTRIBUTING.md#x) and [b](../b.md)", depth=0) == (
        "see how and b"
    )
    assert link_text("[a](../index.md), [b](../../CHANGELOG.md)", depth=1) == (
        "[a](../index.md), b"
    )


def test_file_names_in_links_become_titles():
    titles = {"data": "Prepare a corpus", "results/results": "All tables"}
    page = "[data.md](../data.md#splits), [here](../data.md), [x.md](x.md), [r.md](results.md)"
    assert import_module("navigation").with_titles(page, folder="results", titles=titles) == (
        "[Prepare a corpus](../data.md#splits), [here](../data.md), [x.md](x.md), "
        "[All tables](results.md)"
    )


@pytest.mark.parametrize(
    "page",
    [
        '<script src="https://cdn.example/x.js"></script>',
        '<link rel="stylesheet" href="//fonts.example/css">',
        '<img src="x.png" srcset="https://images.example/y.png 2x">',
        '<div style="background: url(https://images.example/z.png)">',
        "<style>@import 'https://fonts.example/a.css';</style>",
    ],
)
def test_remote_resource_is_found(page):
    (address,) = import_module("resources").remote_resources(page)
    assert "example" in address


def test_links_and_local_files_are_no_remote_resources():
    page = (
        '<a href="https://arxiv.org">paper</a><script src="_static/x.js"></script>'
        '<link rel="canonical" href="https://docs.example/">'
    )
    assert import_module("resources").remote_resources(page) == []
