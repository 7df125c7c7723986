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
# The shortlist has 15 words: 20 and 25 are rare words. 33 and 35 are OOV words.
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
    candidates_of = []
    for model in (TorchStepModel(network), OnnxStepModel.open(*graphs["float32"], threads=1)):
        candidates, _ = model.step(model.start(sources), np.full(2, BOS), 30)
        candidates_of.append(candidates)
    return run, *candidates_of


def words(candidates, row):
    is_word = np.isfinite(candidates.log_probs[row])
    return candidates.ids[row][is_word].tolist(), candidates.log_probs[row][is_word]


def test_graphs_return_each_shortlist_word_once(outputs):
    run, network, graphs = outputs
    can_copy = run.model.output != "softmax"
    on_shortlist = [{*range(4, 13), 20, 25}, {*range(4, 14), 25}]
    oov = [{33, 35}, set()]
    for row in range(2):
        ids, log_probs = words(network, row)
        assert len(ids) == len(set(ids))
        assert set(ids) == on_shortlist[row] | (oov[row] if can_copy else set())
        found, found_log_probs = words(graphs, row)
        assert found == ids
        np.testing.assert_allclose(found_log_probs, log_probs, atol=1e-5)


def test_probabilities_sum_to_less_than_one(outputs):
    _, network, graphs = outputs
    for candidates in (network, graphs):
        for row in range(2):
            total = np.exp(words(candidates, row)[1]).sum() + np.exp(candidates.end_log_probs[row])
            assert 0.5 < total < 1.0
