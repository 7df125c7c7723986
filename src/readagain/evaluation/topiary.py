"""TOPIARY as a system that is evaluated, with several parsers side by side."""

from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from queue import SimpleQueue
from typing import Any

from readagain.classic.link_grammar import LinkParser, Parser
from readagain.classic.topiary import Topiary, TopiaryHeadline
from readagain.classic.topics import Topics
from readagain.counts import counted
from readagain.evaluation.dataset import on_one_line
from readagain.evaluation.words import Written, summary_words
from readagain.text.document import read_document, read_tokenized


class TopiarySystem:
    """Topic words and a trimmed sentence.

    A parser is a process of its own, so threads are enough to keep several at work.

    Args:
        topics: ranks words.
        max_bytes: the most bytes of a summary.
        num_parsers: sentences that are parsed side by side.

    Raises:
        MissingExtraError: when the parser is not installed.
    """

    name = "topiary"

    def __init__(self, topics: Topics, *, max_bytes: int, num_parsers: int) -> None:
        self._topics = topics
        self._max_bytes = max_bytes
        self._parsers: list[Parser] = [LinkParser() for _ in range(num_parsers)]
        self._without_tree = 0

    def describe(self) -> dict[str, Any]:
        """Say how it works, and how many sentences of the last texts had no tree."""
        return {
            "takes": "topic words and a clause of the first sentence, "
            f"{counted(self._max_bytes, 'byte')}",
            "parser": "Link Grammar",
            "threads": len(self._parsers),
            "without_tree": self._without_tree,
        }

    def write(self, texts: Sequence[str], *, is_tokenized: bool) -> Iterator[Written]:
        """Summarize texts, in their order; sentences without a tree are counted."""
        self._without_tree = 0
        idle: SimpleQueue[Parser] = SimpleQueue()
        for parser in self._parsers:
            idle.put(parser)

        def headline(text: str) -> TopiaryHeadline:
            parser = idle.get()
            try:
                read = read_tokenized if is_tokenized else read_document
                return Topiary(parser, self._topics, max_bytes=self._max_bytes).write(read(text))
            finally:
                idle.put(parser)

        pool = ThreadPoolExecutor(len(self._parsers))
        try:
            for found in pool.map(headline, texts):
                self._without_tree += not found.is_parsed
                text = on_one_line(found.summary.text)
                words = summary_words(text, is_tokenized=is_tokenized)
                yield Written(text, words, (True,) * len(words))
        finally:
            pool.shutdown(cancel_futures=True)
            for parser in self._parsers:
                parser.close()
