"""Shortlists in graphs, with rare words that occur several times in the source."""

import numpy as np
import pytest
import torch

from readagain.config.override import override
from readagain.engine.onnx_model import OnnxStepModel
from readagain.export.write import build_graphs
from readagain.networks.build import build_model
from readagain.networks.step_model import TorchStepModel
from readagain.presets import PRESETS
from readagain.search.model import SourceBatch
from readagain.text.vocab import BOS, PAD

V = 30
# Extended ids of two sources. A shortlist has 15 words, so 20 and 25 are rare. 33 and 35 are OOV.
EXT_IDS = np.array([[20, 20, 25, 33, 6, 20, 35], [25, 6, 25, PAD, PAD, PAD, PAD]])


@pytest.fixture(params=["softmax", "copy"])
def outputs(request):
    """Return a run and the candidates of its network and its graphs after BOS."""
    run = override(
        PRESETS["lvt2k_1sent"],
        {
            "vocab_size": V,
            "source_vocab_size": 40,
            "model.embedding_size": 6,
            "model.encoder.hidden_size": 8,
            "model.decoder.hidden_size": 7,
            "model.decoder.attention_size": 5,
            "model.shortlist_size": 15,
            "data.max_source_words": 7,
            "model.output": request.param,
        },
    )
    torch.manual_seed(3)
    network = build_model(run).eval()
    tensors = {name: tensor.numpy() for name, tensor in network.state_dict().items()}
    graphs = build_graphs(run, tensors, ["float32"])
    sources = SourceBatch(
        source_ids=np.where(EXT_IDS == PAD, PAD, EXT_IDS % 40).reshape(2, 1, 7),
        lengths=np.array([[7], [3]]),
        source_ext_ids=EXT_IDS,
    )
    models = (TorchStepModel(network), OnnxStepModel.open(*graphs["float32"], threads=1))
    return run, *(model.step(model.start(sources), np.full(2, BOS), V)[0] for model in models)


def words(candidates, row):
    """Return the ids and log-probabilities of the candidates of a row."""
    is_word = np.isfinite(candidates.log_probs[row])
    return candidates.ids[row][is_word].tolist(), candidates.log_probs[row][is_word]


def test_graphs_return_each_shortlist_word_once(outputs):
    run, network, graphs = outputs
    can_copy = run.model.output != "softmax"
    on_shortlist = [{*range(4, 13), 20, 25}, {*range(4, 14), 25}]
    oov_ids = [{33, 35}, set()]
    for row in range(2):
        ids, log_probs = words(network, row)
        assert len(ids) == len(set(ids))
        assert set(ids) == on_shortlist[row] | (oov_ids[row] if can_copy else set())
        graph_ids, graph_log_probs = words(graphs, row)
        assert graph_ids == ids
        np.testing.assert_allclose(graph_log_probs, log_probs, atol=1e-5)


def test_probabilities_sum_to_less_than_one(outputs):
    _, network, graphs = outputs
    for candidates in (network, graphs):
        for row in range(2):
            total = np.exp(words(candidates, row)[1]).sum() + np.exp(candidates.end_log_probs[row])
            assert 0.5 < total < 1.0
