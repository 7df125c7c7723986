"""Link Grammar parser of English, run as a child process, and its output as trees.

The Debian package `link-grammar` has the program `link-parser`. The program reads one sentence per
line and prints its constituent tree, for example `(S (NP rain.n) (VP fell.v-d))`.
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
"""Time limit per sentence, passed to the program. The program checks the time only rarely."""
PROCESS_TIMEOUT_S = 120.0
"""Time limit per sentence, after which the process is killed."""
MAX_WORDS = 50
"""Longer sentences are truncated: parsing time is cubic, and a headline has only a few words."""
# This command is sent after each sentence. Its output marks the end of the sentence's output.
_END_COMMAND, _END_OUTPUT = "!width=16381", "width set to 16381"
# Print trees, no diagrams; do not correct spelling; consider at most 1,000 parses of a sentence; do
# not retry with looser rules.
_OPTIONS = ("-constituents=1", "-graphics=0", "-spell=0", "-limit=1000", "-panic=0")
_TREE_START = re.compile(r"^\([A-Z]+\s", re.MULTILINE)
_TREE_SYMBOL = re.compile(r"\([A-Z]+(?=\s)|\)|[^\s()]+")  # opening bracket with label, ")" or word
# Suffixes of printed words: a mark of guessed words such as {!}, then a tag such as .n or .v-d.
_GUESS_MARK = re.compile(r"\{[!?~&]\}")
_TAG = re.compile(r"\.([a-z][a-z-]*|#\S+)$")  # "as.#while" is an "as" that was parsed as "while"
# Words with quotes or brackets are not sent: brackets would be confused with those of the tree.
_QUOTE_OR_BRACKET = re.compile(r"[(){}\[\]\"`]|-[lr][rsc]b-|^''$", re.IGNORECASE)
_INITIALS = re.compile(r"(?:[a-z]\.)+")


class LinkParser:
    """Link Grammar parser; not thread-safe.

    Raises:
        MissingExtraError: if `link-parser` is not installed.
    """

    def __init__(self) -> None:
        program, stdbuf = shutil.which(PROGRAM), shutil.which("stdbuf")
        if program is None or stdbuf is None:
            missing = PROGRAM if program is None else "stdbuf"
            raise MissingExtraError(
                f"TOPIARY needs the parser Link Grammar, and '{missing}' is not installed; "
                "type: apt-get install link-grammar"
            )
        # With "stdbuf -oL" the program flushes its output after every line.
        self._command = [stdbuf, "-oL", program, "en", *_OPTIONS, f"-timeout={PARSE_TIMEOUT_S}"]
        self._process: subprocess.Popen[str] | None = None

    def parse(self, words: Sequence[str]) -> Phrase | None:
        """Return the tree of a sentence, or None if it cannot be parsed in time.

        The tree may omit words. The position of a leaf is an index into `words`.
        """
        spelled = [(position, _spell_for_parser(word)) for position, word in enumerate(words)]
        inputs = [(position, word) for position, word in spelled if word]
        while inputs and not inputs[0][1][0].isalnum():  # "!" or "%" would start a command
            del inputs[0]
        inputs = inputs[:MAX_WORDS]
        if not inputs:
            return None
        output = self._query(" ".join(word for _, word in inputs))
        return None if output is None else read_tree(output, inputs)

    def close(self) -> None:
        """Stop the process."""
        process, self._process = self._process, None
        if process is not None:
            process.kill()
            process.communicate()

    def _query(self, sentence: str) -> str | None:
        """Send a sentence and return the output, or None if the process hangs or crashes."""
        if self._process is None:
            self._process = self._start()
        process = self._process
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
        self.close()  # the process was killed or has crashed; the next sentence starts a new one
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


def read_tree(output: str, inputs: Sequence[tuple[int, str]]) -> Phrase | None:
    """Read the tree in the output of Link Grammar.

    Args:
        output: what the program printed for a sentence.
        inputs: positions and words of the sentence that the program got.

    Returns:
        The tree, or None if the output has no tree or has words that are not in `inputs`.
    """
    start = _TREE_START.search(output)
    if start is None:
        return None
    unaligned = [(position, word.lower()) for position, word in inputs]
    # Label and children of each phrase that is not closed. The first one is no phrase: its only
    # child will be the tree.
    open_phrases: list[tuple[str, list[Node]]] = [("", [])]
    text = output[start.start() :].partition("\n\n")[0]
    for symbol in _TREE_SYMBOL.findall(text):
        if symbol == ")":
            label, children = open_phrases.pop()
            if not open_phrases:
                return None
            if children:
                open_phrases[-1][1].append(Phrase(label, tuple(children)))
        elif symbol.startswith("("):
            open_phrases.append((symbol[1:], []))
        else:
            leaf = _align(symbol, unaligned) if unaligned else None
            if leaf is None:
                return None
            open_phrases[-1][1].append(leaf)
    trees = open_phrases[0][1]
    if len(open_phrases) != 1 or len(trees) != 1 or not isinstance(trees[0], Phrase):
        return None
    return trees[0]


def _align(printed: str, unaligned: list[tuple[int, str]]) -> Leaf | None:
    """Return the leaf of a printed word, or None if it matches no input word.

    The parser may omit input words and split them: it prints "it's" as "it" and "'s".

    Args:
        printed: the next word that the program printed.
        unaligned: positions and words of the input that are not aligned yet; the first may be the
            rest of a split word. The aligned part and all words before it are removed.
    """
    # Prefer the split that equals the first word: in "amazon.com", "com" is not a tag.
    splits = sorted(_split_tag(printed), key=lambda split: split[0] != unaligned[0][1])
    for word, tag in splits:
        for index, (position, input_word) in enumerate(unaligned):
            if input_word.startswith(word):
                rest = input_word[len(word) :]
                unaligned[: index + 1] = [(position, rest)] if rest else []
                return Leaf(word, position, tag)
    return None


def _split_tag(printed: str) -> Iterator[tuple[str, str]]:
    """Yield the possible words and tags of a printed word.

    A dot and letters at the end may be a tag ("rain.n") or belong to the word ("u.s").
    """
    word = _GUESS_MARK.sub("", printed.lower())
    if len(word) > 2 and word[0] == "{" and word[-1] == "}":  # a word that the parser skipped
        yield word[1:-1], ""
        return
    if match := _TAG.search(word):
        yield word[: match.start()], match[1]
    yield word, ""


def _spell_for_parser(word: str) -> str:
    """Return a word with 1 for masked digits (#) and initials in capitals; "" to omit the word."""
    if _QUOTE_OR_BRACKET.search(word):
        return ""
    word = "".join(word.split()).replace("#", "1")
    return word.upper() if _INITIALS.fullmatch(word) else word
