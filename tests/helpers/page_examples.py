"""Examples of documentation pages, run as doctests."""

import doctest
import re
from pathlib import Path

DOCS = Path(__file__).parents[2] / "docs"


def run_page_examples(name: str) -> doctest.TestResults:
    """Run the `pycon` blocks of a page as one session; failures are printed."""
    text = (DOCS / name).read_text(encoding="utf-8")
    blocks = re.findall(r"^```pycon\n(.*?)^```$", text, flags=re.DOTALL | re.MULTILINE)
    test = doctest.DocTestParser().get_doctest("\n".join(blocks), {}, name, name, 0)
    return doctest.DocTestRunner().run(test)
