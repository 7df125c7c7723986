"""Table of all corpus formats, and detection of the format of a file."""

import json
import re
from pathlib import Path

from readagain.corpus.inputs import CorpusFormat
from readagain.corpus.readers import agiga, duc_nist, feed, huggingface, newsapi, parallel, tables
from readagain.errors import MAX_QUOTE_LENGTH, DataError
from readagain.formats.files import open_bytes, plain_name
from readagain.formats.lines import BOM, reject_utf16
from readagain.formats.texts import text_format

FORMATS: dict[str, CorpusFormat] = {
    "jsonl": tables.JSONL,
    "csv": tables.CSV,
    "parquet": tables.PARQUET,
    "parallel": parallel.FORMAT,
    "gigaword": parallel.FORMAT,
    "duc": parallel.FORMAT,
    "agiga": agiga.FORMAT,
    "duc-nist": duc_nist.FORMAT,
    "arxiv": tables.ARXIV,
    "newsapi": newsapi.FORMAT,
    "feed": feed.FORMAT,
    "huggingface": huggingface.FORMAT,
}
"""Formats by name; docs/data.md describes them."""

HEAD_BYTES = 1 << 16
"""Number of bytes at the start of a file that are read to detect its format."""
MARKUP_SUFFIXES = (".xml", ".rss", ".atom")
_ROOT_TAG = re.compile(rb"<([A-Za-z_][^\s<>/]*)")


def detect_format(path: Path) -> str:
    """Return the name of the format of a file, detected from its name and content.

    `path` may be a folder, which must contain DUC as NIST distributes it.

    Raises:
        DataError: when the file is empty or of an unknown format.
    """
    if path.is_dir():
        return "duc-nist"
    name, named_format = plain_name(path), text_format(path)
    with open_bytes(path) as (stream, _):
        head = stream.read(HEAD_BYTES)
    if not head:
        raise DataError(f"{path}: the file is empty; expected texts with headlines")
    reject_utf16(path, head)
    if head.startswith(b"PAR1"):
        return "parquet"
    if named_format == "parquet":
        raise DataError(f"{path}: not a Parquet file, which starts with PAR1; download it again")
    if parallel.find_references(path):
        return "duc"
    if parallel.find_headlines(path):
        return "gigaword"
    if named_format == "csv":
        return "csv"
    start = head.removeprefix(BOM).lstrip()
    if start.startswith(b"<") or name.endswith(MARKUP_SUFFIXES):
        return _detect_markup(path, start)
    if start.startswith((b"{", b"[")) or named_format == "jsonl":
        return _detect_json(name, start)
    if parallel.is_headlines_file(path):
        raise DataError(f"{path}: a file of headlines; give the file of texts beside it")
    if name.endswith(".txt"):
        raise DataError(
            f"{path}: a text file without a headline file beside it; set the file of headlines"
        )
    raise DataError(f"{path}: unknown format; set the format to one of {', '.join(FORMATS)}")


def _detect_markup(path: Path, start: bytes) -> str:
    """Return the format of a file with markup: a feed or Annotated Gigaword."""
    if any(tag in start for tag in (b"<rss", b"<feed", b"<rdf:RDF")):
        return "feed"
    if b"<DOC id=" in start:
        return "agiga"
    root = _ROOT_TAG.search(start)
    if root is None:
        return "feed"  # the reader of feeds describes what is wrong
    tag = root[1][:MAX_QUOTE_LENGTH].decode("utf-8", "replace")
    raise DataError(
        f"{path}: starts with <{tag}>, so it is neither a feed (RSS or Atom) nor Annotated "
        "Gigaword; convert it to JSONL"
    )


def _detect_json(name: str, start: bytes) -> str:
    """Return the format of a JSON file: one document ("newsapi") or JSONL ("arxiv" or "jsonl")."""
    is_named_jsonl = name.endswith((".jsonl", ".ndjson"))
    try:
        first_line = json.loads(start.partition(b"\n")[0])
    except (ValueError, RecursionError):
        first_line = None
    if not isinstance(first_line, dict):
        return "jsonl" if is_named_jsonl else "newsapi"
    has_articles = any(isinstance(first_line.get(key), list) for key in newsapi.LIST_KEYS)
    if has_articles and not is_named_jsonl:
        return "newsapi"
    return "arxiv" if first_line.keys() >= tables.ARXIV_KEYS else "jsonl"
