"""Fixtures: small models, sources and candidates, for results that are computed by hand."""

import numpy as np
import pytest
from table_model import TableModel

from readagain.search.model import Candidates, SourceBatch
from readagain.text.vocab import EOS, PAD


@pytest.fixture
def sources_of():
    """Return a function that makes one-sentence documents from lists of extended ids."""

    def make(*documents):
        max_length = max(map(len, documents))
        ids = np.array([[*words, *[PAD] * (max_length - len(words))] for words in documents])
        return SourceBatch(
            source_ids=ids[:, None],
            lengths=np.array([[len(words)] for words in documents]),
            source_ext_ids=ids,
        )

    return make


@pytest.fixture
def table_model():
    """Return a function that makes a model from {previous id: {next id: probability}}.

    EOS has the remaining probability. The vocabulary has `size` ids.
    """

    def make(table, *, size=8, **options):
        probs = np.zeros((size, size))
        probs[:, EOS] = 1.0
        for previous_id, next_probs in table.items():
            for next_id, prob in next_probs.items():
                probs[previous_id, next_id] = prob
            probs[previous_id, EOS] = 1 - sum(next_probs.values())
        return TableModel(probs, **options)

    return make


@pytest.fixture
def make_candidates():
    """Return a function that makes candidates; by default all are generated.

    The default log-probabilities of a row are -1, -2, -3 and so on.
    """

    def make(ids, copied_from=None, log_probs=None):
        ids = np.atleast_2d(ids)
        if log_probs is None:
            log_probs = np.tile(-np.arange(1.0, ids.shape[1] + 1), (len(ids), 1))
        if copied_from is None:
            copied_from = np.full(ids.shape, -1)
        return Candidates(
            ids=ids,
            log_probs=log_probs,
            copied_from=np.atleast_2d(copied_from),
            end_log_probs=np.full(len(ids), -1.0),
            attention=np.zeros((len(ids), 1)),
        )

    return make
