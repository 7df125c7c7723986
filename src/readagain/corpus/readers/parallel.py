"""Line-aligned text files: parallel files, and the layouts of Gigaword and DUC."""

import re
from collections.abc import Iterator
from itertools import chain, islice
from pathlib import Path

from readagain.corpus.inputs import CorpusFormat, CorpusInput, Example
from readagain.errors import DataError
from readagain.formats.files import open_bytes
from readagain.formats.lines import decode_line, line_blocks, read_lines
from readagain.formats.records import Block, InvalidRecord

# Parts of file names for texts and headlines in the public copies of Gigaword.
SIDE_NAMES = (
    ("article", "title"),
    ("article", "headline"),
    ("text", "headline"),
    ("document", "summary"),
    ("source", "target"),
    ("src", "tgt"),
)
DUC_TEXTS = "input.txt"
NUM_SAMPLE_LINES = 200
"""Number of lines in which `is_tokenized` searches."""
MAX_UNTOKENIZED_SHARE = 0.05
"""Maximum share of lines that look untokenized in a tokenized file, such as remains of HTML."""
_UNTOKENIZED = re.compile(r"[A-Z]|[a-z][,;!?)]|[(\"“”]")


def _read_blocks(source: CorpusInput) -> Iterator[Block]:
    """Split line-aligned files into blocks; the payload has a list of lines for each file.

    Raises:
        DataError: when the files have different numbers of lines.
    """
    texts, *headlines = source.paths
    others = [
        chain.from_iterable(block.payload for block in line_blocks(path)) for path in headlines
    ]
    for block in line_blocks(texts):
        columns = [block.payload]
        for path, other in zip(headlines, others, strict=True):
            lines = list(islice(other, len(block.payload)))
            if len(lines) < len(block.payload):
                number = block.first + len(lines)
                raise DataError(
                    f"{path}: ends before line {number:,} of {texts.name}; "
                    "expected one line for each text"
                )
            columns.append(lines)
        yield Block(first=block.first, payload=columns, position=block.position)
    for path, other in zip(headlines, others, strict=True):
        if any(line != b"" for line in other):  # empty lines at the end are allowed
            raise DataError(
                f"{path}: has more lines than {texts.name}; expected one line for each text"
            )


def _parse_block(source: CorpusInput, block: Block) -> Iterator[Example | InvalidRecord]:
    """Combine the lines of each text; several headline files are references."""
    for number, lines in enumerate(zip(*block.payload, strict=True), start=block.first):
        decoded: list[str] = []
        for path, line in zip(source.paths, lines, strict=True):
            text = decode_line(line, source.encoding, where=f"{path}:{number}")
            if isinstance(text, InvalidRecord):
                yield text
                break
            decoded.append(text)
        else:
            text, *headlines = decoded
            references = tuple(headlines) if len(headlines) > 1 else ()
            yield Example(text, headlines[0], references)


def find_references(texts: Path) -> list[Path]:
    """Return the reference files of a DUC `input.txt` if there are several."""
    if texts.name != DUC_TEXTS:
        return []
    references = sorted(texts.parent.glob("task1_ref[0-9].txt"))
    return references if len(references) > 1 else []


def find_headlines(texts: Path) -> Path | None:
    """Return the headline file that the name of a file of texts implies, if it exists."""
    for side, other in SIDE_NAMES:
        partner = _swap_side(texts, side, other)
        if partner is not None and partner.exists():
            return partner
    if texts.name == DUC_TEXTS and (reference := texts.with_name("task1_ref0.txt")).exists():
        return reference
    return None


def is_headlines_file(path: Path) -> bool:
    """Return whether a file has the headlines of a file of texts in the same folder."""
    for side, other in SIDE_NAMES:
        partner = _swap_side(path, other, side)
        if partner is not None and partner.exists():
            return True
    return path.name.startswith("task1_ref") and path.with_name(DUC_TEXTS).exists()


def _swap_side(path: Path, side: str, other: str) -> Path | None:
    parts = re.split(r"([._-])", path.name)
    if side not in parts:
        return None
    parts[parts.index(side)] = other
    return path.with_name("".join(parts))


def is_tokenized(path: Path) -> bool:
    """Return whether a file is tokenized as in Gigaword: lower case, spaces around punctuation."""
    with open_bytes(path) as (stream, _):
        sample = list(islice(read_lines(stream), NUM_SAMPLE_LINES))
    lines = [(line or b"").decode("utf-8", "replace").replace("UNK", "") for line in sample]
    num_untokenized = sum(bool(_UNTOKENIZED.search(line)) for line in lines)
    return num_untokenized <= MAX_UNTOKENIZED_SHARE * len(lines)


FORMAT = CorpusFormat(read_blocks=_read_blocks, parse_block=_parse_block)
