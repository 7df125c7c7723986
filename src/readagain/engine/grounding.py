"""Grounding: a constraint that numbers, and optionally names, must come from the text."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from readagain.engine.source import SourceText
from readagain.search.constraints import Constraint
from readagain.search.hypotheses import ActiveHypotheses
from readagain.search.model import Bools, Candidates
from readagain.text.language import ENGLISH, Language
from readagain.text.numbers import SourceNumbers
from readagain.text.truecasing import Truecaser
from readagain.text.vocab import Vocab

SPARE_CANDIDATES = 8
"""Number of additional candidates, which replace banned candidates. A vocabulary has hundreds of
numbers and names, but few of them are among the best candidates of one step."""
_STEM_LENGTH = 4  # letters; "Norway" and "Norwegian" have the same stem


@dataclass(frozen=True, eq=False)
class GroundingConstraint(Constraint):
    """Constraint that bans some words, which may be copied but not generated.

    Args:
        banned: (B, V) True at the banned words of each document.
    """

    banned: Bools

    def max_banned(self, max_words: int) -> int:
        """Return `SPARE_CANDIDATES`; it rarely happens that more candidates are banned."""
        return SPARE_CANDIDATES

    def banned_words(self, active: ActiveHypotheses, candidates: Candidates) -> Bools | None:
        """Return the (R, k) mask of candidates that generate a banned word."""
        ids = np.minimum(candidates.ids, self.banned.shape[1] - 1)  # larger ids are copied
        banned: Bools = self.banned[active.documents[:, None], ids] & (candidates.copied_from < 0)
        return banned


class UngroundedWords:
    """Words of a vocabulary that are not grounded in a text.

    A masked number (##) is grounded if a number of the text can provide its digits. Otherwise it
    would leave a gap in the printed summary ("dies at"). A name is grounded if a word of the text
    has the same stem.

    Args:
        vocab: words that can be generated.
        truecaser: usual capitalization of words. Words in mixed case are considered names, except
            in languages that capitalize all nouns.
        language: language of the model.
    """

    def __init__(self, vocab: Vocab, truecaser: Truecaser, language: Language = ENGLISH) -> None:
        self._num_words = len(vocab)
        self._numbers = [(id, word) for id, word in enumerate(vocab.words) if "#" in word]
        self._names: dict[str, list[int]] = {}  # ids by stem
        words = () if language.capitalizes_nouns else vocab.words
        for id, word in enumerate(words):
            spelling = truecaser.spelling(word) or word
            is_mixed_case = not spelling.islower() and not spelling.isupper()
            if word.isalpha() and is_mixed_case:
                self._names.setdefault(word[:_STEM_LENGTH], []).append(id)
        self._is_name = np.zeros(len(vocab), dtype=np.bool_)
        self._is_name[[id for ids in self._names.values() for id in ids]] = True

    def constraint(self, sources: Sequence[SourceText], *, names: bool) -> GroundingConstraint:
        """Return a constraint that bans the words that are not grounded in each of the sources.

        Args:
            sources: texts that are not tokenized as in Gigaword.
            names: whether to ban names as well as numbers.
        """
        banned = np.zeros((len(sources), self._num_words), dtype=np.bool_)
        for b, source in enumerate(sources):
            if names:
                banned[b] = self._is_name
                stems = {word.norm[:_STEM_LENGTH] for word in source.document.words}
                banned[b, [id for stem in stems for id in self._names.get(stem, [])]] = False
            numbers = SourceNumbers(source.document)
            banned[b, [id for id, word in self._numbers if not numbers.can_fill(word)]] = True
        return GroundingConstraint(banned)
