"""Report of the results: one page with claims, tables and plots.

At the scale `small` it has no claims: verdicts on noise would only mislead.
"""

import math
from pathlib import Path

from readagain.errors import DataError, MissingExtraError
from readagain.experiments.catalog import PAGE_TEXTS
from readagain.experiments.claims import claims_markdown, judge_claims
from readagain.experiments.paper_examples import examples_markdown
from readagain.experiments.plots import plot_tables
from readagain.experiments.results import ROWS_DIR, read_results, read_timing
from readagain.experiments.store import ResultStore
from readagain.experiments.tables import build_tables
from readagain.storage.files import write_text

TABLES_DIR = "tables"
PAGE_FILE = "results.md"
_PAPER_UPDATES = 594_000
"""Number of updates in the paper: ten epochs of 3.8 million pairs in batches of 64."""


def write_report(out: Path) -> list[str]:
    """Write the page, and each table as CSV and as a plot, from the results in `out`.

    Returns:
        Messages about plots that could not be made.

    Raises:
        DataError: if there are no results, or results of different scales or data sets.
    """
    store, timing = ResultStore(read_results(out)), read_timing(out)
    if not store.results and timing is None:
        raise DataError(
            f"{out}: no results; run some experiments, or copy results into {out / ROWS_DIR}"
        )
    directory = out / TABLES_DIR
    directory.mkdir(parents=True, exist_ok=True)
    tables = build_tables(store, timing)
    for table in tables:
        write_text(directory / f"{table.name}.csv", table.csv())
    problems, plots = [], []
    try:
        plots = plot_tables(tables, store, timing, directory)
    except MissingExtraError as error:
        problems.append(f"no plots: {error}")
    paragraphs = ["# Results", PAGE_TEXTS["introduction"]]
    scales = {result.scale for result in store.results} | ({timing["scale"]} if timing else set())
    if "small" in scales:
        paragraphs.append(PAGE_TEXTS["small_scale"])
    else:
        paragraphs += [
            "## Claims",
            PAGE_TEXTS["verdicts"],
            "\n".join(_describe_recipe(store, recipe) for recipe in store.recipes),
            claims_markdown(judge_claims(store, timing)),
        ]
    plot_names = {path.stem: path.name for path in plots}
    for table in tables:
        paragraphs.append(table.markdown())
        if table.name in plot_names:
            paragraphs.append(f"![{table.title}]({TABLES_DIR}/{plot_names[table.name]})")
        if table.name == "table5":
            paragraphs.append(examples_markdown(store))
    page = "\n\n".join(paragraph.strip() for paragraph in paragraphs if paragraph)
    write_text(out / PAGE_FILE, page + "\n")
    return problems


def _describe_recipe(store: ResultStore, recipe: str) -> str:
    """Return the number of runs and updates of a recipe, and the deviation between seeds."""
    runs = [result for result in store.results if result.recipe == recipe and result.training]
    if not runs:
        return f"- `{recipe}`: no training runs."
    updates = {run.training["updates"] for run in runs}
    updates_range = " to ".join(f"{count:,}" for count in sorted({min(updates), max(updates)}))
    text = (
        f"- `{recipe}`: {len(runs)} runs of {updates_range} updates "
        f"(paper: about {_PAPER_UPDATES:,})"
    )
    if recipe == "converged":
        num_converged = sum(run.training["ended_by"] == "patience" for run in runs)
        text += f"; {num_converged} converged, {len(runs) - num_converged} did not"
    dataset = next(iter(runs[0].sets))
    variance = store.seed_variance(recipe, dataset)
    if variance is not None:
        sd = 100 * math.sqrt(variance.values[0])
        text += f"; standard deviation between seeds {sd:.2f} ROUGE-1 points on {dataset}"
    return text + "."
