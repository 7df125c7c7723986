"""Reader of RSS and Atom feeds; it rejects XML entities and external references."""

import html
import re
from collections.abc import Iterator
from pathlib import Path
from xml.etree.ElementTree import Element, ParseError

from readagain.corpus.inputs import CorpusFormat, CorpusInput
from readagain.corpus.readers.tables import HEADLINE, TEXT, parse_rows
from readagain.errors import DataError
from readagain.formats.files import open_bytes, read_whole
from readagain.formats.records import Block, split_into_blocks

ITEM_TAGS = frozenset({"item", "entry"})
TEXT_TAGS = ("description", "summary", "encoded", "content")
MAX_TAGS = 5_000_000
"""Maximum number of tags of a feed; as many elements take 0.5 GB."""
_HTML_TAG = re.compile(r"<[^<>]*>")


def _read_blocks(source: CorpusInput) -> Iterator[Block]:
    """Parse a feed and split its items into blocks."""
    with open_bytes(source.path) as (stream, raw):
        root = _parse(read_whole(stream, source.path), source.path)
        items = [_parse_item(element) for element in _outermost_items(root)]
        yield from split_into_blocks(items, raw.tell())


def _parse(content: bytes, path: Path) -> Element:
    """Return the root element; `path` is used in messages."""
    from defusedxml import DefusedXmlException
    from defusedxml.ElementTree import fromstring

    if content.count(b"<") > MAX_TAGS:
        raise DataError(
            f"{path}: more than {MAX_TAGS:,} tags; convert the feed to JSONL, one record per line"
        )
    try:
        root: Element = fromstring(content, forbid_dtd=True)
    except DefusedXmlException as error:
        raise DataError(
            f"{path}: declares a document type, XML entities or external references, which attacks "
            "use and feeds do not need; remove the declaration if you trust the file"
        ) from error
    except (LookupError, ValueError) as error:  # the feed declares an unknown encoding
        raise DataError(
            f"{path}: cannot be decoded ({str(error)[:80]}); convert the feed to UTF-8"
        ) from error
    except ParseError as error:
        line, column = error.position
        raise DataError(
            f"{path}:{line}: not well-formed XML at column {column + 1}; download the feed again"
        ) from error
    return root


def _local_name(element: Element) -> str:
    """Return the name of an element without its namespace."""
    return str(element.tag).rpartition("}")[2]


def _outermost_items(root: Element) -> Iterator[Element]:
    """Yield the items in order, except those inside of another item, which are part of its text."""
    stack = [root]
    while stack:
        element = stack.pop()
        if _local_name(element) in ITEM_TAGS:
            yield element
        else:
            stack.extend(reversed(element))


def _parse_item(element: Element) -> dict[str, str]:
    """Return the text and the headline of an item."""
    fields: dict[str, str] = {}
    for child in element:
        fields.setdefault(_local_name(child), _strip_markup("".join(child.itertext())))
    text = next((fields[name] for name in TEXT_TAGS if fields.get(name)), "")
    return {TEXT: text, HEADLINE: fields.get("title", "")}


def _strip_markup(markup: str) -> str:
    """Return the text of escaped HTML."""
    return " ".join(html.unescape(_HTML_TAG.sub(" ", html.unescape(markup))).split())


FORMAT = CorpusFormat(read_blocks=_read_blocks, parse_block=parse_rows)
