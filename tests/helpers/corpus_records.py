"""Reading of corpus inputs into lists."""

from readagain.corpus.inputs import Example
from readagain.corpus.readers.find import CorpusReadOptions, find_inputs
from readagain.corpus.readers.formats import FORMATS
from readagain.formats.records import InvalidRecord


def read_records(*arguments: object, **options: object) -> list[Example | InvalidRecord]:
    """Read inputs as `prepare` does."""
    sources = find_inputs([str(argument) for argument in arguments], CorpusReadOptions(**options))
    return [
        record
        for source in sources
        for block in FORMATS[source.format].read_blocks(source)
        for record in FORMATS[source.format].parse_block(source, block)
    ]
