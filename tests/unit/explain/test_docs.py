"""Examples and fields in docs/explain.md."""

import re
from dataclasses import asdict
from pathlib import Path

ROOT = Path(__file__).parents[3]
PAGE = (ROOT / "docs" / "explain.md").read_text(encoding="utf-8")
TOY = ROOT / "tests" / "assets" / "models" / "toy"


def test_example_of_the_page_runs(capsys):
    (snippet,) = re.findall(r"```python\n(.*?)```", PAGE, flags=re.DOTALL)
    names = {"MODEL": TOY}
    exec(compile(snippet, "docs/explain.md", "exec"), names)
    assert "Ghent" in capsys.readouterr().out
    assert names["page"].startswith("<!doctype html>")


def test_every_field_of_the_json_is_described(view):
    described = PAGE.split("## JSON")[1].split("##")[0]
    plain = asdict(view)
    fields = [*plain, *plain["source"][0], *plain["words"][0]]
    assert [name for name in fields if f"`{name}`" not in described] == []
