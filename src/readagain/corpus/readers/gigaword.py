"""The Gigaword layout: X.article.txt beside X.title.txt, or input.txt beside task1_ref0.txt."""

import re
from pathlib import Path

from readagain.corpus.compression import open_bytes
from readagain.corpus.readers import parallel
from readagain.corpus.readers.lines import numbered_lines
from readagain.corpus.readers.source import CorpusFormat

# How the public copies name the two sides of a split.
PARTNERS = (
    ("article", "title"),
    ("article", "headline"),
    ("text", "headline"),
    ("document", "summary"),
    ("source", "target"),
    ("src", "tgt"),
)
SAMPLE_LINES = 200
MAX_SPOKEN_SHARE = 0.05
_SPOKEN_FORM = re.compile(r"[A-Z]|[a-z][,;!?)]|[(\"“”]")


def headlines_beside(texts: Path) -> Path | None:
    """Find the file of headlines that belongs to a file of texts, by its name."""
    for one, other in PARTNERS:
        parts = re.split(r"([._-])", texts.name)
        if one in parts:
            parts[parts.index(one)] = other
            partner = texts.with_name("".join(parts))
            if partner.exists():
                return partner
    if texts.name == "input.txt" and (reference := texts.with_name("task1_ref0.txt")).exists():
        return reference
    return None


def is_headlines_file(path: Path) -> bool:
    """Tell whether a file is the second half of a pair of files in the same folder."""
    for one, other in PARTNERS:
        parts = re.split(r"([._-])", path.name)
        if other in parts:
            parts[parts.index(other)] = one
            if path.with_name("".join(parts)).exists():
                return True
    return path.name.startswith("task1_ref") and path.with_name("input.txt").exists()


def is_tokenized(path: Path) -> bool:
    """Tell whether a file is in Gigaword form: lower case, punctuation set apart.

    Judged on the first lines: next to none has a capital letter (other than in UNK) or a comma
    glued to its word. Public copies hold a few remains of HTML, so not quite none.
    """
    with open_bytes(path) as (stream, _):
        sample = [
            line for _, line in zip(range(SAMPLE_LINES), numbered_lines(stream), strict=False)
        ]
    lines = [(line or b"").decode("utf-8", "replace").replace("UNK", "") for line in sample]
    num_spoken = sum(bool(_SPOKEN_FORM.search(line)) for line in lines)
    return num_spoken <= MAX_SPOKEN_SHARE * len(lines)


FORMAT = CorpusFormat(
    name="gigaword",
    title="train.article.txt beside train.title.txt",
    blocks=parallel.blocks,
    records=parallel.records,
)
