"""Fixtures: small models and sources whose results can be computed by hand."""

import numpy as np
import pytest
from table_model import TableModel

from readagain.search.model import Candidates, SourceBatch
from readagain.text.vocab import EOS


@pytest.fixture
def sources_of():
    """Return a function that makes one-sentence documents from lists of extended ids."""

    def make(*documents):
        longest = max(map(len, documents))
        ids = np.array([[*words, *[0] * (longest - len(words))] for words in documents])
        return SourceBatch(
            source_ids=ids[:, None],
            lengths=np.array([[len(words)] for words in documents]),
            source_ext_ids=ids,
        )

    return make


@pytest.fixture
def table_model():
    """Return a function that makes a model from {word: {next word: probability}}.

    EOS has the remaining probability.
    """

    def make(table, *, size=8, **options):
        generation = np.zeros((size, size))
        generation[:, EOS] = 1.0
        for word, following in table.items():
            for next_word, prob in following.items():
                generation[word, next_word] = prob
            generation[word, EOS] = 1 - sum(p for w, p in following.items() if w != EOS)
        return TableModel(generation, **options)

    return make


@pytest.fixture
def make_candidates():
    """Return a function that makes candidates from lists."""

    def make(ids, copied_from=None, log_probs=None):
        ids = np.atleast_2d(ids)
        descending = -np.arange(1.0, ids.shape[1] + 1)
        return Candidates(
            ids=ids,
            log_probs=np.tile(descending, (len(ids), 1)) if log_probs is None else log_probs,
            copied_from=np.full(ids.shape, -1)
            if copied_from is None
            else np.atleast_2d(copied_from),
            end_log_probs=np.full(len(ids), -1.0),
            attention=np.zeros((len(ids), 1)),
        )

    return make
