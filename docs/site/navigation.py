"""Sphinx extension: navigation from the lists of the index pages, and links of the site.

Pages stay plain Markdown, readable in the repository. Below each heading of `index.md`, the pages
that list items start with become a hidden `toctree` with that heading as its caption.
"""

import posixpath
import re
from pathlib import Path
from typing import Any

ITEM = re.compile(r"^[-|] \[([^\]]+)\]\(([\w/-]+)\.md\)", flags=re.MULTILINE)


def toctrees(page: str) -> str:
    """Return a `toctree` directive for each section of an index page that lists pages."""
    directives = []
    for section in re.split(r"^## ", page, flags=re.MULTILINE)[1:]:
        caption, _, body = section.partition("\n")
        entries = [f"{title} <{name}>" for title, name in ITEM.findall(body)]
        if entries:
            directives.append(
                "\n".join(["```{toctree}", ":hidden:", f":caption: {caption}", "", *entries, "```"])
            )
    return "\n\n".join(directives)


def without_outside_links(page: str, *, depth: int) -> str:
    """Replace links to pages outside `docs` by their text; they are not part of the site.

    Args:
        page: text of a page.
        depth: number of folders between `docs` and the page.
    """
    return re.sub(rf"\[([^\]]+)\]\((?:\.\./){{{depth + 1}}}[\w./-]+\.md(?:#[\w-]*)?\)", r"\1", page)


def with_titles(page: str, *, folder: str, titles: dict[str, str]) -> str:
    """Replace file names as texts of links by the titles of the pages.

    Args:
        page: text of a page.
        folder: folder of the page, relative to `docs`.
        titles: titles by path relative to `docs`, without the suffix.
    """

    def replace(link: re.Match[str]) -> str:
        path = posixpath.normpath(posixpath.join(folder, link[1])).removesuffix(".md")
        return f"[{titles[path]}]({link[1]}{link[2]})" if path in titles else link[0]

    return re.sub(r"\[[\w/-]+\.md\]\(([\w./-]+\.md)((?:#[\w-]+)?)\)", replace, page)


def prepare_page(app: Any, name: str, source: list[str]) -> None:
    """Adapt a page to the site before it is parsed."""
    index = (Path(app.srcdir) / "index.md").read_text(encoding="utf-8")
    titles = {path: title for title, path in ITEM.findall(index)}
    source[0] = without_outside_links(source[0], depth=name.count("/"))
    source[0] = with_titles(source[0], folder=posixpath.dirname(name), titles=titles)
    if name.rpartition("/")[2] == "index":
        source[0] += "\n\n" + toctrees(source[0])


def setup(app: Any) -> dict[str, bool]:
    """Register the extension."""
    app.connect("source-read", prepare_page)
    return {"parallel_read_safe": True}
