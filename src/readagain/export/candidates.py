"""Selection of the k most probable next words inside a step graph.

The probability of a source word is the sum of its probabilities of being generated and of being
copied. Copying raises the probability of source words only. So the k best words are among two
groups: the k words with the largest logits, and the source words. This avoids building the (R, X)
probabilities of the extended vocabulary.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from readagain.export.graph_builder import GraphBuilder
from readagain.export.rnn import LinearInput, apply_linear
from readagain.export.shortlist import FIRST_WORD, MINUS_INFINITY, Shortlist
from readagain.export.step_graph import StepGraph
from readagain.text.vocab import EOS


class CopyInputs:
    """Inputs of a step graph that copying needs.

    Args:
        ext_ids: (R, S) extended ids of the source words, PAD at padding.
        document: (R,) index of the document of each row.

    Attributes:
        word_offsets: (R, S) `id - FIRST_WORD` at the first position of each source word that can be
            a candidate, -1 elsewhere. An offset below `VocabScores.num_words` is the column of the
            word in `VocabScores.word_logits`; other words have no logit there.
        same_word: (D, S, S) 1 at (i, j) if the word at position i occurs first at position j,
            otherwise 0.
    """

    def __init__(self, graph: GraphBuilder, *, ext_ids: str, document: str) -> None:
        self.graph, self.ext_ids = graph, ext_ids
        columns = graph.input("columns", np.int64, ["D", "S"])
        self.word_offsets = graph.op("Gather", columns, document)
        self.same_word = graph.input("same_word", np.float32, ["D", "S", "S"])

    def position_mask(self, ids: str) -> str:
        """Return a mask of the source positions of each word: (R, n) ids -> (R, n, S)."""
        graph = self.graph
        return graph.op("Equal", graph.unsqueeze(ids, 2), graph.unsqueeze(self.ext_ids, 1))

    def most_probable_positions(self, ids: str, logits: str) -> str:
        """Return the source position from which each word is most probably copied: (R, n).

        `ids` is (R, n); `logits` is (R, S), the logits of copying from each position.
        """
        graph = self.graph
        is_position, scores = self.position_mask(ids), graph.unsqueeze(logits, 1)
        scores = graph.op("Where", is_position, scores, graph.constant(MINUS_INFINITY))
        return graph.op("ArgMax", scores, axis=2, keepdims=0)


@dataclass(frozen=True)
class VocabScores:
    """Scores of generating each word, as values of a graph.

    Args:
        word_logits: (R, V - 4) logits of all words except the special tokens; with a shortlist,
            (R, W - 4) logits of the frequent words (`export/shortlist.py`).
        special_logits: (R, 4) logits of the special tokens.
        best_logits: (R, k) the largest word logits in descending order.
        best_ids: (R, k) ids of the words with the largest logits.
        log_total: (R, 1) logsumexp of the word logits.
        num_words: (1,) number of columns of `word_logits`.
        rare_logits: (R, S) logit of each rare word of a shortlist at its first source position,
            -inf elsewhere; None without a shortlist.
    """

    word_logits: str
    special_logits: str
    best_logits: str
    best_ids: str
    log_total: str
    num_words: str
    rare_logits: str | None


def score_vocab(
    step: StepGraph, inputs: Sequence[LinearInput], shortlist: Shortlist | None = None
) -> VocabScores:
    """Score all words, or the words of a shortlist, and select the k best.

    Special tokens are scored separately: they must not be among the k best, and EOS needs the
    precision of float32. With a shortlist, there is only one input.
    """
    graph = step.graph
    weight, bias = step.weights.affine("output.project")
    if shortlist is not None:
        weight, bias = weight[:, : shortlist.size], bias[: shortlist.size]
    special = apply_linear(
        graph, inputs, weight[:, :FIRST_WORD], bias[:FIRST_WORD], is_float32=True
    )
    logits = apply_linear(graph, inputs, weight[:, FIRST_WORD:], bias[FIRST_WORD:])
    rare_logits = None
    if shortlist is not None:
        logits = shortlist.mask_replaced_words(step, logits)
        rare_logits = shortlist.rare_logits(step, inputs[0].rows)
    num_words = graph.ints(weight.shape[1] - FIRST_WORD)
    k = graph.op("Min", step.k, num_words)
    best, columns = graph.op_multi("TopK", logits, k, num_outputs=2, axis=1)
    # Softmax is many times faster than ReduceLogSumExp. For the best word,
    # log_total = logit - log(probability).
    best_column = _slice_columns(graph, columns, 0, 1)  # (R, 1)
    prob = graph.op("GatherElements", graph.op("Softmax", logits, axis=1), best_column, axis=1)
    log_total = graph.op("Sub", _slice_columns(graph, best, 0, 1), graph.op("Log", prob))
    ids = graph.op("Add", columns, graph.ints(FIRST_WORD))
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
    optional = [logits for logits in (scores.rare_logits, copy_logits) if logits is not None]
    # This softmax has one entry for all words, `log_total`. The log-probability of this entry minus
    # its logit is the offset of every logit: log-probability = logit + offset.
    logits = graph.op("Concat", scores.log_total, scores.special_logits, *optional, axis=1)
    log_probs = graph.op("LogSoftmax", logits, axis=1)
    offset = graph.op("Sub", _slice_columns(graph, log_probs, 0, 1), scores.log_total)  # (R, 1)
    end = graph.op("Squeeze", _slice_columns(graph, log_probs, 1 + EOS, 2 + EOS), graph.ints(1))
    graph.output(end, "end_log_probs", np.float32, ["R"])
    ids, best = scores.best_ids, graph.op("Add", scores.best_logits, offset)  # (R, k)
    if copying is not None and copy_logits is not None:
        copy_log_probs = graph.op("Add", copy_logits, offset)  # (R, S)
        ids, best, copied_from = _add_copying(step, scores, copying, offset, best, copy_log_probs)
    else:
        if scores.rare_logits is not None:
            assert ext_ids is not None
            rare = graph.op("Add", scores.rare_logits, offset)  # (R, S)
            ids, best, _ = _select_best(step, [ids, ext_ids], [best, rare])
        # -1 for every word: nothing is copied.
        copied_from = graph.op("Sub", graph.op("Mul", ids, graph.ints(0)), graph.ints(1))
    graph.output(ids, "ids", np.int64, ["R", "k"])
    graph.output(best, "log_probs", np.float32, ["R", "k"])
    graph.output(copied_from, "copied_from", np.int64, ["R", "k"])


def _add_copying(
    step: StepGraph,
    scores: VocabScores,
    copying: CopyInputs,
    offset: str,
    generated: str,
    copied: str,
) -> tuple[str, str, str]:
    """Select the k best words from the k best generated words and the source words.

    `generated`, (R, k), are the log-probabilities of generating `scores.best_ids`; `copied`,
    (R, S), those of copying from each source position. `offset`, (R, 1), turns a logit into a
    log-probability.

    Returns:
        (R, k) ids, log-probabilities, and source positions that the words are copied from, or -1.
    """
    graph, ids = step.graph, scores.best_ids
    copy_probs = graph.op(
        "MatMul", step.to_grid(graph.op("Exp", copied)), copying.same_word
    )  # (D, K, S), summed at the first position of each word
    copy_probs = step.source_to_rows(copy_probs)  # (R, S)
    source_log_probs = _score_source_words(graph, scores, copying, offset, copy_probs)
    # Words that are in the source are removed from the generated words, so that none occurs twice.
    is_position = graph.cast(copying.position_mask(ids), np.int8)  # (R, k, S)
    is_in_source = graph.op("ReduceMax", is_position, graph.ints(2), keepdims=0)
    is_in_source = graph.cast(is_in_source, np.bool_)  # (R, k)
    generated = graph.op("Where", is_in_source, graph.constant(MINUS_INFINITY), generated)
    not_copied = graph.op("Mul", scores.best_logits, graph.constant(np.float32(0)))
    ids, best, columns = _select_best(step, [ids, copying.ext_ids], [generated, source_log_probs])
    copy_prob = graph.op("Concat", not_copied, copy_probs, axis=1)
    copy_prob = graph.op("GatherElements", copy_prob, columns, axis=1)  # (R, k)
    # A word counts as copied if copying gives more than half of its probability.
    half = graph.op("Mul", graph.op("Exp", best), graph.constant(np.float32(0.5)))
    is_copied = graph.op("Greater", copy_prob, half)
    position = copying.most_probable_positions(ids, copied)
    copied_from = graph.op("Where", is_copied, position, graph.ints(-1))
    return ids, best, copied_from


def _select_best(
    step: StepGraph, ids: Sequence[str], log_probs: Sequence[str]
) -> tuple[str, str, str]:
    """Select the k best words from several (R, n) arrays of ids and log-probabilities.

    Returns:
        (R, k) ids, log-probabilities, and columns in the concatenation of the arrays.
    """
    graph = step.graph
    all_log_probs = graph.op("Concat", *log_probs, axis=1)
    k = graph.op("Min", step.k, graph.size(all_log_probs, 1))
    best, columns = graph.op_multi("TopK", all_log_probs, k, num_outputs=2, axis=1)
    all_ids = graph.op("Concat", *ids, axis=1)
    return graph.op("GatherElements", all_ids, columns, axis=1), best, columns


def _score_source_words(
    graph: GraphBuilder, scores: VocabScores, copying: CopyInputs, offset: str, copy_probs: str
) -> str:
    """Return the log-probability of each source word, generated or copied: (R, S).

    The log-probability of a word is at its first position; all other positions have -inf.
    `copy_probs` is (R, S), the probability of copying each word at its first position, 0 elsewhere.
    """
    has_logit = graph.op(
        "And",
        graph.op("GreaterOrEqual", copying.word_offsets, graph.ints(0)),
        graph.op("Less", copying.word_offsets, scores.num_words),
    )
    column = graph.op("Where", has_logit, copying.word_offsets, graph.ints(0))
    logits = graph.op("GatherElements", scores.word_logits, column, axis=1)
    rare_logits = scores.rare_logits or graph.constant(MINUS_INFINITY)
    logits = graph.op("Where", has_logit, logits, rare_logits)
    generated = graph.op("Exp", graph.op("Add", logits, offset))
    return graph.op("Log", graph.op("Add", generated, copy_probs))


def _slice_columns(graph: GraphBuilder, value: str, start: int, stop: int) -> str:
    return graph.op("Slice", value, graph.ints(start), graph.ints(stop), graph.ints(1))
