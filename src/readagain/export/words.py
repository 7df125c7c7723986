"""The k best next words, chosen inside the graph so that only small arrays leave it.

A word that stands in the source adds its shares of copying to its share of generating. Only the
source's own words gain by that, so the best k words are among the k best generated ones and the
words of the source: nothing as large as the vocabulary is ever scattered into or copied.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from readagain.export.graph import Graph
from readagain.export.inputs import Part, multiply_rows
from readagain.export.products import PRODUCTS, Products
from readagain.export.weights import Weights
from readagain.text.vocab import EOS, SPECIAL_TOKENS

MINUS_INFINITY = np.float32(-np.inf)
FIRST_WORD = len(SPECIAL_TOKENS)  # ids below are never offered


@dataclass(frozen=True)
class Copying:
    """What of each row's source copying looks at, as values of a graph.

    Args:
        ext_ids: (R, S) extended ids of the source words, PAD at padding.
        columns: (R, S) at the first place of every word that may be offered its id less
            `FIRST_WORD`, which is its column among the word logits or beyond them; else -1.
        same_word: (D, S, S) 1 in row i and column j where place i holds the word that may be
            offered at place j.
        in_grid: stands rows in the grid, (R, n) -> (D, K, n).
        in_rows: takes them from it, (D, K, n) -> (R, n).
    """

    ext_ids: str
    columns: str
    same_word: str
    in_grid: Callable[[str], str]
    in_rows: Callable[[str, str | int], str]

    def stands_at(self, graph: Graph, ids: str) -> str:
        """Mark the places of words: (R, n) ids -> (R, n, S)."""
        return graph.add("Equal", graph.unsqueeze(ids, 2), graph.unsqueeze(self.ext_ids, 1))

    def strongest(self, graph: Graph, ids: str, logits: str) -> str:
        """Find the place each (R,) word is most likely copied from: (R,)."""
        here = self.stands_at(graph, graph.unsqueeze(ids, 1))  # (R, 1, S)
        place = _strongest_place(graph, here, logits)  # (R, 1)
        return graph.add("Squeeze", place, graph.ints(1))


@dataclass(frozen=True)
class RareWords:
    """The rarer words of each row's source, which compete with the frequent ones of a shortlist.

    Args:
        ids: (R, S) extended ids of the source words.
        logits: (R, S) of each rarer word at its first place, -inf elsewhere.
    """

    ids: str
    logits: str


@dataclass(frozen=True)
class Vocabulary:
    """Scores of generating, as values of a graph.

    Args:
        word_logits: (R, V - 4) of the words that may be offered; of a shortlist, the frequent ones.
        reserved_logits: (R, 4) of the reserved ones.
        best: (R, k) the largest word logits, falling; `best_ids` their ids.
        log_total: (R, 1) log of the sum of exp over the words.
        num_words: (1,) V - 4.
        rare: the words of a shortlist beyond these.
    """

    word_logits: str
    reserved_logits: str
    best: str
    best_ids: str
    log_total: str
    num_words: str
    rare: RareWords | None = None

    def shares(self) -> list[str]:
        """Return what generating is shared among: (R, 1), the words above, first; (R, n) others."""
        others = [self.reserved_logits] + ([self.rare.logits] if self.rare else [])
        return [self.log_total, *others]


@dataclass(frozen=True)
class Chosen:
    """What search is offered: (R, k) each, and (R,) of the end."""

    ids: str
    log_probs: str
    copied_from: str
    end_log_probs: str


def score_vocabulary(
    graph: Graph,
    products: Products,
    seen: Sequence[Part],
    weights: Weights,
    k: str,
    *,
    size: int | None = None,
    adjust: Callable[[Graph, str], str] | None = None,
) -> Vocabulary:
    """Score generating every word from what a row sees, and keep the k best.

    Reserved words are scored apart, in float32: the end is worth it, and what the top-k looks
    through then holds nothing that may not be offered.

    Args:
        graph: where the operations go.
        products: how they multiply.
        seen: what a row sees.
        weights: of the output.
        k: (1,) how many words are kept.
        size: only so many words, the most frequent; all unless given.
        adjust: what to do to the logits of the words before any is chosen.
    """
    weight, bias = weights.matrix("weight")[:, :size], weights.tensor("bias")[:size]
    reserved = multiply_rows(
        graph, PRODUCTS["float32"], seen, weight[:, :FIRST_WORD], bias[:FIRST_WORD]
    )
    logits = multiply_rows(graph, products, seen, weight[:, FIRST_WORD:], bias[FIRST_WORD:])
    if adjust is not None:
        logits = adjust(graph, logits)
    num_words = graph.ints(weight.shape[1] - FIRST_WORD)
    k = graph.add("Min", k, num_words)
    best, places = graph.add_several("TopK", logits, k, results=2, axis=1)
    # Softmax is many times faster than ReduceLogSumExp; the best word's share gives the total.
    first = _columns(graph, places, 0, 1)  # (R, 1)
    share = graph.add("GatherElements", graph.add("Softmax", logits, axis=1), first, axis=1)
    log_total = graph.add("Sub", _columns(graph, best, 0, 1), graph.add("Log", share))
    ids = graph.add("Add", places, graph.ints(FIRST_WORD))
    return Vocabulary(logits, reserved, best, ids, log_total, num_words)


def choose_words(
    graph: Graph,
    vocabulary: Vocabulary,
    copying: Copying | None,
    copy_logits: str | None,
    k: str,
) -> Chosen:
    """Share 1 among generating and copying, and choose the k best words."""
    competing = vocabulary.shares() + ([copy_logits] if copy_logits else [])
    shares = graph.add("LogSoftmax", graph.add("Concat", *competing, axis=1), axis=1)
    # From a logit to a log-probability is one subtraction.
    offset = graph.add("Sub", _columns(graph, shares, 0, 1), vocabulary.log_total)  # (R, 1)
    end = graph.add("Squeeze", _columns(graph, shares, 1 + EOS, 2 + EOS), graph.ints(1))
    best_ids, best = vocabulary.best_ids, graph.add("Add", vocabulary.best, offset)  # (R, k)
    if copying is None or copy_logits is None:
        if vocabulary.rare is not None:
            rare = graph.add("Add", vocabulary.rare.logits, offset)
            best_ids, best, _ = _best_of(graph, [best_ids, vocabulary.rare.ids], [best, rare], k)
        nowhere = graph.add("Mul", best_ids, graph.ints(0))
        return Chosen(best_ids, best, graph.add("Sub", nowhere, graph.ints(1)), end)

    copied = graph.add("Add", copy_logits, offset)  # (R, S)
    shares_of_copying = _summed_copies(graph, copying, graph.add("Exp", copied))  # (R, S)
    of_source = _source_words(graph, vocabulary, copying, offset, shares_of_copying)
    in_source = _any(graph, copying.stands_at(graph, best_ids))  # (R, k)
    best = graph.add("Where", in_source, graph.constant(MINUS_INFINITY), best)
    by_copying = graph.add(
        "Concat",
        graph.add("Mul", vocabulary.best, graph.constant(np.float32(0))),
        shares_of_copying,
        axis=1,
    )
    ids, log_probs, places = _best_of(graph, [best_ids, copying.ext_ids], [best, of_source], k)
    share = graph.add("GatherElements", by_copying, places, axis=1)
    half = graph.add("Mul", graph.add("Exp", log_probs), graph.constant(np.float32(0.5)))
    is_copied = graph.add("Greater", share, half)
    place = _strongest_place(graph, copying.stands_at(graph, ids), copied)
    copied_from = graph.add("Where", is_copied, place, graph.ints(-1))
    return Chosen(ids, log_probs, copied_from, end)


def _best_of(
    graph: Graph, ids: Sequence[str], log_probs: Sequence[str], k: str
) -> tuple[str, str, str]:
    """Choose the k best of several (R, n): their ids, log-probabilities and places, (R, k) each."""
    together = graph.add("Concat", *log_probs, axis=1)
    k = graph.add("Min", k, graph.size(together, 1))
    best, places = graph.add_several("TopK", together, k, results=2, axis=1)
    all_ids = graph.add("Concat", *ids, axis=1)
    return graph.add("GatherElements", all_ids, places, axis=1), best, places


def _summed_copies(graph: Graph, copying: Copying, shares: str) -> str:
    """Give every offered word the shares of all its places: (R, S) -> (R, S), else zeros."""
    summed = graph.add("MatMul", copying.in_grid(shares), copying.same_word)  # (D, K, S)
    return copying.in_rows(summed, graph.size(shares, 1))


def _source_words(
    graph: Graph, vocabulary: Vocabulary, copying: Copying, offset: str, shares: str
) -> str:
    """Log-probability of each source word where it is offered, -inf elsewhere: (R, S)."""
    is_known = graph.add(
        "And",
        graph.add("GreaterOrEqual", copying.columns, graph.ints(0)),
        graph.add("Less", copying.columns, vocabulary.num_words),
    )
    column = graph.add("Where", is_known, copying.columns, graph.ints(0))
    logits = graph.add("GatherElements", vocabulary.word_logits, column, axis=1)
    rare = vocabulary.rare
    beyond = graph.constant(MINUS_INFINITY) if rare is None else rare.logits
    logits = graph.add("Where", is_known, logits, beyond)
    generated = graph.add("Exp", graph.add("Add", logits, offset))
    return graph.add("Log", graph.add("Add", generated, shares))


def _strongest_place(graph: Graph, here: str, logits: str) -> str:
    """Find the marked place with the largest score: (R, n, S), (R, S) -> (R, n)."""
    marked = graph.add("Where", here, graph.unsqueeze(logits, 1), graph.constant(MINUS_INFINITY))
    return graph.add("ArgMax", marked, axis=2, keepdims=0)


def _any(graph: Graph, marks: str) -> str:
    """Say where any of the last dimension is True: (R, n, S) -> (R, n)."""
    largest = graph.add("ReduceMax", graph.cast(marks, np.int8), graph.ints(2), keepdims=0)
    return graph.cast(largest, np.bool_)


def _columns(graph: Graph, value: str, start: int, stop: int) -> str:
    return graph.add("Slice", value, graph.ints(start), graph.ints(stop), graph.ints(1))
