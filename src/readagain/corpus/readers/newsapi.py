"""Reader of responses of news APIs: a JSON document with a list of articles."""

import json
import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from readagain.corpus.inputs import CorpusFormat, CorpusInput, Example
from readagain.corpus.readers.tables import HEADLINE, TEXT, pick_example
from readagain.errors import DataError, quoted, type_in_words
from readagain.formats.files import open_bytes, read_whole
from readagain.formats.jsonl import describe_json_error, parse_json
from readagain.formats.lines import describe_decode_error
from readagain.formats.records import Block, InputError, InvalidRecord, split_into_blocks

TEXT_KEYS = ("description", "content", "text", "body")
HEADLINE_KEYS = ("title", "headline")
LIST_KEYS = ("articles", "results", "data", "news")
"""Keys under which the list of articles may be."""
# NewsAPI ends a truncated text with a mark such as "[+123 chars]". The pattern has no `\s*` for the
# spaces before the mark, which would take quadratic time on many spaces.
_TRUNCATION_MARK = re.compile(r"\[\+\d{1,9} chars\]$")
MAX_VALUES = 10_000_000
"""Maximum number of brackets and commas, and so of values, in a document; they may take 1 GB."""
REMOVED_PLACEHOLDER = "[Removed]"
"""NewsAPI returns this text and title for an article that was withdrawn."""


def _read_blocks(source: CorpusInput) -> Iterator[Block]:
    """Parse the document and split its list of articles into blocks."""
    path = source.path
    with open_bytes(path) as (stream, raw):
        content = read_whole(stream, path)
        if sum(map(content.count, (b"[", b"{", b","))) > MAX_VALUES:
            raise DataError(
                f"{path}: more than {MAX_VALUES:,} brackets and commas; convert it to JSONL, one "
                "record per line"
            )
        try:
            document = parse_json(content.decode(source.encoding))
        except UnicodeDecodeError as error:
            raise InputError(f"{{0}}: {describe_decode_error(error)}", path) from error
        except (ValueError, RecursionError) as error:
            line = f":{error.lineno}" if isinstance(error, json.JSONDecodeError) else ""
            raise DataError(f"{path}{line}: {describe_json_error(error)}") from error
        yield from split_into_blocks(_find_articles(document, path), raw.tell())


def _parse_block(source: CorpusInput, block: Block) -> Iterator[Example | InvalidRecord]:
    """Yield the articles as examples; a missing text or headline becomes empty."""
    for number, article in enumerate(block.payload, start=block.first):
        where = f"{source.path}:{number}"
        if not isinstance(article, dict):
            reason = f"{type_in_words(article)}; expected an article object"
            yield InvalidRecord(where, reason, article)
            continue
        text, headline = _first_value(TEXT_KEYS, article), _first_value(HEADLINE_KEYS, article)
        example = pick_example({**article, TEXT: text, HEADLINE: headline}, source, where)
        yield _clean(example, article) if isinstance(example, Example) else example


def _find_articles(document: Any, path: Path) -> list[Any]:
    """Return the list of articles in a response."""
    if isinstance(document, dict):
        lists = [document[key] for key in LIST_KEYS if isinstance(document.get(key), list)]
        document = lists[0] if lists else document
    if not isinstance(document, list):
        raise DataError(
            f"{path}: no list of articles; expected one under "
            f"{', '.join(map(repr, LIST_KEYS))}, or a list at the top level"
        )
    objects = [article for article in document if isinstance(article, dict)]
    if objects and not any(key in article for article in objects for key in HEADLINE_KEYS):
        raise DataError(
            f"{path}: no article has a title; the first has "
            f"{', '.join(map(quoted, list(objects[0])[:8])) or 'nothing'}; convert the file to "
            "JSONL, where the columns can be chosen"
        )
    return document


def _first_value(keys: Sequence[str], article: dict[str, Any]) -> Any:
    """Return the first value under one of `keys` that is not empty, or an empty string."""
    return next((article[key] for key in keys if article.get(key)), "")


def _clean(example: Example, article: dict[str, Any]) -> Example:
    """Remove the publisher from the title, the truncation mark from the text, and placeholders."""
    publisher = article.get("source")
    name = publisher.get("name") if isinstance(publisher, dict) else publisher
    headline = example.headline
    if isinstance(name, str) and name:
        headline = headline.removesuffix(f" - {name}")
    text = example.text
    if mark := _TRUNCATION_MARK.search(text):
        text = text[: mark.start()].rstrip().removesuffix("…").rstrip()
    return Example(
        "" if text == REMOVED_PLACEHOLDER else text,
        "" if headline == REMOVED_PLACEHOLDER else headline,
    )


FORMAT = CorpusFormat(read_blocks=_read_blocks, parse_block=_parse_block)
