"""The metadata snapshot of arXiv: JSONL with an abstract and a title."""

from collections.abc import Iterator

from readagain.corpus.pair import Example, InvalidRecord
from readagain.corpus.readers.columns import pick_pair
from readagain.corpus.readers.jsonl import blocks, objects
from readagain.corpus.readers.source import Block, Columns, CorpusFormat, CorpusInput

COLUMNS = Columns(text="abstract", headline="title")
MARKS = frozenset({"abstract", "title", "categories"})
"""Keys that tell an arXiv record from any other with an abstract."""


def records(source: CorpusInput, block: Block) -> Iterator[Example | InvalidRecord]:
    """Parse each line, and undo the line breaks that arXiv leaves in titles and abstracts."""
    for number, record in objects(source, block):
        pair = (
            record
            if isinstance(record, InvalidRecord)
            else pick_pair(record, COLUMNS, source.path, number)
        )
        if isinstance(pair, InvalidRecord):
            yield pair
        else:
            yield Example(" ".join(pair.text.split()), " ".join(pair.headline.split()))


FORMAT = CorpusFormat(
    name="arxiv", title="arXiv metadata: abstracts and titles", blocks=blocks, records=records
)
