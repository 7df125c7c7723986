"""A table as data, and as Markdown, CSV and JSON."""

import csv
import io
import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from readagain.evaluation.writing import write_whole
from readagain.experiments.board import Figure

Value = str | int | float | Figure | None


@dataclass(frozen=True)
class TableSection:
    """Lines under a heading of their own, all with the same columns.

    Args:
        heading: what they have in common.
        columns: their names.
        lines: a value for each column.
        left_out: rows that stand in another section only, by their titles.
    """

    heading: str
    columns: Sequence[str]
    lines: Sequence[Sequence[Value]]
    left_out: Sequence[str] = ()


@dataclass(frozen=True, kw_only=True)
class Table:
    """A table of the paper, rebuilt.

    Args:
        name: of its files.
        title: its first line.
        sections: its parts, one for each recipe.
        notes: what a reader must know, below it.
        facts: machine, corpus and versions behind it.
    """

    name: str
    title: str
    sections: Sequence[TableSection]
    notes: Sequence[str] = ()
    facts: Sequence[str] = field(default_factory=tuple)

    def markdown(self, *, level: int = 1) -> str:
        """Write it as Markdown."""
        parts = [f"{'#' * level} {self.title}"]
        for section in self.sections:
            if section.heading:
                parts.append(f"{'#' * (level + 1)} {section.heading}")
            head = f"| {' | '.join(section.columns)} |\n|{'---|' * len(section.columns)}"
            rows = (f"| {' | '.join(map(_shown, line))} |" for line in section.lines)
            parts.append("\n".join([head, *rows]))
            if section.left_out:
                parts.append(f"Not run by this recipe: {'; '.join(section.left_out)}.")
        if self.notes:
            parts.append("\n".join(f"- {note}" for note in self.notes))
        if self.facts:
            parts.append("  \n".join(self.facts))
        return "\n\n".join(parts) + "\n"

    def csv(self) -> str:
        """Write it as CSV: a figure takes four columns, and the heading the first of all."""
        file = io.StringIO()
        writer = csv.writer(file, lineterminator="\n")
        for section in self.sections:
            spread = [_spread_head(section, place) for place in range(len(section.columns))]
            writer.writerow(["section", *(name for names in spread for name in names)])
            for line in section.lines:
                cells = [
                    cell
                    for value, names in zip(line, spread, strict=True)
                    for cell in _spread(value, len(names))
                ]
                writer.writerow([section.heading, *cells])
        return file.getvalue()

    def as_json(self) -> dict[str, Any]:
        """Return plain values."""
        return {
            "name": self.name,
            "title": self.title,
            "sections": [
                {
                    "heading": section.heading,
                    "lines": [
                        dict(zip(section.columns, map(_plain, line), strict=True))
                        for line in section.lines
                    ],
                }
                for section in self.sections
            ],
            "notes": list(self.notes),
            "facts": list(self.facts),
        }

    def write(self, folder: Path) -> None:
        """Write all three forms."""
        folder.mkdir(parents=True, exist_ok=True)
        write_whole(folder / f"{self.name}.md", self.markdown())
        write_whole(folder / f"{self.name}.csv", self.csv())
        text = json.dumps(self.as_json(), indent=1, ensure_ascii=False)
        write_whole(folder / f"{self.name}.json", text + "\n")


def _shown(value: Value) -> str:
    if value is None:
        return "not run"
    if isinstance(value, float):
        return f"{value:.2f}"
    if isinstance(value, int):
        return f"{value:,}"
    return str(value).replace("|", "\\|")


def _plain(value: Value) -> Any:
    return vars(value) if isinstance(value, Figure) else value


def _spread_head(section: TableSection, place: int) -> list[str]:
    name = section.columns[place]
    if any(isinstance(line[place], Figure) for line in section.lines):
        return [name, f"{name} low", f"{name} high", f"{name} mark"]
    return [name]


def _spread(value: Value, width: int) -> list[object]:
    if isinstance(value, Figure):
        return [round(value.value, 3), round(value.low, 3), round(value.high, 3), value.mark]
    return ["" if value is None else value, *[""] * (width - 1)]
