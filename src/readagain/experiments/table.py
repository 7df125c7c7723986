"""Table of results, formatted as Markdown or CSV."""

import csv
import io
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from readagain.rouge.corpus import Estimate


@dataclass(frozen=True)
class MarkedEstimate(Estimate):
    """Score in percent with its 95% interval and the mark of a comparison.

    `mark` is ▲ if the score is significantly higher than that of the experiment it is compared
    with, ▼ if it is significantly lower, and otherwise "".
    """

    mark: str = ""

    def __str__(self) -> str:
        return f"{self.value:.2f}{self.mark} ({self.low:.1f}–{self.high:.1f})"


TableCell = str | int | float | MarkedEstimate | None
TableRow = Mapping[str, TableCell]
"""Values by column; a column without a value is shown as "not run"."""


@dataclass(frozen=True)
class TableSection:
    """Part of a table with its own heading and columns, such as one recipe.

    `other_recipe` has the titles of experiments that were run, but not with this recipe.
    """

    heading: str
    columns: Sequence[str]
    rows: Sequence[TableRow]
    other_recipe: Sequence[str] = ()

    def values(self, row: TableRow) -> list[TableCell]:
        """Return the values of a row in the order of the columns."""
        return [row.get(column) for column in self.columns]


@dataclass(frozen=True, kw_only=True)
class Table:
    """A table with one section for each recipe, and paragraphs below it.

    `name` is that of its files, without the suffix. `sources` are lines about the corpora, data
    sets, machines and versions of the results.
    """

    name: str
    title: str
    sections: Sequence[TableSection]
    notes: Sequence[str] = ()
    sources: Sequence[str] = ()

    def markdown(self) -> str:
        """Return the table as Markdown, with the title as a heading of level 2."""
        paragraphs = [f"## {self.title}"]
        for section in self.sections:
            if section.heading:
                paragraphs.append(f"### {section.heading}")
            paragraphs.append(markdown_table(section.columns, map(section.values, section.rows)))
            if section.other_recipe:
                paragraphs.append(f"Not run with this recipe: {'; '.join(section.other_recipe)}.")
        if self.notes:
            paragraphs.append("\n".join(f"- {note}" for note in self.notes))
        if self.sources:
            paragraphs.append("  \n".join(self.sources))
        return "\n\n".join(paragraphs) + "\n"

    def csv(self) -> str:
        """Return the table as CSV.

        The first column is the heading of the section. A score has four columns: value, low, high
        and mark.
        """
        file = io.StringIO()
        writer = csv.writer(file, lineterminator="\n")
        for section in self.sections:
            score_columns = {
                column
                for column in section.columns
                if any(isinstance(row.get(column), MarkedEstimate) for row in section.rows)
            }
            header = ["section"]
            for column in section.columns:
                header.append(column)
                if column in score_columns:
                    header += [f"{column} low", f"{column} high", f"{column} mark"]
            writer.writerow(header)
            for row in section.rows:
                cells: list[object] = [section.heading]
                for column, value in zip(section.columns, section.values(row), strict=True):
                    if isinstance(value, MarkedEstimate):
                        numbers = (value.value, value.low, value.high)
                        cells += [*(round(number, 3) for number in numbers), value.mark]
                        continue
                    cells.append("" if value is None else value)
                    if column in score_columns:
                        cells += ["", "", ""]
                writer.writerow(cells)
        return file.getvalue()


def markdown_table(columns: Sequence[str], rows: Iterable[Sequence[TableCell]]) -> str:
    """Return a Markdown table."""
    lines = [f"| {' | '.join(columns)} |", f"|{'---|' * len(columns)}"]
    lines += [f"| {' | '.join(map(_format_cell, row))} |" for row in rows]
    return "\n".join(lines)


def _format_cell(value: TableCell) -> str:
    if value is None:
        return "not run"
    if isinstance(value, float):
        return f"{value:.2f}"
    if isinstance(value, int):
        return f"{value:,}"
    return str(value).replace("|", "\\|")
