"""Tables and docstrings as Markdown."""

import inspect
import re
from collections.abc import Iterable
from dataclasses import is_dataclass

NOTE = "<!-- Written by docs/site/reference.py; change the code, then run: make docs -->"
SECTION = re.compile(r"^(Args|Returns|Yields|Raises):\n((?:[ \t]+.*\n?|\n)+)", flags=re.MULTILINE)
ENTRY = re.compile(r"^    ([\w, *]+): (.*(?:\n {5,}.*)*)", flags=re.MULTILINE)


def table(header: Iterable[str], rows: Iterable[Iterable[str]]) -> str:
    """Return a Markdown table."""
    header = list(header)
    lines = [header, *([cell.replace("|", "\\|") for cell in row] for row in rows)]
    first, *others = ("| " + " | ".join(line) + " |" for line in lines)
    return "\n".join([first, "|" + "---|" * len(header), *others])


def one_line(text: str) -> str:
    """Join the lines of a text."""
    return " ".join(text.split())


def docstring(thing: object) -> str:
    """Return a Google-style docstring as Markdown, its arguments as a table."""
    text = inspect.getdoc(thing) or ""
    parts = [SECTION.sub("", text).strip()]
    for name, body in SECTION.findall(text):
        entries = ENTRY.findall(body)
        if name == "Args" and inspect.isclass(thing) and not is_dataclass(thing):
            continue  # objects come from a function such as `load`
        if entries and name in ("Args", "Raises"):
            first = "field" if inspect.isclass(thing) else "argument"
            header = (first, "meaning") if name == "Args" else ("error", "when")
            rows = ((f"`{entry}`", one_line(meaning)) for entry, meaning in entries)
            parts.append(table(header, rows))
        else:
            parts.append(f"{name}: {one_line(body)}")
    return "\n\n".join(part for part in parts if part)
