"""Reader of line-aligned files of texts and headlines, as in public copies of Gigaword and DUC."""

import re
from collections.abc import Iterator
from itertools import chain, islice
from pathlib import Path

from readagain.corpus.inputs import CorpusFormat, CorpusInput, Example
from readagain.errors import DataError
from readagain.formats.files import open_bytes
from readagain.formats.lines import decode_line, line_blocks, read_lines
from readagain.formats.records import Block, InvalidRecord

# Words in the names of the files of texts and of headlines, in public copies of Gigaword.
FILE_WORDS = (
    ("article", "title"),
    ("article", "headline"),
    ("text", "headline"),
    ("document", "summary"),
    ("source", "target"),
    ("src", "tgt"),
)
DUC_TEXTS = "input.txt"
NUM_SAMPLE_LINES = 200
"""Number of lines that `is_tokenized` checks."""
MAX_UNTOKENIZED_SHARE = 0.05
"""Maximum share of lines in a tokenized file that do not look tokenized, such as HTML."""
_UNTOKENIZED = re.compile(r"[A-Z]|[a-z][,;!?)]|[(\"“”]")


def _read_blocks(source: CorpusInput) -> Iterator[Block]:
    """Split line-aligned files into blocks; the payload of a block has a list of lines per file."""
    texts, *headlines = source.paths
    headline_streams = {
        path: chain.from_iterable(block.payload for block in line_blocks(path))
        for path in headlines
    }
    for block in line_blocks(texts):
        lines_of_files = [block.payload]
        for path, stream in headline_streams.items():
            lines = list(islice(stream, len(block.payload)))
            if len(lines) < len(block.payload):
                number = block.first + len(lines)
                raise DataError(
                    f"{path}: ends before line {number:,} of {texts.name}; "
                    "expected one line for each text"
                )
            lines_of_files.append(lines)
        yield Block(first=block.first, payload=lines_of_files, position=block.position)
    for path, stream in headline_streams.items():
        if any(line != b"" for line in stream):  # empty lines at the end are allowed
            raise DataError(
                f"{path}: has more lines than {texts.name}; expected one line for each text"
            )


def _parse_block(source: CorpusInput, block: Block) -> Iterator[Example | InvalidRecord]:
    """Yield an example for each line number; with several headline files, it has references."""
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
    """Return the reference files beside a DUC `input.txt`, if there are at least two."""
    if texts.name != DUC_TEXTS:
        return []
    references = sorted(texts.parent.glob("task1_ref[0-9].txt"))
    return references if len(references) > 1 else []


def find_headlines(texts: Path) -> Path | None:
    """Return the headline file that the name of a file of texts implies, if it exists."""
    for text_word, headline_word in FILE_WORDS:
        headlines = _replace_word(texts, text_word, headline_word)
        if headlines is not None and headlines.exists():
            return headlines
    if texts.name == DUC_TEXTS and (reference := texts.with_name("task1_ref0.txt")).exists():
        return reference
    return None


def is_headlines_file(path: Path) -> bool:
    """Return whether a file has the headlines for a file of texts in the same folder."""
    for text_word, headline_word in FILE_WORDS:
        texts = _replace_word(path, headline_word, text_word)
        if texts is not None and texts.exists():
            return True
    return path.name.startswith("task1_ref") and path.with_name(DUC_TEXTS).exists()


def _replace_word(path: Path, word: str, new_word: str) -> Path | None:
    """Return the path with another word in its file name, or None if `word` is not in the name."""
    words = re.split(r"([._-])", path.name)
    if word not in words:
        return None
    words[words.index(word)] = new_word
    return path.with_name("".join(words))


def is_tokenized(path: Path) -> bool:
    """Return whether a file is tokenized as in Gigaword: lower case, spaces around punctuation."""
    with open_bytes(path) as (stream, _):
        sample = list(islice(read_lines(stream), NUM_SAMPLE_LINES))
    lines = [(line or b"").decode("utf-8", "replace").replace("UNK", "") for line in sample]
    num_untokenized = sum(bool(_UNTOKENIZED.search(line)) for line in lines)
    return num_untokenized <= MAX_UNTOKENIZED_SHARE * len(lines)


FORMAT = CorpusFormat(read_blocks=_read_blocks, parse_block=_parse_block)
