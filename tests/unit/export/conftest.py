"""Fixture: a small model directory with weights, as written by training."""

import pytest
import torch
from safetensors.torch import save_file

from readagain.config.files import save_run
from readagain.config.override import override
from readagain.model_dir import (
    RUN_FILE,
    SOURCE_VOCAB_FILE,
    VOCAB_FILE,
    WEIGHTS_FILE,
    ModelDir,
)
from readagain.networks.build import build_model
from readagain.presets import PRESETS
from readagain.storage.model_manifest import write_model_files
from readagain.text.vocab import SPECIAL_TOKENS, Vocab


@pytest.fixture
def trained(tmp_path):
    """Return a model directory with random weights and a vocabulary of eleven words."""
    torch.set_num_threads(1)
    vocab = Vocab([*SPECIAL_TOKENS, "the", "old", "bridge", "opens", "ferry", "sails", "."])
    run = override(
        PRESETS["tiny"],
        {
            "vocab_size": len(vocab),
            "source_vocab_size": len(vocab),
            "model.embedding_size": 6,
            "model.encoder.hidden_size": 8,
            "model.decoder.hidden_size": 8,
            "model.decoder.attention_size": 4,
            "data.max_source_words": 12,
            "decode.beam_size": 3,
            "decode.max_words": 5,
        },
    )
    torch.manual_seed(2)
    network = build_model(run)
    folder = tmp_path / "run"
    write_model_files(
        folder,
        {
            RUN_FILE: lambda path: save_run(run, path),
            SOURCE_VOCAB_FILE: vocab.save,
            VOCAB_FILE: vocab.save,
            WEIGHTS_FILE: lambda path: save_file(network.state_dict(), path),
        },
        replace_all=True,
    )
    return ModelDir.open(folder)
