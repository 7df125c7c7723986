"""Sphinx configuration of the documentation site; `make docs` builds it."""

import sys
from pathlib import Path

DOCS = Path(__file__).parent
sys.path.insert(0, str(DOCS / "site"))

from readagain.version import __version__  # noqa: E402

project = "readagain"
author = "the readagain developers"
project_copyright = author
version = release = __version__
language = "en"

extensions = ["myst_parser", "navigation", "resources"]
exclude_patterns = ["site"]
suppress_warnings = ["myst.header"]  # levels of headings in the generated results

myst_heading_anchors = 4  # links to headings work as on GitHub

templates_path: list[str] = []
html_theme = "furo"
html_title = f"readagain {__version__}"
html_static_path = ["site/static"]
html_css_files = ["site.css"]
html_copy_source = False
html_use_index = False  # no page uses index entries
html_show_sphinx = False
html_theme_options = {"navigation_with_keys": True, "top_of_page_buttons": []}
highlight_language = "none"  # blocks without a language are commands and output
pygments_style = "friendly"
pygments_dark_style = "monokai"
