"""Selection of the k most probable next words inside a step graph.

The probability of a source word is the sum of generating and copying it. Only source words gain
from copying, so the k best words are among the k best generated ones and the source words, and no
array as large as the vocabulary is scattered into or copied.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from readagain.export.graph_builder import GraphBuilder
from readagain.export.precision_ops import PRECISION_OPS, PrecisionOps
from readagain.export.rnn import LinearInput, sum_of_linears
from readagain.export.state_dict import StateDict
from readagain.text.vocab import EOS, SPECIAL_TOKENS

MINUS_INFINITY = np.float32(-np.inf)
FIRST_WORD = len(SPECIAL_TOKENS)  # special tokens before it are never candidates


@dataclass(frozen=True)
class CopyInputs:
    """Inputs of a step graph that copying needs.

    Args:
        ext_ids: (R, S) extended ids of the source words, PAD at padding.
        columns: (R, S) `id - FIRST_WORD` at the first position of every candidate word, which is
            its column among the word logits or beyond them; -1 elsewhere.
        same_word: (D, S, S) 1 in row i and column j where position i has the word whose first
            position is j.
        to_grid: gathers rows into the grid, (R, n) -> (D, K, n).
        to_rows: gathers rows from the grid, (D, K, n) -> (R, n).
    """

    ext_ids: str
    columns: str
    same_word: str
    to_grid: Callable[[str], str]
    to_rows: Callable[[str, str | int], str]

    def positions_of(self, graph: GraphBuilder, ids: str) -> str:
        """Return the positions of words as a mask: (R, n) ids -> (R, n, S)."""
        return graph.add("Equal", graph.unsqueeze(ids, 2), graph.unsqueeze(self.ext_ids, 1))

    def most_probable_position(self, graph: GraphBuilder, ids: str, logits: str) -> str:
        """Return the position each (R,) word is most probably copied from: (R,)."""
        is_word = self.positions_of(graph, graph.unsqueeze(ids, 1))  # (R, 1, S)
        position = _most_probable_position(graph, is_word, logits)  # (R, 1)
        return graph.add("Squeeze", position, graph.ints(1))


@dataclass(frozen=True)
class RareWordLogits:
    """Source words of a shortlist beyond its frequent words.

    Args:
        ids: (R, S) extended ids of the source words.
        logits: (R, S) logit of each rare word at its first position, -inf elsewhere.
    """

    ids: str
    logits: str


@dataclass(frozen=True)
class VocabScores:
    """Scores of generating each word, as values of a graph.

    Args:
        word_logits: (R, V - 4) logits without special tokens; of a shortlist, the frequent words.
        special_logits: (R, 4) logits of the special tokens.
        best: (R, k) the largest word logits in descending order.
        best_ids: (R, k) their ids.
        log_total: (R, 1) logsumexp of the word logits.
        num_words: (1,) V - 4.
        rare: further words of a shortlist.
    """

    word_logits: str
    special_logits: str
    best: str
    best_ids: str
    log_total: str
    num_words: str
    rare: RareWordLogits | None = None

    def softmax_inputs(self) -> list[str]:
        """Return `log_total`, (R, 1), then the (R, n) logits that it does not contain."""
        return [self.log_total, self.special_logits] + ([self.rare.logits] if self.rare else [])


def score_vocab(
    graph: GraphBuilder,
    ops: PrecisionOps,
    inputs: Sequence[LinearInput],
    weights: StateDict,
    k: str,
    *,
    size: int | None = None,
    adjust: Callable[[GraphBuilder, str], str] | None = None,
) -> VocabScores:
    """Score every word and select the k best.

    Special tokens are scored separately in float32, since EOS needs the precision and the top-k
    must not contain them.

    Args:
        graph: the graph.
        ops: operators of the precision.
        inputs: inputs of the output layer.
        weights: weights of the output layer.
        k: (1,) number of words to select.
        size: number of most frequent words to score; all by default.
        adjust: function applied to the word logits before the selection.
    """
    weight, bias = weights.matrix("weight")[:, :size], weights.tensor("bias")[:size]
    special = sum_of_linears(
        graph, PRECISION_OPS["float32"], inputs, weight[:, :FIRST_WORD], bias[:FIRST_WORD]
    )
    logits = sum_of_linears(graph, ops, inputs, weight[:, FIRST_WORD:], bias[FIRST_WORD:])
    if adjust is not None:
        logits = adjust(graph, logits)
    num_words = graph.ints(weight.shape[1] - FIRST_WORD)
    k = graph.add("Min", k, num_words)
    best, columns = graph.add_multi("TopK", logits, k, num_outputs=2, axis=1)
    # Softmax is many times faster than ReduceLogSumExp; log_total = best logit - log probability.
    first = _columns(graph, columns, 0, 1)  # (R, 1)
    prob = graph.add("GatherElements", graph.add("Softmax", logits, axis=1), first, axis=1)
    log_total = graph.add("Sub", _columns(graph, best, 0, 1), graph.add("Log", prob))
    ids = graph.add("Add", columns, graph.ints(FIRST_WORD))
    return VocabScores(logits, special, best, ids, log_total, num_words)


def output_candidates(
    graph: GraphBuilder,
    scores: VocabScores,
    k: str,
    *,
    copying: CopyInputs | None = None,
    copy_logits: str | None = None,
) -> None:
    """Apply the softmax over generating and copying, and output the k best words and EOS."""
    logits = scores.softmax_inputs() + ([copy_logits] if copy_logits else [])
    log_probs = graph.add("LogSoftmax", graph.add("Concat", *logits, axis=1), axis=1)
    # Log-probability = logit + offset.
    offset = graph.add("Sub", _columns(graph, log_probs, 0, 1), scores.log_total)  # (R, 1)
    end = graph.add("Squeeze", _columns(graph, log_probs, 1 + EOS, 2 + EOS), graph.ints(1))
    graph.output(end, "end_log_probs", np.float32, ["R"])
    best_ids, best = scores.best_ids, graph.add("Add", scores.best, offset)  # (R, k)
    if copying is None or copy_logits is None:
        if scores.rare is not None:
            rare = graph.add("Add", scores.rare.logits, offset)
            best_ids, best, _ = _best_of(graph, [best_ids, scores.rare.ids], [best, rare], k)
        zeros = graph.add("Mul", best_ids, graph.ints(0))
        _output_words(graph, best_ids, best, graph.add("Sub", zeros, graph.ints(1)))
        return

    copied = graph.add("Add", copy_logits, offset)  # (R, S)
    copy_probs = _summed_copies(graph, copying, graph.add("Exp", copied))  # (R, S)
    of_source = _source_words(graph, scores, copying, offset, copy_probs)
    in_source = _any(graph, copying.positions_of(graph, best_ids))  # (R, k)
    best = graph.add("Where", in_source, graph.constant(MINUS_INFINITY), best)
    by_copying = graph.add(
        "Concat",
        graph.add("Mul", scores.best, graph.constant(np.float32(0))),
        copy_probs,
        axis=1,
    )
    ids, log_probs, columns = _best_of(graph, [best_ids, copying.ext_ids], [best, of_source], k)
    copy_prob = graph.add("GatherElements", by_copying, columns, axis=1)
    half = graph.add("Mul", graph.add("Exp", log_probs), graph.constant(np.float32(0.5)))
    is_copied = graph.add("Greater", copy_prob, half)
    position = _most_probable_position(graph, copying.positions_of(graph, ids), copied)
    copied_from = graph.add("Where", is_copied, position, graph.ints(-1))
    _output_words(graph, ids, log_probs, copied_from)


def _output_words(graph: GraphBuilder, ids: str, log_probs: str, copied_from: str) -> None:
    graph.output(ids, "ids", np.int64, ["R", "k"])
    graph.output(log_probs, "log_probs", np.float32, ["R", "k"])
    graph.output(copied_from, "copied_from", np.int64, ["R", "k"])


def _best_of(
    graph: GraphBuilder, ids: Sequence[str], log_probs: Sequence[str], k: str
) -> tuple[str, str, str]:
    """Select the k best of several (R, n): their ids, log-probabilities and columns, (R, k)."""
    together = graph.add("Concat", *log_probs, axis=1)
    k = graph.add("Min", k, graph.size(together, 1))
    best, columns = graph.add_multi("TopK", together, k, num_outputs=2, axis=1)
    all_ids = graph.add("Concat", *ids, axis=1)
    return graph.add("GatherElements", all_ids, columns, axis=1), best, columns


def _summed_copies(graph: GraphBuilder, copying: CopyInputs, probs: str) -> str:
    """Sum the copy probabilities of each word at its first position: (R, S) -> (R, S)."""
    summed = graph.add("MatMul", copying.to_grid(probs), copying.same_word)  # (D, K, S)
    return copying.to_rows(summed, graph.size(probs, 1))


def _source_words(
    graph: GraphBuilder, scores: VocabScores, copying: CopyInputs, offset: str, copy_probs: str
) -> str:
    """Return the log-probability of each source word at its first position, else -inf: (R, S)."""
    is_known = graph.add(
        "And",
        graph.add("GreaterOrEqual", copying.columns, graph.ints(0)),
        graph.add("Less", copying.columns, scores.num_words),
    )
    column = graph.add("Where", is_known, copying.columns, graph.ints(0))
    logits = graph.add("GatherElements", scores.word_logits, column, axis=1)
    rare = scores.rare
    beyond = graph.constant(MINUS_INFINITY) if rare is None else rare.logits
    logits = graph.add("Where", is_known, logits, beyond)
    generated = graph.add("Exp", graph.add("Add", logits, offset))
    return graph.add("Log", graph.add("Add", generated, copy_probs))


def _most_probable_position(graph: GraphBuilder, mask: str, logits: str) -> str:
    """Return the masked position with the largest score: (R, n, S), (R, S) -> (R, n)."""
    marked = graph.add("Where", mask, graph.unsqueeze(logits, 1), graph.constant(MINUS_INFINITY))
    return graph.add("ArgMax", marked, axis=2, keepdims=0)


def _any(graph: GraphBuilder, marks: str) -> str:
    """Return whether any entry of the last dimension is True: (R, n, S) -> (R, n)."""
    largest = graph.add("ReduceMax", graph.cast(marks, np.int8), graph.ints(2), keepdims=0)
    return graph.cast(largest, np.bool_)


def _columns(graph: GraphBuilder, value: str, start: int, stop: int) -> str:
    return graph.add("Slice", value, graph.ints(start), graph.ints(stop), graph.ints(1))
