"""Selection of the k most probable next words inside a step graph.

The probability of a source word is the sum of its probabilities of being generated and of being
copied. Copying raises the probability of source words only, so the k best words are among the k
words with the largest logits and the source words. No array of the size of the vocabulary is
copied or scattered into.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from readagain.export.graph_builder import GraphBuilder
from readagain.export.rnn import LinearInput, sum_of_linears
from readagain.export.shortlist import FIRST_WORD, MINUS_INFINITY, Shortlist
from readagain.export.step_graph import StepGraph
from readagain.text.vocab import EOS


@dataclass(frozen=True)
class CopyInputs:
    """Inputs of a step graph that copying needs.

    Args:
        ext_ids: (R, S) extended ids of the source words, PAD at padding.
        columns: (R, S) `id - FIRST_WORD` at the first position of each candidate word, -1
            elsewhere. A value below `num_words` is the column of the word in the word logits; a
            word with a larger value has no column.
        same_word: (D, S, S) 1 at (i, j) if the word at position i occurs first at position j,
            otherwise 0.
    """

    ext_ids: str
    columns: str
    same_word: str

    def positions_of(self, graph: GraphBuilder, ids: str) -> str:
        """Return the positions of words as a mask: (R, n) ids -> (R, n, S)."""
        return graph.add("Equal", graph.unsqueeze(ids, 2), graph.unsqueeze(self.ext_ids, 1))

    def most_probable_positions(self, graph: GraphBuilder, ids: str, logits: str) -> str:
        """Return the positions that (R, n) words are most probably copied from: (R, n)."""
        is_word, scores = self.positions_of(graph, ids), graph.unsqueeze(logits, 1)
        scores = graph.add("Where", is_word, scores, graph.constant(MINUS_INFINITY))
        return graph.add("ArgMax", scores, axis=2, keepdims=0)


@dataclass(frozen=True)
class VocabScores:
    """Scores of generating each word, as values of a graph.

    Args:
        word_logits: (R, V - 4) logits of all words but the special tokens; with a shortlist, of the
            frequent words.
        special_logits: (R, 4) logits of the special tokens.
        best: (R, k) the largest word logits in descending order.
        best_ids: (R, k) their ids.
        log_total: (R, 1) logsumexp of the word logits.
        num_words: (1,) V - 4.
        rare_logits: (R, S) logits of the rare source words of a shortlist, each at the first
            position of its word, -inf elsewhere.
    """

    word_logits: str
    special_logits: str
    best: str
    best_ids: str
    log_total: str
    num_words: str
    rare_logits: str | None


def score_vocab(
    step: StepGraph, inputs: Sequence[LinearInput], shortlist: Shortlist | None = None
) -> VocabScores:
    """Score all words, or the words of a shortlist, and select the k best.

    Special tokens are scored separately, in float32: EOS needs the precision, and special tokens
    must not be among the k best. With a shortlist, the output layer has exactly one input.
    """
    graph, size = step.graph, None if shortlist is None else shortlist.size
    weight, bias = step.weights.affine("output.project")
    weight, bias = weight[:, :size], bias[:size]
    special = sum_of_linears(
        graph, inputs, weight[:, :FIRST_WORD], bias[:FIRST_WORD], is_float32=True
    )
    logits = sum_of_linears(graph, inputs, weight[:, FIRST_WORD:], bias[FIRST_WORD:])
    rare_logits = None
    if shortlist is not None:
        logits = shortlist.mask_replaced(step, logits)
        rare_logits = shortlist.rare_logits(step, inputs[0].rows)
    num_words = graph.ints(weight.shape[1] - FIRST_WORD)
    k = graph.add("Min", step.k, num_words)
    best, columns = graph.add_multi("TopK", logits, k, num_outputs=2, axis=1)
    # Softmax is many times faster than ReduceLogSumExp; log_total = best logit - log probability.
    first = _columns(graph, columns, 0, 1)  # (R, 1)
    prob = graph.add("GatherElements", graph.add("Softmax", logits, axis=1), first, axis=1)
    log_total = graph.add("Sub", _columns(graph, best, 0, 1), graph.add("Log", prob))
    ids = graph.add("Add", columns, graph.ints(FIRST_WORD))
    return VocabScores(logits, special, best, ids, log_total, num_words, rare_logits)


def output_candidates(
    step: StepGraph,
    scores: VocabScores,
    *,
    ext_ids: str | None = None,
    copying: CopyInputs | None = None,
    copy_logits: str | None = None,
) -> None:
    """Apply the softmax over generating and copying, and output the k best words and EOS.

    A shortlist needs `ext_ids`, the (R, S) extended ids of the source words. A model that copies
    needs `copying` and `copy_logits`, the (R, S) logits of copying from each position.
    """
    graph = step.graph
    optional = [each for each in (scores.rare_logits, copy_logits) if each is not None]
    logits = graph.add("Concat", scores.log_total, scores.special_logits, *optional, axis=1)
    log_probs = graph.add("LogSoftmax", logits, axis=1)
    # Log-probability = logit + offset.
    offset = graph.add("Sub", _columns(graph, log_probs, 0, 1), scores.log_total)  # (R, 1)
    end = graph.add("Squeeze", _columns(graph, log_probs, 1 + EOS, 2 + EOS), graph.ints(1))
    graph.output(end, "end_log_probs", np.float32, ["R"])
    ids, best = scores.best_ids, graph.add("Add", scores.best, offset)  # (R, k)
    if copying is None or copy_logits is None:
        if scores.rare_logits is not None:
            assert ext_ids is not None
            rare = graph.add("Add", scores.rare_logits, offset)
            ids, best, _ = _best_of(step, [ids, ext_ids], [best, rare])
        copied_from = graph.add("Sub", graph.add("Mul", ids, graph.ints(0)), graph.ints(1))
    else:
        copied = graph.add("Add", copy_logits, offset)  # (R, S)
        copy_probs = graph.add(
            "MatMul", step.to_grid(graph.add("Exp", copied)), copying.same_word
        )  # (D, K, S), summed at the first position of each word
        copy_probs = step.source_to_rows(copy_probs)  # (R, S)
        source_log_probs = _source_words(graph, scores, copying, offset, copy_probs)
        is_position = graph.cast(copying.positions_of(graph, ids), np.int8)  # (R, k, S)
        in_source = graph.add("ReduceMax", is_position, graph.ints(2), keepdims=0)
        in_source = graph.cast(in_source, np.bool_)  # (R, k)
        best = graph.add("Where", in_source, graph.constant(MINUS_INFINITY), best)
        zeros = graph.add("Mul", scores.best, graph.constant(np.float32(0)))
        ids, best, columns = _best_of(step, [ids, copying.ext_ids], [best, source_log_probs])
        copy_prob = graph.add("Concat", zeros, copy_probs, axis=1)
        copy_prob = graph.add("GatherElements", copy_prob, columns, axis=1)
        # A word counts as copied if copying gives more than half of its probability.
        half = graph.add("Mul", graph.add("Exp", best), graph.constant(np.float32(0.5)))
        is_copied = graph.add("Greater", copy_prob, half)
        position = copying.most_probable_positions(graph, ids, copied)
        copied_from = graph.add("Where", is_copied, position, graph.ints(-1))
    graph.output(ids, "ids", np.int64, ["R", "k"])
    graph.output(best, "log_probs", np.float32, ["R", "k"])
    graph.output(copied_from, "copied_from", np.int64, ["R", "k"])


def _best_of(step: StepGraph, ids: Sequence[str], log_probs: Sequence[str]) -> tuple[str, str, str]:
    """Select the k best of concatenated (R, n) arrays: (R, k) ids, log-probabilities, columns."""
    graph = step.graph
    joined = graph.add("Concat", *log_probs, axis=1)
    k = graph.add("Min", step.k, graph.size(joined, 1))
    best, columns = graph.add_multi("TopK", joined, k, num_outputs=2, axis=1)
    all_ids = graph.add("Concat", *ids, axis=1)
    return graph.add("GatherElements", all_ids, columns, axis=1), best, columns


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
    rare_logits = scores.rare_logits or graph.constant(MINUS_INFINITY)
    logits = graph.add("Where", is_known, logits, rare_logits)
    generated = graph.add("Exp", graph.add("Add", logits, offset))
    return graph.add("Log", graph.add("Add", generated, copy_probs))


def _columns(graph: GraphBuilder, value: str, start: int, stop: int) -> str:
    return graph.add("Slice", value, graph.ints(start), graph.ints(stop), graph.ints(1))
