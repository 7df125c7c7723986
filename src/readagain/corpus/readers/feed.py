"""RSS and Atom feeds, parsed with the XML attacks turned off."""

import html
import re
from collections.abc import Iterator
from typing import BinaryIO
from xml.etree.ElementTree import Element, ParseError

from readagain.corpus.compression import open_bytes, read_document
from readagain.corpus.pair import Example, InvalidRecord
from readagain.corpus.readers.source import BLOCK_RECORDS, Block, CorpusFormat, CorpusInput
from readagain.errors import DataError

ITEMS = frozenset({"item", "entry"})
TEXTS = ("description", "summary", "encoded", "content")
_TAG = re.compile(r"<[^<>]*>")


def blocks(source: CorpusInput) -> Iterator[Block]:
    """Parse the feed and cut its items."""
    with open_bytes(source.path) as (stream, raw):
        items = [_item(element) for element in _outermost_items(_parse(stream, source))]
        for start in range(0, len(items), BLOCK_RECORDS):
            some = items[start : start + BLOCK_RECORDS]
            position = raw.tell() * (start + len(some)) // len(items)
            yield Block(first=start + 1, payload=some, position=position)


def records(source: CorpusInput, block: Block) -> Iterator[Example | InvalidRecord]:
    """Yield the items, which are pairs already."""
    for text, headline in block.payload:
        yield Example(text, headline)


def _parse(stream: BinaryIO, source: CorpusInput) -> Element:
    from defusedxml import DefusedXmlException
    from defusedxml.ElementTree import fromstring

    content = read_document(stream, source.path)
    try:
        root: Element = fromstring(content)
    except DefusedXmlException as error:
        raise DataError(
            f"{source.path}: declares XML entities or outside references, as attacks do and "
            "feeds need not; refused, remove the declaration if you trust the file"
        ) from error
    except (LookupError, ValueError) as error:  # of the encoding that the feed says it is in
        raise DataError(
            f"{source.path}: cannot be decoded ({str(error)[:80]}); convert the feed to UTF-8"
        ) from error
    except ParseError as error:
        line, column = error.position
        raise DataError(
            f"{source.path}:{line}: not well-formed XML at column {column + 1}; "
            "download the feed again"
        ) from error
    return root


def _local_name(element: Element) -> str:
    return str(element.tag).rpartition("}")[2]


def _is_item(element: Element) -> bool:
    return _local_name(element) in ITEMS


def _outermost_items(root: Element) -> Iterator[Element]:
    """Yield the items in order; one inside another is its text, so nothing is read twice."""
    waiting = [root]
    while waiting:
        element = waiting.pop()
        if _is_item(element):
            yield element
        else:
            waiting.extend(reversed(element))


def _item(element: Element) -> tuple[str, str]:
    """Return text and headline of an item; the longest-known text field that is not empty."""
    fields: dict[str, str] = {}
    for child in element:
        fields.setdefault(_local_name(child), _plain("".join(child.itertext())))
    text = next((fields[name] for name in TEXTS if fields.get(name)), "")
    return text, fields.get("title", "")


def _plain(markup: str) -> str:
    """Take the text out of escaped HTML."""
    return " ".join(html.unescape(_TAG.sub(" ", html.unescape(markup))).split())


FORMAT = CorpusFormat(name="feed", title="RSS and Atom feeds", blocks=blocks, records=records)
