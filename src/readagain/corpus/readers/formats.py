"""The table of formats, and how a file's format is recognised."""

import json
from pathlib import Path

from readagain.corpus.compression import open_bytes, plain_name
from readagain.corpus.readers import (
    arxiv,
    delimited,
    duc,
    feed,
    gigaword,
    huggingface,
    jsonl,
    newsapi,
    parallel,
    parquet,
    story,
)
from readagain.corpus.readers.lines import refuse_wide_encoding
from readagain.corpus.readers.source import CorpusFormat
from readagain.errors import ConfigError, DataError

FORMATS: dict[str, CorpusFormat] = {
    reader.FORMAT.name: reader.FORMAT
    for reader in (
        jsonl,
        delimited,
        parquet,
        parallel,
        gigaword,
        duc,
        story,
        arxiv,
        newsapi,
        feed,
        huggingface,
    )
}

HEAD_BYTES = 1 << 16


def format_named(name: str) -> CorpusFormat:
    """Look a format up by the name a person typed.

    Raises:
        ConfigError: listing the names there are.
    """
    if name not in FORMATS:
        raise ConfigError(f"no format '{name}'; expected one of {', '.join(FORMATS)}")
    return FORMATS[name]


def recognise(path: Path) -> str:
    """Name the format of a file, from its name where that says enough, else from its content.

    A folder is one input only when it is full of stories.

    Raises:
        DataError: when the file is empty, or like nothing we know.
    """
    name = plain_name(path)
    if name.endswith(".story") or path.is_dir():
        return "story"
    with open_bytes(path) as (stream, _):
        head = stream.read(HEAD_BYTES)
    if not head:
        raise DataError(f"{path}: the file is empty; expected (text, headline) pairs")
    refuse_wide_encoding(path, head)
    if head.startswith(b"PAR1"):
        return "parquet"
    if name.endswith(".parquet"):
        raise DataError(
            f"{path}: named .parquet but does not begin with PAR1; is it a download page?"
        )
    if duc.references_beside(path):
        return "duc"
    if gigaword.headlines_beside(path):
        return "gigaword"
    if name.endswith((".csv", ".tsv", ".tab")):
        return "csv"
    start = head.removeprefix(b"\xef\xbb\xbf").lstrip()
    if start.startswith(b"<") and any(mark in head for mark in (b"<rss", b"<feed", b"<rdf:RDF")):
        return "feed"
    if name.endswith((".xml", ".rss", ".atom")):
        return "feed"
    if start.startswith((b"{", b"[")) or name.endswith((".jsonl", ".ndjson", ".json")):
        return _kind_of_json(name, start)
    if gigaword.is_headlines_file(path):
        raise DataError(f"{path}: a file of headlines; name the file of texts beside it instead")
    if name.endswith(".txt"):
        raise DataError(
            f"{path}: a text file without a file of headlines beside it; "
            "name that file with --headlines"
        )
    raise DataError(
        f"{path}: its format shows neither in its name nor in its content; "
        f"name it with --format ({', '.join(FORMATS)})"
    )


def _kind_of_json(name: str, start: bytes) -> str:
    """Tell one object a line from one document, and arXiv's records from others."""
    try:
        first = json.loads(start.partition(b"\n")[0])
    except (ValueError, RecursionError):
        return "jsonl" if name.endswith((".jsonl", ".ndjson")) else "newsapi"
    is_lines = isinstance(first, dict) and not any(
        isinstance(first.get(key), list) for key in newsapi.LIST_KEYS
    )
    if not is_lines and not name.endswith((".jsonl", ".ndjson")):
        return "newsapi"
    return "arxiv" if isinstance(first, dict) and first.keys() >= arxiv.MARKS else "jsonl"
