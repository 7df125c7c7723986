"""The trace of a search: which words each summary has, where they come from, what they cost."""

from dataclasses import dataclass, field

import numpy as np

from readagain.search.model import Bools, Floats, Ints, SourceBatch


@dataclass(frozen=True, kw_only=True, eq=False)
class Hypothesis:
    """One summary of T words, with everything needed to print and explain it without the model.

    Args:
        ids: (T,) extended ids. An id of V or more belongs to the batch that was searched; print
            such a word, as every copied one, from where it stands.
        copied_from: (T, 2) sentence and word in it that each was copied from; -1, -1 where it
            was generated.
        log_probs: (T + 1,) log-probability of each word, and of ending; 0 for a forced word.
        score: what the hypotheses of a document are ranked by.
        keeps_minimum: False where no word could follow before the minimum length was reached.
        attention: (T + 1, N, L) weights of the source words at each word and at the end; None
            unless it was asked for.
    """

    ids: Ints
    copied_from: Ints
    log_probs: Floats
    score: float
    keeps_minimum: bool
    attention: Floats | None

    def __len__(self) -> int:
        """Count the words, T."""
        return len(self.ids)


@dataclass(frozen=True, kw_only=True)
class Expansion:
    """One step of a search: what was put behind which hypothesis.

    Args:
        parents: (R,) rows of the step before.
        ids: (R,) the word that was chosen.
        copied_from: (R,) where it comes from.
        log_probs: (R,) its own log-probability.
        attention: (R before, S) weights while choosing; None unless asked for.
    """

    parents: Ints
    ids: Ints
    copied_from: Ints
    log_probs: Floats
    attention: Floats | None


@dataclass(frozen=True, kw_only=True)
class FinishedHypotheses:
    """Hypotheses that ended at one step, in the order of their rank.

    Args:
        document: (F,) which document each summarizes.
        rows: (F,) their rows before ending.
        end_log_probs: (F,) log-probability of ending.
        scores: (F,) final scores.
        keeps_minimum: (F,) whether no limit was given up.
    """

    document: Ints
    rows: Ints
    end_log_probs: Floats
    scores: Floats
    keeps_minimum: Bools


@dataclass
class Trace:
    """What happened in a search, step by step; step t chooses word t, counted from 0."""

    grown: list[Expansion] = field(default_factory=list)
    ended: list[list[FinishedHypotheses]] = field(default_factory=list)

    def add(self, grown: Expansion, ended: list[FinishedHypotheses]) -> None:
        """Note one more step."""
        self.grown.append(grown)
        self.ended.append(ended)

    def best(self, sources: SourceBatch, n_best: int) -> list[list[Hypothesis]]:
        """Follow the `n_best` hypotheses of each document back to their beginnings.

        Best score first; equals by fewer words, then by rank when they ended. Those that gave
        up a minimum come last.
        """
        batches = [(step, ended) for step, many in enumerate(self.ended) for ended in many]
        if not batches:
            return [[] for _ in range(len(sources))]
        num_words = np.concatenate([np.full(len(e.rows), step) for step, e in batches])
        everything = FinishedHypotheses(
            document=np.concatenate([e.document for _, e in batches]),
            rows=np.concatenate([e.rows for _, e in batches]),
            end_log_probs=np.concatenate([e.end_log_probs for _, e in batches]),
            scores=np.concatenate([e.scores for _, e in batches]),
            keeps_minimum=np.concatenate([e.keeps_minimum for _, e in batches]),
        )
        order = np.lexsort(
            (num_words, -everything.scores, ~everything.keeps_minimum, everything.document)
        )
        place = np.arange(len(order)) - np.searchsorted(
            everything.document[order], everything.document[order]
        )
        chosen = order[place < n_best]
        found: list[list[Hypothesis]] = [[] for _ in range(len(sources))]
        for hypothesis, document in zip(
            self._follow(everything, chosen, num_words[chosen], sources),
            everything.document[chosen],
            strict=True,
        ):
            found[document].append(hypothesis)
        return found

    def _follow(
        self, ended: FinishedHypotheses, chosen: Ints, num_words: Ints, sources: SourceBatch
    ) -> list[Hypothesis]:
        """Read the words of the chosen hypotheses from the last to the first."""
        # Longest first, so that those that have a word at some step are the first few.
        longest_first = np.argsort(-num_words, kind="stable")
        chosen, num_words = chosen[longest_first], num_words[longest_first]
        F, T = len(chosen), int(num_words.max(initial=0))
        _, N, L = sources.source_ids.shape
        ids = np.zeros((F, T), dtype=np.int64)
        positions = np.zeros((F, T), dtype=np.int64)
        log_probs = np.zeros((F, T + 1))
        rows = ended.rows[chosen]  # (F,) row of each hypothesis at the step looked at
        weights = self._attention_at_end(num_words, rows)
        for step in range(T - 1, -1, -1):
            alive = np.count_nonzero(num_words > step)
            grown, at = self.grown[step], rows[:alive]
            ids[:alive, step] = grown.ids.take(at)
            positions[:alive, step] = grown.copied_from.take(at)
            log_probs[:alive, step] = grown.log_probs.take(at)
            rows[:alive] = grown.parents.take(at)
            if weights is not None and grown.attention is not None:
                weights[:alive, step] = grown.attention.take(rows[:alive], axis=0)
        log_probs[np.arange(F), num_words] = ended.end_log_probs[chosen]
        sentence, word = np.divmod(positions, max(L, 1))
        places = np.stack([sentence, word], axis=-1)  # (F, T, 2)
        places[positions < 0] = -1
        as_they_came = np.argsort(longest_first)
        return [
            Hypothesis(
                ids=ids[f, :t],
                copied_from=places[f, :t],
                log_probs=log_probs[f, : t + 1],
                score=float(ended.scores[chosen[f]]),
                keeps_minimum=bool(ended.keeps_minimum[chosen[f]]),
                attention=None if weights is None else weights[f, : t + 1].reshape(t + 1, N, L),
            )
            for f, t in zip(as_they_came, num_words[as_they_came], strict=True)
        ]

    def _attention_at_end(self, num_words: Ints, rows: Ints) -> Floats | None:
        """Make room for attention, (F, T + 1, S), and fill in what was weighed while ending."""
        first = self.grown[0].attention
        if first is None:
            return None
        F, T = len(rows), int(num_words.max(initial=0))
        weights = np.zeros((F, T + 1, first.shape[1]), dtype=np.float32)
        for step in np.unique(num_words):
            ending = np.flatnonzero(num_words == step)
            attention = self.grown[step].attention
            assert attention is not None
            weights[ending, step] = attention[rows[ending]]
        return weights
