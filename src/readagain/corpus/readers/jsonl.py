"""JSONL: one JSON object a line."""

import json
from collections.abc import Iterator
from pathlib import Path

from readagain.corpus.compression import open_bytes
from readagain.corpus.pair import Example, InvalidRecord
from readagain.corpus.readers.columns import pick_pair
from readagain.corpus.readers.lines import TOO_LONG, line_blocks, numbered_lines, undecodable
from readagain.corpus.readers.source import Block, CorpusFormat, CorpusInput
from readagain.errors import DataError, type_in_words


def blocks(source: CorpusInput) -> Iterator[Block]:
    """Cut the file into blocks of lines."""
    return line_blocks(source.path)


def records(source: CorpusInput, block: Block) -> Iterator[Example | InvalidRecord]:
    """Parse each line of a block."""
    assert source.columns is not None
    columns = source.columns
    for number, record in objects(source, block):
        if isinstance(record, InvalidRecord):
            yield record
        else:
            yield pick_pair(record, columns, source.path, number)


def objects(
    source: CorpusInput, block: Block
) -> Iterator[tuple[int, dict[str, object] | InvalidRecord]]:
    """Yield the number and the JSON object of each line that is not blank."""
    for number, line in enumerate(block.payload, start=block.first):
        if line is None or (line and not line.isspace()):
            yield number, _parse(line, source.encoding, source.path, number)


def _parse(
    line: bytes | None, encoding: str, path: Path, number: int
) -> dict[str, object] | InvalidRecord:
    if line is None:
        return InvalidRecord(f"{path}:{number}", TOO_LONG)
    try:
        record = json.loads(line.decode(encoding))
    except UnicodeDecodeError as error:
        return InvalidRecord(f"{path}:{number}", undecodable(error))
    except json.JSONDecodeError as error:
        reason = f"not JSON: {error.msg} at column {error.colno}; expected one object a line"
        return InvalidRecord(f"{path}:{number}", reason)
    except ValueError:  # json has no word of its own for this one
        return InvalidRecord(f"{path}:{number}", "a number with more digits than any number has")
    except RecursionError:
        return InvalidRecord(f"{path}:{number}", "JSON nested too deeply to be a record")
    if not isinstance(record, dict):
        return InvalidRecord(
            f"{path}:{number}", f"{type_in_words(record)}; expected a JSON object with a text"
        )
    return record


def first_keys(path: Path, encoding: str) -> list[str]:
    """Return the keys of the first record that can be read.

    Raises:
        DataError: when no line holds a record, with what was wrong with the first.
    """
    problem: InvalidRecord | None = None
    with open_bytes(path) as (stream, _):
        for number, line in enumerate(numbered_lines(stream), start=1):
            if line is not None and (not line or line.isspace()):
                continue
            record = _parse(line, encoding, path, number)
            if not isinstance(record, InvalidRecord):
                return list(record)
            problem = problem or record
    if problem:
        raise DataError(f"{problem.where}: {problem.reason}; no other line can be used either")
    raise DataError(f"{path}: only blank lines; expected one JSON object a line")


FORMAT = CorpusFormat(
    name="jsonl",
    title="one JSON object a line",
    blocks=blocks,
    records=records,
    column_names=first_keys,
)
