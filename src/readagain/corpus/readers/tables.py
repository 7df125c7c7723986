"""Readers of formats with named columns."""

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

from readagain.corpus.inputs import Columns, CorpusFormat, CorpusInput, Example
from readagain.formats import delimited, jsonl, parquet
from readagain.formats.columns import get_text
from readagain.formats.lines import line_blocks
from readagain.formats.records import Block, InvalidRecord, TableFormat

TEXT, HEADLINE = "text", "headline"
"""Column names of formats in which users cannot choose the columns, such as feeds."""


def corpus_format(reader: TableFormat) -> CorpusFormat:
    """Return the corpus format of tables that `reader`, a module of `formats`, reads."""

    def read_blocks(source: CorpusInput) -> Iterator[Block]:
        assert source.columns is not None
        columns = (source.columns.text, source.columns.headline)
        return reader.read_blocks(source.path, source.encoding, columns=columns)

    def parse_block(source: CorpusInput, block: Block) -> Iterator[Example | InvalidRecord]:
        for record in reader.parse_block(block, source.path, source.encoding):
            if isinstance(record, InvalidRecord):
                yield record
            else:
                yield pick_example(record.fields, source, f"{source.path}:{record.number}")

    return CorpusFormat(
        read_blocks=read_blocks, parse_block=parse_block, column_names=reader.column_names
    )


def parse_rows(source: CorpusInput, block: Block) -> Iterator[Example | InvalidRecord]:
    """Yield the examples of a block whose payload is a list of dictionaries."""
    for number, fields in enumerate(block.payload, start=block.first):
        yield pick_example(fields, source, f"{source.path}:{number}")


def pick_example(
    fields: Mapping[str, Any], source: CorpusInput, where: str
) -> Example | InvalidRecord:
    """Return the example in the fields of a record; its text or headline may be empty."""
    columns = source.columns or Columns(text=TEXT, headline=HEADLINE)
    is_json = source.format in ("jsonl", "arxiv")
    text = get_text(fields, columns.text, where=where, is_json=is_json)
    if isinstance(text, InvalidRecord):
        return text
    headline = get_text(fields, columns.headline, where=where, is_json=is_json)
    return headline if isinstance(headline, InvalidRecord) else Example(text, headline)


JSONL = corpus_format(jsonl)
CSV = corpus_format(delimited)
PARQUET = corpus_format(parquet)

_ARXIV_COLUMNS = Columns(text="abstract", headline="title")
ARXIV_KEYS = frozenset({"abstract", "title", "categories"})
"""Keys of a JSON object by which an arXiv record is detected."""


def _parse_arxiv(source: CorpusInput, block: Block) -> Iterator[Example | InvalidRecord]:
    """Yield abstracts and titles as examples, without line breaks."""
    for example in JSONL.parse_block(replace(source, columns=_ARXIV_COLUMNS), block):
        if isinstance(example, Example):
            example = Example(" ".join(example.text.split()), " ".join(example.headline.split()))
        yield example


ARXIV = CorpusFormat(read_blocks=lambda source: line_blocks(source.path), parse_block=_parse_arxiv)
