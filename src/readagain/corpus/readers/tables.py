"""Examples from formats with named columns."""

from collections.abc import Callable, Iterator
from typing import Any

from readagain.corpus.inputs import Columns, CorpusFormat, CorpusInput, Example
from readagain.formats import delimited, feed, jsonl, parquet
from readagain.formats.columns import get_text
from readagain.formats.records import Block, InvalidRecord, TableFormat


def table_format(
    name: str,
    title: str,
    table: TableFormat,
    *,
    columns: Columns | None = None,
    clean: Callable[[Example, dict[str, Any]], Example] | None = None,
) -> CorpusFormat:
    """Return the corpus format of a table.

    Args:
        name: name of the format.
        title: one-line description.
        table: the module that reads the records.
        columns: fixed columns, for a format where they cannot be chosen.
        clean: function of an example and the fields of its record that returns a cleaned example.
    """

    def columns_of(source: CorpusInput) -> Columns:
        names = columns or source.columns
        assert names is not None
        return names

    def read_blocks(source: CorpusInput) -> Iterator[Block]:
        names = (columns_of(source).text, columns_of(source).headline)
        return table.read_blocks(source.path, source.encoding, columns=names)

    def parse_block(source: CorpusInput, block: Block) -> Iterator[Example | InvalidRecord]:
        names = columns_of(source)
        for record in table.parse_block(block, source.path, source.encoding):
            if isinstance(record, InvalidRecord):
                yield record
                continue
            where = f"{source.path}:{record.number}"
            example = pick_example(record.fields, names, where)
            if clean is not None and isinstance(example, Example):
                example = clean(example, record.fields)
            yield example

    return CorpusFormat(
        name=name,
        title=title,
        read_blocks=read_blocks,
        parse_block=parse_block,
        column_names=None if columns else table.column_names,
    )


def pick_example(fields: dict[str, Any], columns: Columns, where: str) -> Example | InvalidRecord:
    """Return the text and headline of a record, which may be empty."""
    text = get_text(fields, columns.text, where=where)
    if isinstance(text, InvalidRecord):
        return text
    headline = get_text(fields, columns.headline, where=where)
    return headline if isinstance(headline, InvalidRecord) else Example(text, headline)


def _join_lines(example: Example, fields: dict[str, Any]) -> Example:
    """Remove the line breaks that arXiv has in titles and abstracts."""
    return Example(" ".join(example.text.split()), " ".join(example.headline.split()))


JSONL = table_format("jsonl", "one JSON object per line", jsonl)
CSV = table_format("csv", "CSV or TSV with a header line", delimited)
PARQUET = table_format("parquet", "Parquet tables", parquet)
FEED = table_format(
    "feed",
    "RSS and Atom feeds",
    feed,
    columns=Columns(text=feed.TEXT, headline=feed.HEADLINE),
)
ARXIV = table_format(
    "arxiv",
    "arXiv metadata: abstracts and titles",
    jsonl,
    columns=Columns(text="abstract", headline="title"),
    clean=_join_lines,
)
ARXIV_KEYS = frozenset({"abstract", "title", "categories"})
"""Keys that distinguish an arXiv record from others with an abstract."""
