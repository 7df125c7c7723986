"""Everything that is written from results: tables, pictures, claims, and one page of all."""

import json
from pathlib import Path
from typing import Any

from readagain.errors import DataError, MissingExtraError
from readagain.evaluation.writing import write_whole
from readagain.experiments import measured_tables, rouge_tables
from readagain.experiments.board import ResultStore
from readagain.experiments.claims import Claim, claims_markdown, claims_of
from readagain.experiments.plan import UNTRAINED
from readagain.experiments.plots import draw_all
from readagain.experiments.results import read_results
from readagain.experiments.table import Table
from readagain.experiments.time_table import read_timing, table4

TABLES_FOLDER = "tables"
CLAIMS_FILE = "claims.md"
PAGE_FILE = "results.md"
_PAPER_UPDATES = 594_000  # ten epochs of 3.8 million pairs in batches of 64
_SMALL = (
    "**Small scale**: tiny networks on little data show that everything runs, and nothing about "
    "the paper's claims."
)


def build_tables(board: ResultStore, timing: dict[str, Any] | None) -> list[Table]:
    """Build every table, in the paper's order."""
    return [
        rouge_tables.table1(board),
        rouge_tables.table2(board),
        rouge_tables.table3(board),
        table4(timing),
        measured_tables.table5(board),
        measured_tables.importance(board),
        rouge_tables.ablations(board),
    ]


def write_report(out: Path) -> list[str]:
    """Write tables, pictures, claims and the page from what is in `out`.

    Returns:
        What could not be written, in lines for a person.

    Raises:
        DataError: when nothing has been run yet, or results do not belong together.
    """
    board, timing = ResultStore(read_results(out)), read_timing(out)
    if not board.results and timing is None:
        raise DataError(f"{out}: no results in it; run some rows, or copy them into {out / 'rows'}")
    folder = out / TABLES_FOLDER
    tables = build_tables(board, timing)
    for table in tables:
        table.write(folder)
    recipes = [recipe for recipe in board.recipes if recipe != UNTRAINED] or [UNTRAINED]
    claims = {recipe: claims_of(board, timing, recipe) for recipe in recipes}
    trained = {recipe: _how_trained(board, recipe) for recipe in recipes}
    is_small = any(result.scale == "small" for result in board.results)
    write_whole(out / CLAIMS_FILE, _claims_page(claims, trained, is_small=is_small))
    write_whole(folder / "claims.json", json.dumps(_claims_json(claims), indent=1) + "\n")
    problems, pictures = [], []
    try:
        pictures = draw_all(board, timing, recipes[0], folder)
    except MissingExtraError as error:
        problems.append(f"no pictures: {error}")
    write_whole(out / PAGE_FILE, _page(claims, trained, tables, pictures, is_small=is_small))
    return problems


def _how_trained(board: ResultStore, recipe: str) -> str:
    """Say how much rows have learnt from, beside the paper's: a verdict may be about that."""
    trained = [each.training for each in board.results if each.recipe == recipe]
    updates = [each["updates"] for each in trained if "updates" in each]  # a prefix learns nothing
    if not updates:
        return "No row is trained."
    seen = " to ".join(f"{each:,}" for each in sorted({min(updates), max(updates)}))
    return (
        f"Rows saw {seen} updates, the paper's about {_PAPER_UPDATES:,}. Rows that learn late are "
        "judged by what they know by then."
    )


def _claims_page(claims: dict[str, list[Claim]], trained: dict[str, str], *, is_small: bool) -> str:
    parts = ["# The paper's claims, tested\n", *([f"{_SMALL}\n"] if is_small else [])]
    for recipe, tested in claims.items():
        parts += [f"## Recipe {recipe}\n", f"{trained[recipe]}\n"]
        parts.append(claims_markdown(tested, level=2))
    return "\n".join(parts)


def _claims_json(claims: dict[str, list[Claim]]) -> dict[str, Any]:
    return {
        recipe: [
            {
                "name": claim.name,
                "text": claim.text,
                "verdict": claim.verdict,
                "evidence": [vars(each) for each in claim.evidence],
            }
            for claim in tested
        ]
        for recipe, tested in claims.items()
    }


def _page(
    claims: dict[str, list[Claim]],
    trained: dict[str, str],
    tables: list[Table],
    pictures: list[Path],
    *,
    is_small: bool,
) -> str:
    """Write one page of everything, to be read from the top."""
    drawn = {path.stem: path for path in pictures}
    parts = [
        "# Results",
        "Written by `readagain reproduce`; *not run* marks rows that have not been run yet. "
        "Pictures show the first recipe.",
        *([_SMALL] if is_small else []),
        "## Claims",
    ]
    for recipe, tested in claims.items():
        parts += [f"### Recipe {recipe}", trained[recipe], claims_markdown(tested, level=3)]
    for table in tables:
        parts.append(table.markdown(level=2))
        if table.name in drawn:
            parts.append(f"![{table.title}]({TABLES_FOLDER}/{drawn[table.name].name})")
    return "\n\n".join(part.strip() for part in parts) + "\n"
