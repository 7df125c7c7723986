"""Table 4 from what `timing.py` measured: decoding time against the decoder's vocabulary."""

import json
from pathlib import Path
from typing import Any

from readagain.errors import ArtifactError
from readagain.experiments.paper import paper_table
from readagain.experiments.table import Table, TableSection, Value
from readagain.model_dir import PRECISIONS

TIMING_FILE = "timing.json"
TOGETHER = (1, 16)
"""How many texts are summarized at once."""


def read_timing(out: Path) -> dict[str, Any] | None:
    """Read what was measured; None when nothing was.

    Raises:
        ArtifactError: when the file is damaged.
    """
    path = out / TIMING_FILE
    if not path.exists():
        return None
    try:
        facts: dict[str, Any] = json.loads(path.read_bytes())
        facts["measured"][0]["ms_per_text"]
    except (ValueError, KeyError, IndexError, TypeError) as error:
        raise ArtifactError(f"{path}: damaged ({error!r}); remove it and measure again") from error
    return facts


def milliseconds(
    facts: dict[str, Any], row: str, precision: str, together: int
) -> dict[str, float]:
    """Pick the milliseconds per text of one curve, by size."""
    return {
        each["size"]: each["ms_per_text"][str(together)]
        for each in facts["measured"]
        if (each["row"], each["precision"]) == (row, precision)
    }


def table4(facts: dict[str, Any] | None) -> Table:
    """Decoding time against the decoder's vocabulary."""
    sizes = list(paper_table("table4")[0].seconds)
    columns = ["system", "where", *sizes, f"{sizes[-1]} / {sizes[0]}"]
    lines: list[list[Value]] = []
    for paper in paper_table("table4"):
        times = [f"{1e3 * paper.seconds[size]:.0f}" for size in sizes]
        ratio = paper.seconds[sizes[-1]] / paper.seconds[sizes[0]]
        lines.append([paper.label, "paper, NVIDIA Titan X", *times, ratio])
        if facts is None:
            lines.append([f"ours: {paper.row}", "CPU", *[None] * len(sizes), None])
            continue
        for precision in PRECISIONS:
            for together in TOGETHER:
                found = milliseconds(facts, paper.row, precision, together)
                where = f"CPU, {precision}, {'alone' if together == 1 else f'{together} together'}"
                cells = [f"{found[size]:.1f}" for size in sizes]
                growth = found[sizes[-1]] / found[sizes[0]]
                lines.append([f"ours: {paper.row}", where, *cells, growth])
    described = (
        "Not measured yet."
        if facts is None
        else f"{facts['machine']}, threads: {facts['threads']}, beam {facts['beam']}, "
        f"{facts['texts']} invented sentences, summaries of {facts['summary_words']} words; scale "
        f"{facts['scale']}."
    )
    return Table(
        name="table4",
        title="Table 4: decoding time against the decoder's vocabulary, ms per sentence",
        sections=[TableSection("", columns, lines)],
        notes=[
            "Random weights of the rows' shapes, through exported graphs, tokenizing and printing "
            "included. Compare ratios within a line; the machines are different ones."
        ],
        facts=[described],
    )
