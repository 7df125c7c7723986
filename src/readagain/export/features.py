"""The feature-rich encoder's other embeddings as a graph, as in `networks/features.py`."""

import numpy as np

from readagain.config.features import (
    BEFORE_VERBS,
    NOUN,
    NOUN_OR_VERB,
    NUM_FREQUENCIES,
    VERB,
)
from readagain.export.graph import Graph
from readagain.export.readings import Sentences
from readagain.export.weights import Weights
from readagain.text.vocab import UNK


def embed_features(
    graph: Graph, weights: Weights, ids: str, sentences: Sentences, by_word: str
) -> str:
    """Embed the kinds and frequencies of source words.

    Args:
        graph: where the operations go.
        weights: of the features.
        ids: (D, N, L) the words.
        sentences: their layout.
        by_word: (L * B,) the words in the order of readings, B = D * N sentences.

    Returns:
        (L * B, 4 * size), in the order of readings.
    """
    kinds = weights.tensor("kinds").astype(np.int8)  # of all words: part of speech, entity, rarity
    part, entity, rarity = (
        graph.cast(graph.add("Gather", graph.constant(column), by_word), np.int64)
        for column in kinds.T
    )
    found = {
        "part_of_speech": _settled(graph, part, sentences),
        "entity": entity,
        "frequency": _frequencies(graph, ids, sentences),
        "rarity": rarity,
    }
    embedded = [
        graph.add("Gather", graph.constant(weights.tensor(f"{name}.weight")), number)
        for name, number in found.items()
    ]
    return graph.add("Concat", *embedded, axis=1)


def _settled(graph: Graph, parts: str, sentences: Sentences) -> str:
    """Decide by the word before whether a word that can be both is a noun or a verb: (L * B,)."""
    # Words of one place in all B sentences stand together, so the one before is B further up.
    nothing = graph.add("Expand", graph.ints(0), sentences.count)  # (B,)
    last = graph.add("Sub", graph.size(parts, 0), sentences.count)
    earlier = graph.add("Slice", parts, graph.ints(0), last, graph.ints(0))
    before = graph.add("Concat", nothing, earlier, axis=0)  # (L * B,)
    is_verb = ""
    for part in BEFORE_VERBS:
        here = graph.add("Equal", before, graph.ints(part))
        is_verb = graph.add("Or", is_verb, here) if is_verb else here
    decided = graph.add("Where", is_verb, graph.ints(VERB), graph.ints(NOUN))
    is_open = graph.add("Equal", parts, graph.ints(NOUN_OR_VERB))
    return graph.add("Where", is_open, decided, parts)


def _frequencies(graph: Graph, ids: str, sentences: Sentences) -> str:
    """Bin how often each word stands in its text: (L * B,), 0 for once."""
    flat = graph.reshape(ids, graph.size(ids, 0), -1)  # (D, S)
    same = graph.add("Equal", graph.unsqueeze(flat, 2), graph.unsqueeze(flat, 1))  # (D, S, S)
    counts = graph.add("ReduceSum", graph.cast(same, np.int64), graph.ints(2), keepdims=0)
    bins = graph.add("Sub", graph.add("Min", counts, graph.ints(NUM_FREQUENCIES)), graph.ints(1))
    is_word = graph.add("Greater", flat, graph.ints(UNK))
    bins = graph.add("Where", is_word, bins, graph.ints(0))
    rows = graph.reshape(bins, sentences.count, sentences.length)  # (B, L)
    return graph.reshape(graph.add("Transpose", rows, perm=[1, 0]), -1)
