"""Write the reference pages from docstrings, the command line, the specs and the HTTP schema.

`python docs/site/reference.py` (or `make docs`) writes `docs/reference/`. A unit test fails if a
page there is out of date.
"""

from collections.abc import Callable
from pathlib import Path

from code_pages import python_page, settings_page
from interface_pages import command_line_page, http_page

FOLDER = Path(__file__).parents[1] / "reference"

PAGES: dict[str, Callable[[], str]] = {
    "python.md": python_page,
    "command-line.md": command_line_page,
    "http.md": http_page,
    "settings.md": settings_page,
}

if __name__ == "__main__":
    FOLDER.mkdir(exist_ok=True)
    for page_name, render in PAGES.items():
        (FOLDER / page_name).write_text(render(), encoding="utf-8")
