"""How words are written inside sentences: a table of it, and where one can tell it from."""

from collections.abc import Iterable, Iterator, Sequence
from functools import cache, lru_cache
from importlib.resources import files
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from readagain.errors import ArtifactError, quoted
from readagain.storage.files import atomic_write, read_lines
from readagain.text.vocab import Vocab
from readagain.text.wordlists import ALWAYS_CAPITAL

CASES_FILE = "cases.txt"
"""In a prepared corpus, and in a model folder."""
MAX_CASES_BYTES = 64 << 20

Ints = NDArray[np.int64]

# What `tell_case` goes by: a word; what one may follow inside a sentence; and so on.
_WORD, _PRECEDES, _LONG, _LONG_AND_SMALL, _CAPITAL = 1, 2, 4, 8, 16
_LONG_WORD = 5  # letters; what is shorter may be small in a headline whose other words are not


class Truecaser:
    """How words are written inside sentences, alone and as pairs, by their forms.

    Args:
        entries: words in their own case, in small letters where they have no capital; and pairs of
            words that are written otherwise together than apart ("white", "house", "White House").
    """

    def __init__(self, entries: Iterable[str] = ()) -> None:
        self._writings = {entry.lower(): entry for entry in entries}

    @classmethod
    def load(cls, path: Path) -> "Truecaser":
        """Read a file with one entry a line.

        Raises:
            ArtifactError: naming the file and the line that cannot be right.
        """
        entries = read_lines(path, max_bytes=MAX_CASES_BYTES)
        cases = cls(entries)
        for number, entry in enumerate(entries, start=1):
            words = entry.split()
            if " ".join(words) != entry or len(words) not in (1, 2):
                problem = "expected a word, or two with a space between them"
            elif cases._writings[entry.lower()] != entry:
                problem = f"it stands there as {quoted(cases._writings[entry.lower()])} too"
            else:
                continue
            raise ArtifactError(
                f"{path}:{number}: found {quoted(entry)}; {problem}; was it edited by hand?"
            )
        return cases

    def save(self, path: Path) -> None:
        """Write one entry a line, in the order of their forms; the file is whole or absent."""
        with atomic_write(path) as aside:
            aside.write_bytes("".join(f"{entry}\n" for entry in self).encode("utf-8"))

    def word(self, form: str) -> str | None:
        """Return how a word is written, or nothing where that is not known."""
        return self._writings.get(form)

    def pair(self, first: str, second: str) -> list[str] | None:
        """Return how two words beside each other are written, or nothing where each is as alone."""
        writing = self._writings.get(f"{first} {second}")
        return None if writing is None else writing.split(" ")

    def beside(self, form: str, before: str | None, after: str | None) -> str | None:
        """Return how a word is written between its neighbours, or nothing where neither tells."""
        for first, second, which in ((form, after, 0), (before, form, 1)):
            pair = self.pair(first, second) if first and second else None
            if pair is not None:
                return pair[which]
        return self.word(form)

    def of(self, vocab: Vocab) -> "Truecaser":
        """Return the entries that a model with this vocabulary may need."""
        return Truecaser(
            entry
            for form, entry in self._writings.items()
            if all(word in vocab for word in form.split(" "))
        )

    def over(self, other: "Truecaser") -> "Truecaser":
        """Return these entries, and those of another table that say more."""
        return Truecaser((other._writings | self._writings).values())

    def __len__(self) -> int:
        return len(self._writings)

    def __iter__(self) -> Iterator[str]:
        return (self._writings[form] for form in sorted(self._writings))

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Truecaser) and self._writings == other._writings

    def __hash__(self) -> int:
        return hash(tuple(self))


@cache
def usual_cases() -> Truecaser:
    """Return how frequent English words are written, for models that do not say it themselves.

    `spellings.txt` was counted over the texts that the bundled models were trained on (decision
    0181); words that are written now this way, now that, are not in it.
    """
    listed = files("readagain.text").joinpath("spellings.txt").read_text(encoding="ascii")
    return Truecaser((*listed.split(), *ALWAYS_CAPITAL))


def tell_case(tokens: Sequence[str], numbers: Ints, lengths: Ints) -> NDArray[np.bool_]:
    """Mark the words of sentences that are written as they would be in any other sentence.

    That is not so for the first word of a sentence and for what follows a sign that may begin one,
    such as a colon or an opening quote; nor for any word where most have capitals, as in a headline
    or in shouting, or where nothing has.

    Args:
        tokens: distinct words as they are written.
        numbers: (W,) the words of all sentences, as places in `tokens`.
        lengths: (G,) how many of them each sentence has.

    Returns:
        (W,) bool.
    """
    facts = np.fromiter(map(_facts, tokens), dtype=np.uint8, count=len(tokens))[numbers]
    starts = np.cumsum(lengths) - lengths
    is_first = np.zeros(len(numbers) + 1, dtype=bool)
    is_first[starts] = True
    inside = ~is_first[:-1]

    def count(marked: NDArray[np.bool_]) -> Ints:
        """Count the marked words of each sentence."""
        sums = np.concatenate([[0], np.cumsum(marked)])
        counted: Ints = sums[starts + lengths] - sums[starts]
        return counted

    num_long = count(inside & (facts & _LONG != 0))
    num_small = count(inside & (facts & _LONG_AND_SMALL != 0))
    has_capital = count(facts & _CAPITAL != 0) > 0
    is_sentence_case = has_capital & (num_long > 0) & (num_long <= 3 * num_small)
    follows_a_word = np.concatenate([[False], facts[:-1] & _PRECEDES != 0])[: len(facts)]
    tells: NDArray[np.bool_] = np.repeat(is_sentence_case, lengths)
    tells &= inside & (facts & _WORD != 0) & follows_a_word
    return tells


@lru_cache(maxsize=1 << 17)
def _facts(word: str) -> int:
    """Say of a word what `tell_case` goes by."""
    is_word = word[:1].isalpha()
    is_long = is_word and len(word) >= _LONG_WORD
    can_precede = word[:1].isalnum() or word[-1:].isalnum() or word == ","
    return (
        _WORD * is_word
        | _PRECEDES * can_precede
        | _LONG * is_long
        | _LONG_AND_SMALL * (is_long and word.islower())
        | _CAPITAL * (word != word.lower())
    )
