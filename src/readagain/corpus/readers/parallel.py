"""Parallel text files: line n of one is the headline of line n of the other."""

from collections.abc import Iterator
from itertools import chain

from readagain.corpus.pair import Example, InvalidRecord
from readagain.corpus.readers.lines import TOO_LONG, line_blocks, undecodable
from readagain.corpus.readers.source import Block, CorpusFormat, CorpusInput
from readagain.errors import DataError


def blocks(source: CorpusInput) -> Iterator[Block]:
    """Cut all files together; the payload holds a list of lines for each file.

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
            lines = [line for _, line in zip(block.payload, other, strict=False)]
            if len(lines) < len(block.payload):
                number = block.first + len(lines)
                raise DataError(
                    f"{path}: ends before line {number:,}, where {texts.name} goes on; "
                    "expected one line for each text"
                )
            columns.append(lines)
        yield Block(first=block.first, payload=columns, position=block.position)
    for path, other in zip(headlines, others, strict=True):
        if any(line != b"" for line in other):  # empty lines at the end are no harm
            raise DataError(
                f"{path}: goes on after the end of {texts.name}; expected one line for each text"
            )


def records(source: CorpusInput, block: Block) -> Iterator[Example | InvalidRecord]:
    """Put the lines of each text together; with several headline files, all are references."""
    for number, lines in enumerate(zip(*block.payload, strict=True), start=block.first):
        decoded: list[str] = []
        for path, line in zip(source.paths, lines, strict=True):
            if line is None:
                yield InvalidRecord(f"{path}:{number}", TOO_LONG)
                break
            try:
                decoded.append(line.decode(source.encoding))
            except UnicodeDecodeError as error:
                yield InvalidRecord(f"{path}:{number}", undecodable(error))
                break
        else:
            text, *headlines = decoded
            references = tuple(headlines) if len(headlines) > 1 else ()
            yield Example(text, headlines[0], references)


FORMAT = CorpusFormat(
    name="parallel",
    title="two text files, line by line (the second with --headlines)",
    blocks=blocks,
    records=records,
)
