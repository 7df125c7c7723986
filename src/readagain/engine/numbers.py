"""A rule of search: no number is written that the text has no digits for."""

from collections.abc import Sequence

import numpy as np

from readagain.engine.source import Source
from readagain.search.live import Live
from readagain.search.model import Bools, Candidates
from readagain.search.rules import Rule
from readagain.text.numbers import SourceNumbers
from readagain.text.vocab import Vocab

# A vocabulary has a hundred numbers; few of them are likely at once, so few more are asked for.
SPARE_CANDIDATES = 8


class FillableNumbers(Rule):
    """No generated word with masked digits that no number of its text can fill.

    Printed, such a word would have to be left out, and leave a gap: "dies at".

    Args:
        vocab: the words that can be generated.
        sources: the texts that are searched, none of them in Gigaword form.
    """

    def __init__(self, vocab: Vocab, sources: Sequence[Source]) -> None:
        masked = [(id, word) for id, word in enumerate(vocab.words) if "#" in word]
        self._banned = np.zeros((len(sources), len(vocab)), dtype=np.bool_)
        for b, source in enumerate(sources):
            numbers = SourceNumbers(source.document)
            self._banned[b, [id for id, word in masked if not numbers.can_fill(word)]] = True

    def max_bans(self, max_words: int) -> int:
        """A margin: how many numbers are likelier than any word has no small bound."""
        return SPARE_CANDIDATES

    def banned_words(self, live: Live, offered: Candidates) -> Bools | None:
        """Forbid generating what cannot be filled; copying is free."""
        ids = np.minimum(offered.ids, self._banned.shape[1] - 1)  # what is beyond is copied
        banned: Bools = self._banned[live.document[:, None], ids] & (offered.copied_from < 0)
        return banned
