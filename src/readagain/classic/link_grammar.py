"""Link Grammar, a parser of English in a process of its own, and what it prints as trees.

`link-parser` comes with the package `link-grammar` of Debian and its kin, and under the same name
with other systems. It reads a sentence a line and prints its constituents; one process serves any
number of sentences.
"""

import re
import shutil
import subprocess
from collections.abc import Iterator, Sequence
from threading import Timer
from typing import Protocol

from readagain.classic.tree import Leaf, Node, Phrase
from readagain.errors import MissingExtraError

PROGRAM = "link-parser"
PARSE_S = 10  # after which Link Grammar gives a sentence up by itself, when it next looks
HARD_LIMIT_S = 120.0  # after which it is taken for hung, and started again
# Its time grows with the cube of the length; what stands further back fits into no headline.
MAX_WORDS = 50
# Answered by a line of its own, so that it marks the end of what a sentence had to be told.
_MARKER, _MARKED = "!width=16381", "width set to 16381"
_OPTIONS = ("-constituents=1", "-graphics=0", "-spell=0", "-limit=1000", "-panic=0")
_TREE = re.compile(r"^\([A-Z]+\s", re.MULTILINE)
_LABEL = re.compile(r"\(([A-Z]+)$")
# What it writes behind words: {!} {?} {~} how it came to know one, then .n or .v-d, the kind.
_GUESS = re.compile(r"\{[!?~&]\}")
_SUBSCRIPT = re.compile(r"\.([a-z][a-z-]*|#\S+)$")  # as.#while: read as the other word
# Signs of its trees, and quotes, which it makes nothing of: left out of what is parsed.
_LEFT_OUT = re.compile(r"[(){}\[\]\"`]|-[lr][rsc]b-|^''$", re.IGNORECASE)
_INITIALS = re.compile(r"(?:[a-z]\.)+")


class Parser(Protocol):
    """Finds the phrases of a sentence."""

    def parse(self, words: Sequence[str]) -> Phrase | None:
        """Return the tree over a sentence, its leaves numbered by place; None without one."""
        ...

    def close(self) -> None:
        """Give back what it holds."""
        ...


class LinkParser:
    """Link Grammar behind the interface `Parser`; not for several threads at once.

    Raises:
        MissingExtraError: when `link-parser` is not installed.
    """

    def __init__(self) -> None:
        program, unbuffered = shutil.which(PROGRAM), shutil.which("stdbuf")
        if program is None or unbuffered is None:
            missing = PROGRAM if program is None else "stdbuf"
            raise MissingExtraError(
                f"TOPIARY needs the parser Link Grammar, and '{missing}' is not installed; "
                "type: apt-get install link-grammar"
            )
        # It writes to a pipe in blocks, and an answer would wait for the next ones.
        self._command = (
            *(unbuffered, "-oL", program, "en"),
            *(*_OPTIONS, f"-timeout={PARSE_S}"),
        )
        self._process: subprocess.Popen[str] | None = None

    def parse(self, words: Sequence[str]) -> Phrase | None:
        """Return the tree over a sentence; None where there is none, or none in time.

        Words that the tree has no place for are missing from it.
        """
        sent = [(place, _as_sent(word)) for place, word in enumerate(words)]
        sent = [(place, word) for place, word in sent if word]
        while sent and not sent[0][1][0].isalnum():  # ! and % would be commands
            del sent[0]
        sent = sent[:MAX_WORDS]
        if not sent:
            return None
        printed = self._ask(" ".join(word for _, word in sent))
        return None if printed is None else read_tree(printed, sent)

    def close(self) -> None:
        """End the process."""
        process, self._process = self._process, None
        if process is not None:
            process.kill()
            process.communicate()

    def _ask(self, sentence: str) -> str | None:
        """Send a sentence and return what is printed about it; None if that takes too long."""
        process = self._process = self._process or self._start()
        assert process.stdin is not None
        assert process.stdout is not None
        alarm = Timer(HARD_LIMIT_S, process.kill)
        alarm.start()
        try:
            process.stdin.write(f"{sentence}\n{_MARKER}\n")
            process.stdin.flush()
            lines: list[str] = []
            for line in process.stdout:
                if line.startswith(_MARKED):
                    return "".join(lines)
                lines.append(line)
        except BrokenPipeError:
            pass
        finally:
            alarm.cancel()
        self.close()  # it was killed, or died of the sentence: the next one starts it again
        return None

    def _start(self) -> "subprocess.Popen[str]":
        return subprocess.Popen(
            self._command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            encoding="utf-8",
            errors="replace",
        )


def read_tree(printed: str, sent: Sequence[tuple[int, str]]) -> Phrase | None:
    """Read a tree as Link Grammar prints it.

    Args:
        printed: all it said about a sentence.
        sent: the words that were sent, with their places in the sentence.

    Returns:
        The tree, or None where none was printed or its words are not those of the sentence.
    """
    start = _TREE.search(printed)
    if start is None:
        return None
    places = _Places(sent)
    open_phrases: list[tuple[str, list[Node]]] = [("", [])]
    text = printed[start.start() :].partition("\n\n")[0]
    for sign in re.findall(r"\([A-Z]+(?=\s)|\)|[^\s()]+", text):
        if sign == ")":
            label, children = open_phrases.pop()
            if not open_phrases:
                return None
            if children:
                open_phrases[-1][1].append(Phrase(label, tuple(children)))
        elif match := _LABEL.match(sign):
            open_phrases.append((match[1], []))
        else:
            leaf = places.leaf(sign)
            if leaf is None:
                return None
            open_phrases[-1][1].append(leaf)
    trees = open_phrases[0][1]
    if len(open_phrases) != 1 or len(trees) != 1 or not isinstance(trees[0], Phrase):
        return None
    return trees[0]


class _Places:
    """Finds printed words among those that were sent, from left to right."""

    def __init__(self, sent: Sequence[tuple[int, str]]) -> None:
        self._sent = [(place, word.lower()) for place, word in sent]
        self._next = 0  # of the words that were sent
        self._used = 0  # characters of it that are found already

    def leaf(self, printed: str) -> Leaf | None:
        """Return the leaf that a printed word stands for; None if no such word was sent."""
        rest = self._sent[self._next][1][self._used :] if self._next < len(self._sent) else ""
        # Amazon.com is a word and no amazon of the kind "com": what is all of a word goes first.
        for word, tag in sorted(_readings(printed), key=lambda reading: reading[0] != rest):
            if rest.startswith(word):
                return self._found(self._next, self._used + len(word), word, tag)
            for at in range(self._next + 1, len(self._sent)):
                if self._sent[at][1].startswith(word):
                    return self._found(at, len(word), word, tag)
        return None

    def _found(self, at: int, used: int, word: str, tag: str) -> Leaf:
        place, sent = self._sent[at]
        self._next, self._used = (at, used) if used < len(sent) else (at + 1, 0)
        return Leaf(word, place, tag)


def _readings(printed: str) -> Iterator[tuple[str, str]]:
    """Take off what was put behind a word; it may be part of the word, as in u.s."""
    word = _GUESS.sub("", printed.lower())
    if len(word) > 2 and word[0] == "{" and word[-1] == "}":  # a word without a link
        yield word[1:-1], ""
        return
    if match := _SUBSCRIPT.search(word):
        yield word[: match.start()], match[1]
    yield word, ""


def _as_sent(word: str) -> str:
    """Spell a word for the parser: masked digits as digits, initials in capitals."""
    if _LEFT_OUT.search(word):
        return ""
    word = "".join(word.split()).replace("#", "1")
    return word.upper() if _INITIALS.fullmatch(word) else word
