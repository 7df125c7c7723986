"""Examples in docs/beam-search.md."""

import re
from pathlib import Path

import pytest

PAGE = Path(__file__).parents[3] / "docs" / "beam-search.md"
SNIPPETS = re.findall(r"```python\n(.*?)```", PAGE.read_text(encoding="utf-8"), flags=re.DOTALL)


@pytest.mark.parametrize("snippet", SNIPPETS)
def test_search_page_examples_run(snippet):
    exec(compile(snippet, str(PAGE), "exec"), {})


def test_search_page_shows_a_search():
    assert any("beam_search(" in snippet for snippet in SNIPPETS)
