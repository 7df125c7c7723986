"""Table of results, written as Markdown and CSV."""

import csv
import io
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from readagain.rouge.corpus import Estimate


@dataclass(frozen=True)
class MarkedEstimate(Estimate):
    """Score in percent with its 95% interval.

    `mark` is ▲ if the score is significantly higher than the one it is compared with, ▼ if lower.
    """

    mark: str = ""

    def __str__(self) -> str:
        return f"{self.value:.2f}{self.mark} ({self.low:.1f}–{self.high:.1f})"


Value = str | int | float | MarkedEstimate | None
TableRow = Mapping[str, Value]
"""Values by column; a missing or None value is shown as "not run"."""


@dataclass(frozen=True)
class TableSection:
    """Rows with the same columns.

    Args:
        heading: heading of the section, such as the recipe.
        other_recipe: titles of experiments that were run with another recipe only.
    """

    heading: str
    columns: Sequence[str]
    rows: Sequence[TableRow]
    other_recipe: Sequence[str] = ()

    def values(self, row: TableRow) -> list[Value]:
        """Return the values of a row in the order of the columns."""
        return [row.get(column) for column in self.columns]


@dataclass(frozen=True, kw_only=True)
class Table:
    """A table with one section for each recipe.

    Args:
        name: stem of its files.
        sources: corpora, data sets, machines and versions of the results.
    """

    name: str
    title: str
    sections: Sequence[TableSection]
    notes: Sequence[str] = ()
    sources: Sequence[str] = ()

    def markdown(self, *, level: int = 1) -> str:
        """Return the table as Markdown with headings from `level` on."""
        parts = [f"{'#' * level} {self.title}"]
        for section in self.sections:
            if section.heading:
                parts.append(f"{'#' * (level + 1)} {section.heading}")
            parts.append(markdown_table(section.columns, map(section.values, section.rows)))
            if section.other_recipe:
                parts.append(f"Not run with this recipe: {'; '.join(section.other_recipe)}.")
        if self.notes:
            parts.append("\n".join(f"- {note}" for note in self.notes))
        if self.sources:
            parts.append("  \n".join(self.sources))
        return "\n\n".join(parts) + "\n"

    def csv(self) -> str:
        """Return the table as CSV; the first column is the section, a score takes four columns."""
        file = io.StringIO()
        writer = csv.writer(file, lineterminator="\n")
        for section in self.sections:
            scores = {
                column
                for column in section.columns
                if any(isinstance(row.get(column), MarkedEstimate) for row in section.rows)
            }
            header = ["section"]
            for column in section.columns:
                header.append(column)
                if column in scores:
                    header += [f"{column} {part}" for part in ("low", "high", "mark")]
            writer.writerow(header)
            for row in section.rows:
                cells: list[object] = [section.heading]
                for column, value in zip(section.columns, section.values(row), strict=True):
                    if isinstance(value, MarkedEstimate):
                        bounds = (value.value, value.low, value.high)
                        cells += [*(round(each, 3) for each in bounds), value.mark]
                    else:
                        cells += ["" if value is None else value, *[""] * (3 * (column in scores))]
                writer.writerow(cells)
        return file.getvalue()


def markdown_table(columns: Sequence[str], rows: Iterable[Sequence[Value]]) -> str:
    """Return a Markdown table."""
    lines = [f"| {' | '.join(columns)} |", f"|{'---|' * len(columns)}"]
    lines += [f"| {' | '.join(map(_cell, row))} |" for row in rows]
    return "\n".join(lines)


def _cell(value: Value) -> str:
    if value is None:
        return "not run"
    if isinstance(value, float):
        return f"{value:.2f}"
    if isinstance(value, int):
        return f"{value:,}"
    return str(value).replace("|", "\\|")
