"""Sphinx extension: a page that loads anything from another host is a warning."""

import re
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

REMOTE = re.compile(r"(?:https?:)?//", flags=re.IGNORECASE)
REMOTE_IN_CSS = re.compile(r"(?:@import|url\()\s*(?:url\()?[\"']?((?:https?:)?//[^\"')\s;]+)", re.I)


class _Resources(HTMLParser):
    """Addresses that a browser loads to show a page; links to follow are none of them."""

    def __init__(self) -> None:
        super().__init__()
        self.addresses: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Keep the addresses of one element."""
        values = {name: value or "" for name, value in attrs}
        if tag == "link" and values.get("rel") not in ("canonical", "license", "next", "prev"):
            self.addresses.append(values.get("href", ""))
        if tag == "object":
            self.addresses.append(values.get("data", ""))
        self.addresses += [values[name] for name in ("src", "poster") if name in values]
        self.addresses += [part.strip() for part in values.get("srcset", "").split(",")]


def remote_resources(text: str, *, is_css: bool = False) -> list[str]:
    """Return the addresses on other hosts that a page or a style sheet loads."""
    found = REMOTE_IN_CSS.findall(text)
    if not is_css:
        parser = _Resources()
        parser.feed(text)
        found += [address for address in parser.addresses if REMOTE.match(address)]
    return found


def check_site(app: Any, error: Exception | None) -> None:
    """Warn about every built file that loads something from another host."""
    from sphinx.util import logging

    if error is not None or app.builder.format != "html":
        return
    folder = Path(app.outdir)
    for path in sorted([*folder.rglob("*.html"), *folder.rglob("*.css")]):
        text = path.read_text(encoding="utf-8")
        for address in remote_resources(text, is_css=path.suffix == ".css"):
            logging.getLogger(__name__).warning(
                "%s: loads %s; keep a copy in docs/site/static", path.relative_to(folder), address
            )


def setup(app: Any) -> dict[str, bool]:
    """Register the extension."""
    app.connect("build-finished", check_site)
    return {"parallel_read_safe": True}
