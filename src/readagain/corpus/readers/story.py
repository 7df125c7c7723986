"""CNN/DailyMail .story files: the article, then its @highlight lines."""

from collections.abc import Iterator
from pathlib import Path

from readagain.corpus.inputs import CorpusFormat, CorpusInput, Example
from readagain.errors import DataError
from readagain.formats.files import open_bytes
from readagain.formats.lines import describe_decode_error
from readagain.formats.records import MAX_RECORD_BYTES, Block, InvalidRecord

BLOCK_FILES = 512
HIGHLIGHT = "@highlight"


def _read_blocks(source: CorpusInput) -> Iterator[Block]:
    """Split the files of a folder into blocks; a single file is one block."""
    files = story_files(source.path)
    position = 0
    for start in range(0, len(files), BLOCK_FILES):
        payload = files[start : start + BLOCK_FILES]
        position += sum(path.stat().st_size for path in payload)
        yield Block(first=start + 1, payload=payload, position=position)


def is_story_folder(path: Path) -> bool:
    """Return whether a folder contains story files."""
    return next(path.glob("*.story"), None) is not None


def story_files(path: Path) -> list[Path]:
    """Return the story files of a folder, sorted by name, or the file itself."""
    return sorted(path.glob("*.story")) if path.is_dir() else [path]


def _parse_block(source: CorpusInput, block: Block) -> Iterator[Example | InvalidRecord]:
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
            yield _parse_story(content.decode(source.encoding))
        except UnicodeDecodeError as error:
            yield InvalidRecord(str(path), describe_decode_error(error))
        except DataError as error:
            yield InvalidRecord(str(path), str(error))


def _parse_story(content: str) -> Example:
    article, *highlights = content.split(HIGHLIGHT)
    if not highlights:
        raise DataError(f"no line '{HIGHLIGHT}'; expected the article and then its highlights")
    sentences = [" ".join(highlight.split()) for highlight in highlights]
    headline = " ".join(
        sentence if sentence.endswith((".", "!", "?")) else f"{sentence}."
        for sentence in sentences
        if sentence
    )
    return Example(" ".join(article.split()), headline)


FORMAT = CorpusFormat(
    name="story",
    title="CNN/DailyMail .story files",
    read_blocks=_read_blocks,
    parse_block=_parse_block,
)
