"""Shortlists in ONNX graphs: outputs of the encoder graph, and scores in the step graph.

A shortlist of W words has all source words and the most frequent other words
(`networks/shortlist.py`). Here, the words with ids below W are called frequent, the others rare.
A step multiplies only by the rows of the output matrix for frequent words. The rows for rare words
are an embedding table in the encoder graph, which gathers the rows of the rare source words. Each
rare source word replaces a frequent word that is not in the source.
"""

import numpy as np

from readagain.config.schema import ModelSpec, RunSpec
from readagain.export.graph_builder import GraphBuilder, StateDict
from readagain.export.step_graph import StepGraph
from readagain.text.vocab import SPECIAL_TOKENS

MINUS_INFINITY = np.float32(-np.inf)
FIRST_WORD = len(SPECIAL_TOKENS)  # id of the first word; the special tokens have smaller ids


def shortlist_size(run: RunSpec, model: ModelSpec) -> int:
    """Return the number W of words on a shortlist; 0 if the model has none."""
    return model.shortlist_size if model.shortlist_size < run.vocab_size else 0


def add_shortlist(graph: GraphBuilder, weights: StateDict, ext_ids: str, *, size: int) -> None:
    """Add the shortlists of sources with (D, S) extended ids to the outputs of an encoder graph.

    `weights` are those of the output layer; `size` is W. Outputs:
        `rare_keys` (D, H, S): the row of the output matrix for the rare word at each position.
        `rare_biases` (D, 1, S): the bias of each rare word at its first position, -inf elsewhere.
        `last_biases` (D, S): for the words with the last S ids below W, -inf if a rare word
        replaces the word, otherwise 0.
    """
    # (V - W, H) rows and (V - W,) biases of rare words.
    table, biases = weights.tensor("weight")[size:], weights.tensor("bias")[size:]
    is_same_word = graph.op("Equal", graph.unsqueeze(ext_ids, 2), graph.unsqueeze(ext_ids, 1))
    is_same_word = graph.cast(is_same_word, np.float32)  # (D, S, S)
    first_position = graph.op("ArgMax", is_same_word, axis=2, keepdims=0)  # (D, S)
    is_first = graph.op("Equal", first_position, graph.arange(graph.size(ext_ids, 1)))
    table_index = graph.op("Sub", ext_ids, graph.ints(size))
    is_not_frequent = graph.op("GreaterOrEqual", table_index, graph.ints(0))
    is_known = graph.op("Less", table_index, graph.ints(len(table)))
    is_rare = graph.op("And", graph.op("And", is_first, is_not_frequent), is_known)  # (D, S)
    _replace_frequent(graph, ext_ids, is_rare, size=size)

    rows = graph.op("Where", is_rare, table_index, graph.ints(0))
    keys = graph.embedding(graph.reshape(rows, -1), table)
    keys = graph.reshape(keys, graph.size(ext_ids, 0), graph.size(ext_ids, 1), table.shape[1])
    keys = graph.op("Transpose", keys, perm=[0, 2, 1])
    graph.output(keys, "rare_keys", np.float32, ["D", table.shape[1], "S"])
    bias = graph.op("Gather", graph.constant(biases, np.float32), rows)
    bias = graph.op("Where", is_rare, bias, graph.constant(MINUS_INFINITY))
    graph.output(graph.unsqueeze(bias, 1), "rare_biases", np.float32, ["D", 1, "S"])


def _replace_frequent(graph: GraphBuilder, ext_ids: str, is_rare: str, *, size: int) -> None:
    """Add the output `last_biases`, which removes a frequent word for each rare source word.

    The least frequent words that are not in the source are removed. A source has at most S words,
    so only the S frequent words with the largest ids can be removed. The validation of the settings
    ensures that there are S frequent words.
    """
    last_ids = last_indices(graph, graph.size(ext_ids, 1), end=size)  # (S,)
    is_source = graph.op("Equal", graph.unsqueeze(ext_ids, 2), last_ids)  # (D, S, S)
    is_source = graph.op("ReduceMax", graph.cast(is_source, np.float32), graph.ints(1), keepdims=0)
    is_other = graph.op("Sub", graph.constant(np.float32(1)), is_source)  # (D, S), 1 or 0
    # 1 for the least frequent of the other words, 2 for the next, and so on.
    rank = graph.op("CumSum", is_other, graph.constant(np.int64(1)), reverse=1)
    num_rare = graph.op("ReduceSum", graph.cast(is_rare, np.float32), graph.ints(1), keepdims=1)
    is_replaced = graph.op(
        "And", graph.cast(is_other, np.bool_), graph.op("LessOrEqual", rank, num_rare)
    )
    biases = graph.op(
        "Where", is_replaced, graph.constant(MINUS_INFINITY), graph.constant(np.float32(0))
    )
    graph.output(biases, "last_biases", np.float32, ["D", "S"])


def last_indices(graph: GraphBuilder, count: str, *, end: int) -> str:
    """Return the last `count` integers below `end`, where `count` is a (1,) value: (count,)."""
    return graph.op("Add", graph.arange(count), graph.op("Sub", graph.ints(end), count))


class Shortlist:
    """Inputs of a step graph with R rows: the outputs of `add_shortlist` for D documents.

    Args:
        size: number W of words on a shortlist, and of frequent words.
        hidden_size: width H of a decoder state.
        document: (R,) index of the document of each row.
    """

    def __init__(self, graph: GraphBuilder, *, size: int, hidden_size: int, document: str) -> None:
        self.size, self.document = size, document
        self.rare_keys = graph.input("rare_keys", np.float32, ["D", hidden_size, "S"])
        self.rare_biases = graph.input("rare_biases", np.float32, ["D", 1, "S"])
        self.last_biases = graph.input("last_biases", np.float32, ["D", "S"])

    def rare_logits(self, step: StepGraph, hidden: str) -> str:
        """Return the logit of each rare word at its first source position, -inf elsewhere: (R, S).

        `hidden` is (R, H), the decoder states.
        """
        rare = step.graph.op("MatMul", step.to_grid(hidden), self.rare_keys)  # (D, K, S)
        return step.source_to_rows(step.graph.op("Add", rare, self.rare_biases))

    def mask_replaced_words(self, step: StepGraph, logits: str) -> str:
        """Set the logits of replaced frequent words to -inf: (R, W - 4) -> (R, W - 4)."""
        graph = step.graph
        biases = graph.op("Gather", self.last_biases, self.document)  # (R, S)
        columns = last_indices(graph, graph.size(biases, 1), end=self.size - FIRST_WORD)
        columns = graph.op("Expand", columns, graph.op("Shape", biases))
        return graph.op("ScatterElements", logits, columns, biases, axis=1, reduction="add")
