import re
from pathlib import Path

import pytest

PAGE = Path(__file__).parents[3] / "docs" / "engine.md"
SNIPPETS = re.findall(r"```python\n(.*?)```", PAGE.read_text(encoding="utf-8"), flags=re.DOTALL)


@pytest.mark.parametrize("snippet", SNIPPETS)
def test_what_the_page_shows_runs(snippet, toy, capsys):
    exec(compile(snippet, str(PAGE), "exec"), {"MODEL": toy})
    assert "Ghent" in capsys.readouterr().out


def test_the_page_shows_a_summary():
    assert any("summarizer.summarize(" in snippet for snippet in SNIPPETS)
