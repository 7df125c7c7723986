"""CNN/DailyMail .story files: the article, then one @highlight after another."""

from collections.abc import Iterator
from pathlib import Path

from readagain.corpus.compression import open_bytes
from readagain.corpus.pair import Example, InvalidRecord
from readagain.corpus.readers.lines import undecodable
from readagain.corpus.readers.source import MAX_RECORD_BYTES, Block, CorpusFormat, CorpusInput
from readagain.errors import DataError

BLOCK_FILES = 512
HIGHLIGHT = "@highlight"


def blocks(source: CorpusInput) -> Iterator[Block]:
    """Cut a folder (or take one file) into blocks of file names."""
    files = story_files(source.path)
    position = 0
    for start in range(0, len(files), BLOCK_FILES):
        some = files[start : start + BLOCK_FILES]
        position += sum(path.stat().st_size for path in some)
        yield Block(first=start + 1, payload=some, position=position)


def story_files(path: Path) -> list[Path]:
    """List the stories of a folder in order of their names; a file is its own list."""
    return sorted(path.glob("*.story")) if path.is_dir() else [path]


def records(source: CorpusInput, block: Block) -> Iterator[Example | InvalidRecord]:
    """Read each story; its highlights, one sentence each, are the summary."""
    for path in block.payload:
        with open_bytes(path) as (stream, _):
            content = stream.read(MAX_RECORD_BYTES + 1)
        if len(content) > MAX_RECORD_BYTES:
            yield InvalidRecord(
                str(path), f"more than {MAX_RECORD_BYTES:,} bytes; too long for one story"
            )
            continue
        try:
            yield _story(content.decode(source.encoding))
        except UnicodeDecodeError as error:
            yield InvalidRecord(str(path), undecodable(error))
        except DataError as error:
            yield InvalidRecord(str(path), str(error))


def _story(content: str) -> Example:
    article, *highlights = content.split(HIGHLIGHT)
    if not highlights:
        raise DataError(f"no line '{HIGHLIGHT}'; expected the article and then its highlights")
    sentences = [" ".join(highlight.split()) for highlight in highlights]
    closed = [s if s.endswith((".", "!", "?")) else f"{s}." for s in sentences if s]
    return Example(" ".join(article.split()), " ".join(closed))


FORMAT = CorpusFormat(
    name="story", title="CNN/DailyMail .story files", blocks=blocks, records=records
)
