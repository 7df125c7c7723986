"""Replies of news APIs: one JSON document with a list of articles."""

import json
import re
from collections.abc import Iterator, Sequence
from typing import Any

from readagain.corpus.compression import open_bytes, read_document
from readagain.corpus.pair import Example, InvalidRecord
from readagain.corpus.readers.columns import pick_pair
from readagain.corpus.readers.lines import undecodable
from readagain.corpus.readers.source import BLOCK_RECORDS, Block, Columns, CorpusFormat, CorpusInput
from readagain.errors import DataError, quoted, type_in_words

TEXT_KEYS = ("description", "content", "text", "body")
HEADLINE_KEYS = ("title", "headline")
LIST_KEYS = ("articles", "results", "data", "news")
# Only the mark itself: spaces before it are stripped, since a pattern for them could be made to
# try every way to share a long run of spaces out.
_CUT_MARK = re.compile(r"\[\+\d{1,9} chars\]$")
REMOVED = "[Removed]"


def blocks(source: CorpusInput) -> Iterator[Block]:
    """Parse the document and cut its list of articles."""
    with open_bytes(source.path) as (stream, raw):
        try:
            document = json.loads(read_document(stream, source.path).decode(source.encoding))
        except UnicodeDecodeError as error:
            raise DataError(f"{source.path}: {undecodable(error)}") from error
        except json.JSONDecodeError as error:
            raise DataError(
                f"{source.path}:{error.lineno}: not JSON: {error.msg} at column {error.colno}"
            ) from error
        except ValueError as error:  # json has no word of its own for this one
            raise DataError(
                f"{source.path}: a number with more digits than any number has"
            ) from error
        except RecursionError as error:
            raise DataError(
                f"{source.path}: JSON nested too deeply to be a list of articles"
            ) from error
        articles = _articles(document, source)
        for start in range(0, len(articles), BLOCK_RECORDS):
            some = articles[start : start + BLOCK_RECORDS]
            position = raw.tell() * (start + len(some)) // len(articles)
            yield Block(first=start + 1, payload=some, position=position)


def _articles(document: Any, source: CorpusInput) -> list[Any]:
    if isinstance(document, dict):
        lists = [document[key] for key in LIST_KEYS if isinstance(document.get(key), list)]
        document = lists[0] if lists else document
    if not isinstance(document, list):
        raise DataError(
            f"{source.path}: no list of articles; expected one under "
            f"{', '.join(map(repr, LIST_KEYS))}, or a list alone"
        )
    objects = [article for article in document if isinstance(article, dict)]
    if objects and not any(key in article for article in objects for key in HEADLINE_KEYS):
        raise DataError(
            f"{source.path}: no article has a title; the first has "
            f"{', '.join(map(quoted, list(objects[0])[:8])) or 'nothing'}; write one article a "
            "line (JSONL), whose columns can be named"
        )
    return document


def records(source: CorpusInput, block: Block) -> Iterator[Example | InvalidRecord]:
    """Take the description (else the content) and the title (else the headline) of each article."""
    for number, article in enumerate(block.payload, start=block.first):
        if not isinstance(article, dict):
            yield InvalidRecord(
                f"{source.path}:{number}", f"{type_in_words(article)}; expected an article object"
            )
            continue
        columns = Columns(text=_first(TEXT_KEYS, article), headline=_first(HEADLINE_KEYS, article))
        # APIs leave out what an article lacks; to the filters that is an empty text.
        article = {columns.text: "", columns.headline: "", **article}
        pair = pick_pair(article, columns, source.path, number)
        yield pair if isinstance(pair, InvalidRecord) else _clean(pair, article)


def _first(keys: Sequence[str], article: dict[str, Any]) -> str:
    """Choose the first key that an article has something under."""
    return next((key for key in keys if article.get(key)), keys[0])


def _clean(pair: Example, article: dict[str, Any]) -> Example:
    """Undo what the API adds: the publisher behind the title, the mark of a cut text."""
    publisher = article.get("source")
    name = publisher.get("name") if isinstance(publisher, dict) else publisher
    headline = pair.headline
    if isinstance(name, str) and name:
        headline = headline.removesuffix(f" - {name}")
    text = pair.text
    if mark := _CUT_MARK.search(text):
        text = text[: mark.start()].rstrip().removesuffix("…").rstrip()
    return Example("" if text == REMOVED else text, "" if headline == REMOVED else headline)


FORMAT = CorpusFormat(
    name="newsapi", title="news-API replies: one JSON document", blocks=blocks, records=records
)
