"""Link Grammar parser of English, run as a child process, and its output as trees.

The Debian package `link-grammar` has the program `link-parser`. It reads one sentence per line and
prints its constituents.
"""

import re
import shutil
import subprocess
from collections.abc import Iterator, Sequence
from threading import Timer

from readagain.classic.tree import Leaf, Node, Phrase
from readagain.errors import MissingExtraError

PROGRAM = "link-parser"
PARSE_TIMEOUT_S = 10
"""Time limit of Link Grammar for a sentence; it checks the time only now and then."""
PROCESS_TIMEOUT_S = 120.0
"""Time after which the process is killed and restarted."""
MAX_WORDS = 50
"""Longer sentences are truncated: parsing time is cubic, and a headline has only a few words."""
# A command that is sent after each sentence; its output marks the end of that of the sentence.
_END_COMMAND, _END_OUTPUT = "!width=16381", "width set to 16381"
_OPTIONS = ("-constituents=1", "-graphics=0", "-spell=0", "-limit=1000", "-panic=0")
_TREE = re.compile(r"^\([A-Z]+\s", re.MULTILINE)
_LABEL = re.compile(r"\(([A-Z]+)$")
# Suffixes of words in the output: {!}, {?} or {~} for guessed words, then a tag: .n or .v-d.
_GUESS = re.compile(r"\{[!?~&]\}")
_SUBSCRIPT = re.compile(r"\.([a-z][a-z-]*|#\S+)$")  # as.#while: parsed as another word
# Words that are not sent: brackets, which would be confused with those of trees, and quotes.
_NOT_SENT = re.compile(r"[(){}\[\]\"`]|-[lr][rsc]b-|^''$", re.IGNORECASE)
_INITIALS = re.compile(r"(?:[a-z]\.)+")


class LinkParser:
    """Link Grammar parser; not thread-safe.

    Raises:
        MissingExtraError: if `link-parser` is not installed.
    """

    def __init__(self) -> None:
        program, unbuffered = shutil.which(PROGRAM), shutil.which("stdbuf")
        if program is None or unbuffered is None:
            missing = PROGRAM if program is None else "stdbuf"
            raise MissingExtraError(
                f"TOPIARY needs the parser Link Grammar, and '{missing}' is not installed; "
                "type: apt-get install link-grammar"
            )
        # stdbuf -oL makes the program flush every line; otherwise output waits for a full block.
        self._command = (
            *(unbuffered, "-oL", program, "en"),
            *(*_OPTIONS, f"-timeout={PARSE_TIMEOUT_S}"),
        )
        self._process: subprocess.Popen[str] | None = None

    def parse(self, words: Sequence[str]) -> Phrase | None:
        """Return the tree of a sentence, or None if it cannot be parsed in time.

        The tree may omit words.
        """
        sent = [(position, _as_sent(word)) for position, word in enumerate(words)]
        sent = [(position, word) for position, word in sent if word]
        while sent and not sent[0][1][0].isalnum():  # a line that begins with ! or % is a command
            del sent[0]
        sent = sent[:MAX_WORDS]
        if not sent:
            return None
        printed = self._query(" ".join(word for _, word in sent))
        return None if printed is None else read_tree(printed, sent)

    def close(self) -> None:
        """Stop the process."""
        process, self._process = self._process, None
        if process is not None:
            process.kill()
            process.communicate()

    def _query(self, sentence: str) -> str | None:
        """Send a sentence and return the output, or None if it takes too long."""
        process = self._process = self._process or self._start()
        assert process.stdin is not None
        assert process.stdout is not None
        alarm = Timer(PROCESS_TIMEOUT_S, process.kill)
        alarm.start()
        try:
            process.stdin.write(f"{sentence}\n{_END_COMMAND}\n")
            process.stdin.flush()
            lines: list[str] = []
            for line in process.stdout:
                if line.startswith(_END_OUTPUT):
                    return "".join(lines)
                lines.append(line)
        except BrokenPipeError:
            pass
        finally:
            alarm.cancel()
        self.close()  # killed or crashed; the next sentence restarts it
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
    """Parse the tree in the output of Link Grammar.

    `sent` are the positions and words that were sent.

    Returns:
        The tree, or None if there is none or its words differ from those sent.
    """
    start = _TREE.search(printed)
    if start is None:
        return None
    aligner = _Aligner(sent)
    open_phrases: list[tuple[str, list[Node]]] = [("", [])]
    text = printed[start.start() :].partition("\n\n")[0]
    for symbol in re.findall(r"\([A-Z]+(?=\s)|\)|[^\s()]+", text):
        if symbol == ")":
            label, children = open_phrases.pop()
            if not open_phrases:
                return None
            if children:
                open_phrases[-1][1].append(Phrase(label, tuple(children)))
        elif match := _LABEL.match(symbol):
            open_phrases.append((match[1], []))
        else:
            leaf = aligner.leaf(symbol)
            if leaf is None:
                return None
            open_phrases[-1][1].append(leaf)
    trees = open_phrases[0][1]
    if len(open_phrases) != 1 or len(trees) != 1 or not isinstance(trees[0], Phrase):
        return None
    return trees[0]


class _Aligner:
    """Aligns printed words with those sent, from left to right."""

    def __init__(self, sent: Sequence[tuple[int, str]]) -> None:
        self._sent = [(position, word.lower()) for position, word in sent]
        self._next = 0  # index of the next word sent
        self._used = 0  # characters of it that are aligned

    def leaf(self, printed: str) -> Leaf | None:
        """Return the leaf of a printed word, or None if no such word was sent."""
        unaligned = ""  # the part of the next word that is not aligned yet
        if self._next < len(self._sent):
            unaligned = self._sent[self._next][1][self._used :]
        # First a reading that equals the whole word: the "com" of "Amazon.com" is not a tag.
        for word, tag in sorted(_readings(printed), key=lambda reading: reading[0] != unaligned):
            if unaligned.startswith(word):
                return self._align(self._next, self._used + len(word), word, tag)
            for index in range(self._next + 1, len(self._sent)):
                if self._sent[index][1].startswith(word):
                    return self._align(index, len(word), word, tag)
        return None

    def _align(self, index: int, num_used: int, word: str, tag: str) -> Leaf:
        """Advance past the aligned characters of a word sent, and return its leaf."""
        position, sent = self._sent[index]
        is_complete = num_used == len(sent)
        self._next, self._used = (index + 1, 0) if is_complete else (index, num_used)
        return Leaf(word, position, tag)


def _readings(printed: str) -> Iterator[tuple[str, str]]:
    """Yield a word with and without its suffix, which may belong to the word, as in u.s."""
    word = _GUESS.sub("", printed.lower())
    if len(word) > 2 and word[0] == "{" and word[-1] == "}":  # a word without a link
        yield word[1:-1], ""
        return
    if match := _SUBSCRIPT.search(word):
        yield word[: match.start()], match[1]
    yield word, ""


def _as_sent(word: str) -> str:
    """Return a word for the parser: masked digits as 1, initials in capitals."""
    if _NOT_SENT.search(word):
        return ""
    word = "".join(word.split()).replace("#", "1")
    return word.upper() if _INITIALS.fullmatch(word) else word
