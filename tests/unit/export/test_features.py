"""Features in the encoder graph, where words and unknown words stand several times."""

import numpy as np
import torch

from readagain.config.features import TABLE_SIZES
from readagain.config.override import override
from readagain.engine.onnx_model import OnnxStepModel
from readagain.export.write import build_graphs
from readagain.networks.build import build_model
from readagain.presets import PRESETS
from readagain.search.model import SourceBatch
from readagain.text.vocab import PAD, UNK


def test_the_graph_reads_the_kinds_and_frequencies_that_the_network_reads():
    run = override(
        PRESETS["lvt2k_1sent"],
        {
            "vocab_size": 30,
            "source_vocab_size": 40,
            "model.embedding_size": 6,
            "model.encoder.hidden_size": 8,
            "model.decoder.hidden_size": 7,
            "model.decoder.attention_size": 5,
            "model.feature_size": 3,
        },
    )
    torch.manual_seed(3)
    network = build_model(run).eval()
    kinds = [torch.randint(size, (40,)) for size in TABLE_SIZES[:2]]
    network.source_features.fill(torch.stack(kinds, dim=1))
    tensors = {name: tensor.numpy() for name, tensor in network.state_dict().items()}
    graphs = build_graphs(run, tensors, ["float32"])
    model = OnnxStepModel.open(*graphs["float32"], threads=1)

    source_ids = np.array([[[UNK, 7, UNK, 7, 7]], [[9, 9, 9, 9, 9]], [[UNK, UNK, PAD, PAD, PAD]]])
    lengths = np.array([[5], [5], [2]])
    ext_ids = np.where(source_ids[:, 0] == PAD, PAD, 5)
    sources = SourceBatch(source_ids=source_ids, lengths=lengths, source_ext_ids=ext_ids)
    with torch.inference_mode():
        memory, _ = network.read(*map(torch.from_numpy, (source_ids, lengths, ext_ids)))
    valid = sources.source_valid
    found = model.states(sources)
    np.testing.assert_allclose(found[valid], memory.states.numpy()[valid], atol=1e-5)
