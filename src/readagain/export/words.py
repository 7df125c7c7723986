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
from readagain.text.vocab import END, RESERVED

MINUS_INFINITY = np.float32(-np.inf)
FIRST_WORD = len(RESERVED)  # ids below are never offered


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
class Vocabulary:
    """Scores of generating, as values of a graph.

    Args:
        word_logits: (R, V - 4) of the words that may be offered.
        reserved_logits: (R, 4) of the reserved ones.
        best: (R, k) the largest word logits, falling; `best_ids` their ids.
        log_total: (R, 1) log of the sum of exp over the words.
        num_words: (1,) V - 4.
    """

    word_logits: str
    reserved_logits: str
    best: str
    best_ids: str
    log_total: str
    num_words: str


@dataclass(frozen=True)
class Chosen:
    """What search is offered: (R, k) each, and (R,) of the end."""

    ids: str
    log_probs: str
    copied_from: str
    end_log_probs: str


def score_vocabulary(
    graph: Graph, products: Products, seen: Sequence[Part], weights: Weights, k: str
) -> Vocabulary:
    """Score generating every word from what a row sees, and keep the k best.

    Reserved words are scored apart, in float32: the end is worth it, and what the top-k looks
    through then holds nothing that may not be offered.
    """
    weight, bias = weights.matrix("weight"), weights.tensor("bias")
    reserved = multiply_rows(
        graph, PRODUCTS["float32"], seen, weight[:, :FIRST_WORD], bias[:FIRST_WORD]
    )
    logits = multiply_rows(graph, products, seen, weight[:, FIRST_WORD:], bias[FIRST_WORD:])
    num_words = graph.ints(weight.shape[1] - FIRST_WORD)
    best, places, log_total = best_logits(graph, logits, k, num_words)
    ids = graph.add("Add", places, graph.ints(FIRST_WORD))
    return Vocabulary(logits, reserved, best, ids, log_total, num_words)


def best_logits(graph: Graph, logits: str, k: str, num_words: str) -> tuple[str, str, str]:
    """Keep the k best of (R, n) logits: they, their places, and the log of the sum of exp."""
    k = graph.add("Min", k, num_words)
    best, places = graph.add_several("TopK", logits, k, results=2, axis=1)
    # Softmax is many times faster than ReduceLogSumExp; the best word's share gives the total.
    first = graph.add("Slice", places, graph.ints(0), graph.ints(1), graph.ints(1))  # (R, 1)
    share = graph.add("GatherElements", graph.add("Softmax", logits, axis=1), first, axis=1)
    first_logit = graph.add("Slice", best, graph.ints(0), graph.ints(1), graph.ints(1))
    return best, places, graph.add("Sub", first_logit, graph.add("Log", share))


def choose_words(
    graph: Graph,
    vocabulary: Vocabulary,
    copying: Copying | None,
    copy_logits: str | None,
    k: str,
) -> Chosen:
    """Share 1 among generating and copying, and choose the k best words."""
    competing = [vocabulary.log_total, vocabulary.reserved_logits]
    if copy_logits is not None:
        competing.append(copy_logits)
    shares = graph.add("LogSoftmax", graph.add("Concat", *competing, axis=1), axis=1)
    generating = _columns(graph, shares, 0, 1)  # (R, 1)
    end = graph.add("Squeeze", _columns(graph, shares, 1 + END, 2 + END), graph.ints(1))
    # From a logit to a log-probability is one subtraction.
    offset = graph.add("Sub", generating, vocabulary.log_total)
    best = graph.add("Add", vocabulary.best, offset)  # (R, k)
    if copying is None:
        nowhere = graph.add("Mul", vocabulary.best_ids, graph.ints(0))
        nowhere = graph.add("Sub", nowhere, graph.ints(1))
        return Chosen(vocabulary.best_ids, best, nowhere, end)

    copied = _columns(graph, shares, 1 + len(RESERVED), np.iinfo(np.int64).max)  # (R, S)
    shares_of_copying = _summed_copies(graph, copying, graph.add("Exp", copied))  # (R, S)
    of_source = _source_words(graph, vocabulary, copying, offset, shares_of_copying)
    in_source = _any(graph, copying.stands_at(graph, vocabulary.best_ids))  # (R, k)
    best = graph.add("Where", in_source, graph.constant(MINUS_INFINITY), best)

    together = graph.add("Concat", best, of_source, axis=1)  # (R, k + S)
    all_ids = graph.add("Concat", vocabulary.best_ids, copying.ext_ids, axis=1)
    by_copying = graph.add(
        "Concat",
        graph.add("Mul", vocabulary.best, graph.constant(np.float32(0))),
        shares_of_copying,
        axis=1,
    )
    k = graph.add("Min", k, graph.size(together, 1))
    log_probs, places = graph.add_several("TopK", together, k, results=2, axis=1)
    ids = graph.add("GatherElements", all_ids, places, axis=1)
    share = graph.add("GatherElements", by_copying, places, axis=1)
    half = graph.add("Mul", graph.add("Exp", log_probs), graph.constant(np.float32(0.5)))
    is_copied = graph.add("Greater", share, half)
    place = _strongest_place(graph, copying.stands_at(graph, ids), copied)
    copied_from = graph.add("Where", is_copied, place, graph.ints(-1))
    return Chosen(ids, log_probs, copied_from, end)


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
    generated = graph.add("Exp", graph.add("Add", logits, offset))
    generated = graph.add("Where", is_known, generated, graph.constant(np.float32(0)))
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
