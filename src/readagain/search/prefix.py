"""A forced prefix: words that every summary of a document begins with."""

from collections.abc import Sequence

import numpy as np

from readagain.search.live import ActiveHypotheses
from readagain.search.model import ID, Bools, Candidates, Ints
from readagain.search.rules import Constraint


class ForcedPrefix(Constraint):
    """Words that are fed to the model and not scored, with prefixes of any length side by side.

    It is given to a search among its rules, which reach no further than the words behind it.

    Args:
        words: for each document the extended ids of its first words; empty for a free start.
            UNK is allowed here: the caller knows what it stands for.
        copied_from: likewise the flat source positions that they are printed from, or -1.
    """

    def __init__(
        self, words: Sequence[Sequence[int]], copied_from: Sequence[Sequence[int]]
    ) -> None:
        self.lengths: Ints = np.array([len(ids) for ids in words], dtype=np.int64)
        self.longest = int(self.lengths.max(initial=0))
        width = max(1, self.longest)
        self.words = np.zeros((len(words), width), dtype=ID)
        self.copied_from = np.full((len(words), width), -1, dtype=ID)
        for document, (ids, positions) in enumerate(zip(words, copied_from, strict=True)):
            self.words[document, : len(ids)] = ids
            self.copied_from[document, : len(ids)] = positions

    @classmethod
    def among(cls, rules: Sequence[Constraint], num_documents: int) -> "ForcedPrefix":
        """Find the prefixes among the rules of a search; without any, all begin as they like."""
        found = [rule for rule in rules if isinstance(rule, cls)]
        assert len(found) <= 1, "a document begins in one way"
        return found[0] if found else cls([()] * num_documents, [()] * num_documents)

    def decisions(self, document: Ints, num_choices: int) -> Ints:
        """Count the choices, END included, that were not forced.

        (R,) documents -> (R,), or (1,) for all of them where there is no prefix at all.
        """
        if not self.longest:
            return np.array([num_choices])
        return np.maximum(num_choices - self.lengths[document], 1)

    def is_forced(self, live: ActiveHypotheses) -> Bools | None:
        """Mark the rows that are still within their prefix, (R,); None for none of them."""
        if self.longest <= live.num_words:
            return None
        forced: Bools = self.lengths[live.document] > live.num_words
        return forced

    def force(self, candidates: Candidates, live: ActiveHypotheses) -> Candidates:
        """Leave rows within their prefix one word and no end."""
        forced = self.is_forced(live)
        if forced is None:
            return candidates
        document, num_words = live.document, live.num_words
        ids, copied_from = candidates.ids.copy(), candidates.copied_from.copy()
        log_probs, end_log_probs = candidates.log_probs.copy(), candidates.end_log_probs.copy()
        ids[forced, 0] = self.words[document[forced], num_words]
        copied_from[forced, 0] = self.copied_from[document[forced], num_words]
        log_probs[forced, 0] = 0.0
        log_probs[forced, 1:] = -np.inf
        end_log_probs[forced] = -np.inf
        return Candidates(
            ids=ids,
            log_probs=log_probs,
            copied_from=copied_from,
            end_log_probs=end_log_probs,
            attention=candidates.attention,
        )
