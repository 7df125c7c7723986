"""The paper's own figures, kept as data in `paper.toml`."""

import tomllib
from dataclasses import dataclass, field
from functools import cache
from importlib.resources import files


@dataclass(frozen=True, kw_only=True)
class PaperRow:
    """A line of one of the paper's tables, as printed.

    Args:
        label: what the paper calls it.
        row: the name of our row; in Table 4 without the size.
        size: words of the decoder; `input` how many sentences it reads, where the table says so.
        rouge: ROUGE-1, -2 and -L in per cent.
        seconds: Table 4: seconds per sentence by size.
    """

    label: str
    row: str
    size: str = ""
    input: str = ""
    rouge: tuple[float, float, float] = (0.0, 0.0, 0.0)
    seconds: dict[str, float] = field(default_factory=dict)


@cache
def paper_table(name: str) -> tuple[PaperRow, ...]:
    """Return `table1` to `table4`, in the paper's order."""
    content = tomllib.loads((files(__package__) / "paper.toml").read_text(encoding="utf-8"))
    return tuple(
        PaperRow(**{**entry, "rouge": tuple(entry.get("rouge", (0.0, 0.0, 0.0)))})
        for entry in content[name]
    )
