"""The DUC layout: input.txt with up to four references, task1_ref0.txt to task1_ref3.txt."""

from pathlib import Path

from readagain.corpus.readers import parallel
from readagain.corpus.readers.source import CorpusFormat


def references_beside(texts: Path) -> list[Path]:
    """Find the reference files that belong to an `input.txt`; empty when there are not several."""
    if texts.name != "input.txt":
        return []
    found = sorted(texts.parent.glob("task1_ref[0-9].txt"))
    return found if len(found) > 1 else []


FORMAT = CorpusFormat(
    name="duc",
    title="input.txt with task1_ref0.txt to task1_ref3.txt",
    blocks=parallel.blocks,
    records=parallel.records,
)
