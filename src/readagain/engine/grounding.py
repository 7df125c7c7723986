"""A rule of search: numbers, and names where that is asked for, come from the text."""

from collections.abc import Sequence

import numpy as np

from readagain.engine.source import SourceText
from readagain.search.constraints import Constraint
from readagain.search.hypotheses import ActiveHypotheses
from readagain.search.model import Bools, Candidates
from readagain.text.numbers import SourceNumbers
from readagain.text.truecasing import Truecaser
from readagain.text.vocab import Vocab

# A vocabulary has hundreds of numbers and names; few are likely at once, so few more are asked for.
SPARE_CANDIDATES = 8
_BEGINNING = 4  # letters that "German" and "Germany" share


class GroundedWords(Constraint):
    """Some words of the vocabulary are not generated, other ones for each text; copying is free.

    Args:
        banned: (B, V) True at those words.
    """

    def __init__(self, banned: Bools) -> None:
        self.banned = banned

    def max_banned(self, max_words: int) -> int:
        """A margin: how many of them are likelier than any other word has no small bound."""
        return SPARE_CANDIDATES

    def banned_words(self, active: ActiveHypotheses, candidates: Candidates) -> Bools | None:
        """Forbid generating them."""
        ids = np.minimum(candidates.ids, self.banned.shape[1] - 1)  # what is beyond is copied
        banned: Bools = self.banned[active.documents[:, None], ids] & (candidates.copied_from < 0)
        return banned


class GroundingConstraint:
    """Finds the words of a vocabulary that a text gives no ground for.

    A number has none where the text has no digits for it: printed, it would have to be left out,
    and leave a gap ("dies at"). A name has none where no word of the text begins alike.

    Args:
        vocab: the words that can be generated.
        cases: how they are written; what has a capital, and not only capitals, is a name.
    """

    def __init__(self, vocab: Vocab, cases: Truecaser) -> None:
        self._num_words = len(vocab)
        self._numbers = [(id, word) for id, word in enumerate(vocab.words) if "#" in word]
        self._names: dict[str, list[int]] = {}  # by their first letters
        for id, word in enumerate(vocab.words):
            if word.isalpha() and _is_name(cases.word(word) or word):
                self._names.setdefault(word[:_BEGINNING], []).append(id)
        self._is_name = np.zeros(len(vocab), dtype=np.bool_)
        self._is_name[[id for ids in self._names.values() for id in ids]] = True

    def rule(self, sources: Sequence[SourceText], *, names: bool) -> GroundedWords:
        """Forbid what has no ground in each of some texts, none of them in Gigaword form.

        Args:
            sources: the texts.
            names: whether names are forbidden, too.
        """
        banned = np.zeros((len(sources), self._num_words), dtype=np.bool_)
        for b, source in enumerate(sources):
            if names:
                banned[b] = self._is_name
                known = {word.norm[:_BEGINNING] for word in source.document.words}
                banned[b, [id for start in known for id in self._names.get(start, [])]] = False
            numbers = SourceNumbers(source.document)
            banned[b, [id for id, word in self._numbers if not numbers.can_fill(word)]] = True
        return GroundedWords(banned)


def _is_name(writing: str) -> bool:
    return not writing.islower() and not writing.isupper()
