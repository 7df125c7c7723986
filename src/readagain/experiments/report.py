"""Report of the results: tables, plots, claims and one page with everything."""

import json
import shutil
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from readagain.errors import DataError, MissingExtraError
from readagain.evaluation.report import write_text
from readagain.experiments.claims import Claim, claims_markdown, judge_claims
from readagain.experiments.plots import plot_tables
from readagain.experiments.results import ROWS_DIR, TIMING_FILE, read_results, read_timing
from readagain.experiments.store import ResultStore
from readagain.experiments.table import Table
from readagain.experiments.tables import build_tables

TABLES_DIR = "tables"
CLAIMS_FILE = "claims.md"
PAGE_FILE = "results.md"
BEGIN, END = "<!-- written by readagain reproduce -->", "<!-- end of what it wrote -->"
_PUBLISHED_SUFFIXES = (".csv", ".json", ".png")
_PAPER_UPDATES = 594_000  # ten epochs of 3.8 million pairs in batches of 64
_SMALL = (
    "**Small scale**: tiny networks on little data show that everything runs, and nothing about "
    "the paper's claims."
)


def write_report(out: Path) -> list[str]:
    """Write tables, plots, claims and the page from the results in `out`.

    Returns:
        Messages about what could not be written.

    Raises:
        DataError: if there are no results, or they do not belong together.
    """
    store, timing = ResultStore(read_results(out)), read_timing(out)
    if not store.results and timing is None:
        raise DataError(
            f"{out}: no results; run some experiments, or copy results into {out / ROWS_DIR}"
        )
    folder = out / TABLES_DIR
    tables = build_tables(store, timing)
    for table in tables:
        table.write(folder)
    claims = {recipe: judge_claims(store, timing, recipe) for recipe in store.recipes}
    content = {recipe: list(map(_claim_json, found)) for recipe, found in claims.items()}
    write_text(folder / "claims.json", json.dumps(content, indent=1) + "\n")
    problems, plots = [], []
    try:
        plots = plot_tables(tables, store, timing, folder)
    except MissingExtraError as error:
        problems.append(f"no plots: {error}")
    scale = [_SMALL] if any(result.scale == "small" for result in store.results) else []
    claims_page = ["# The paper's claims, tested", *scale, *_claims(store, claims, level=2)]
    write_text(out / CLAIMS_FILE, _joined(claims_page))
    page = [
        "# Results",
        "Written by `readagain reproduce`; *not run* marks rows that have not been run yet. "
        "Plots show the first recipe.",
        *scale,
        "## Claims",
        *_claims(store, claims, level=3),
        *_tables(tables, plots),
    ]
    write_text(out / PAGE_FILE, _joined(page))
    return problems


def _joined(parts: Sequence[str]) -> str:
    return "\n\n".join(part.strip() for part in parts) + "\n"


def _claims(store: ResultStore, claims: Mapping[str, Sequence[Claim]], *, level: int) -> list[str]:
    parts = []
    for recipe, found in claims.items():
        parts += [f"{'#' * level} Recipe {recipe}", _training_amount(store, recipe)]
        parts.append(claims_markdown(found, level=level))
    return parts


def _tables(tables: Sequence[Table], plots: Sequence[Path]) -> list[str]:
    plotted = {path.stem: path for path in plots}
    parts = []
    for table in tables:
        parts.append(table.markdown(level=2))
        if table.name in plotted:
            parts.append(f"![{table.title}]({TABLES_DIR}/{plotted[table.name].name})")
    return parts


def _training_amount(store: ResultStore, recipe: str) -> str:
    """Return how long experiments were trained, compared with the paper."""
    trained = [each.training for each in store.results if each.recipe == recipe]
    updates = [each["updates"] for each in trained if "updates" in each]
    if not updates:
        return "No experiment was trained."
    amount = " to ".join(f"{each:,}" for each in sorted({min(updates), max(updates)}))
    return (
        f"Networks were trained for {amount} updates, those of the paper for about "
        f"{_PAPER_UPDATES:,}. The verdicts hold for this amount of training."
    )


def _claim_json(claim: Claim) -> dict[str, Any]:
    evidence = [vars(each) for each in claim.evidence]
    return {**vars(claim), "verdict": claim.verdict, "evidence": evidence}


def publish_report(out: Path, page: Path) -> Path:
    """Write the report into a section of `page`, and its figures into a directory beside it.

    Text of `page` outside the section is kept. For `results.md` the directory is `results/`; it
    has the results, so that a report can be written from it. Summaries are not published.

    Returns:
        The directory of the figures.

    Raises:
        DataError: if there is no report, the page has no section, or the directory is `out`.
    """
    folder = page.with_suffix("")
    if folder.resolve() == out.resolve():
        raise DataError(f"{page}: its figures would be written into {out}; choose another page")
    if not (out / PAGE_FILE).exists():
        raise DataError(f"{out}: no {PAGE_FILE} to publish; run some experiments first")
    before, after = _around_section(page)
    report = (out / PAGE_FILE).read_text(encoding="utf-8").partition("\n")[2].strip()
    report = report.replace(f"]({TABLES_DIR}/", f"]({folder.name}/{TABLES_DIR}/")
    _mirror(out / ROWS_DIR, folder / ROWS_DIR)
    _mirror(out / TABLES_DIR, folder / TABLES_DIR)
    (folder / TIMING_FILE).unlink(missing_ok=True)
    if (out / TIMING_FILE).exists():
        shutil.copyfile(out / TIMING_FILE, folder / TIMING_FILE)
    write_text(page, f"{before}{BEGIN}\n\n{report}\n\n{END}{after}")
    return folder


def _around_section(page: Path) -> tuple[str, str]:
    """Return the text before and after the section of the report."""
    if not page.exists():
        return "# Results\n\n", "\n"
    before, begin, rest = page.read_text(encoding="utf-8").partition(BEGIN)
    _, end, after = rest.partition(END)
    if not begin or not end:
        raise DataError(
            f"{page}: no lines '{BEGIN}' and '{END}' for the report; add them, or choose another "
            "file"
        )
    return before, after


def _mirror(source: Path, target: Path) -> None:
    """Replace `target` by a copy of the publishable files of `source`."""
    partial = target.with_name(f"{target.name}.part")
    shutil.rmtree(partial, ignore_errors=True)
    partial.mkdir(parents=True)
    for path in sorted(source.rglob("*")):
        if path.suffix in _PUBLISHED_SUFFIXES:
            copy = partial / path.relative_to(source)
            copy.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(path, copy)
    shutil.rmtree(target, ignore_errors=True)
    partial.rename(target)
