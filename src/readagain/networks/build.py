"""Construction of networks from specs.

The other modules of this package do not use specs; they get settings as keyword arguments.
"""

import math
from pathlib import Path
from typing import assert_never

import torch
from torch import nn

from readagain.config.schema import (
    AbsSpec,
    HierarchicalSpec,
    ModelSpec,
    OnePassSpec,
    RasSpec,
    RunSpec,
)
from readagain.config.validation import validate_run
from readagain.errors import ArtifactError, ConfigError
from readagain.model_dir import RUN_FILE, WEIGHTS_FILE, ModelDir
from readagain.networks.abs_model import AbsModel
from readagain.networks.decoder import AttentionDecoder, PreviousWordEmbedding
from readagain.networks.encoder_decoder import EncoderDecoder
from readagain.networks.encoders import OnePassEncoder, ReadAgainEncoder
from readagain.networks.layers import WordEmbedding
from readagain.networks.network import AnyNetwork
from readagain.networks.outputs import CopyScorer, VocabularyOutput
from readagain.networks.ras_model import RasModel
from readagain.networks.shortlist import ShortlistOutput
from readagain.storage.tensors import read_tensors

_INITIAL_BIAS = 0.1


def build_model(run: RunSpec) -> AnyNetwork:
    """Build the network for `run` with random weights; call `torch.manual_seed` first.

    Raises:
        ConfigError: if settings are invalid; the message lists all of them.
    """
    validate_run(run)
    model: AbsModel | RasModel
    match run.model:
        case ModelSpec():
            return _build_encoder_decoder(run, run.model)
        case AbsSpec() as spec:
            model = AbsModel(
                source_vocab_size=run.source_vocab_size,
                vocab_size=run.vocab_size,
                embedding_size=spec.embedding_size,
                hidden_size=spec.hidden_size,
                window=spec.context_words,
                smoothing=spec.encoder.smoothing,
                dropout=spec.dropout,
            )
        case RasSpec() as spec:
            model = RasModel(
                cell=spec.cell,
                source_vocab_size=run.source_vocab_size,
                vocab_size=run.vocab_size,
                embedding_size=spec.embedding_size,
                hidden_size=spec.hidden_size,
                window=spec.window,
                num_positions=spec.num_positions,
                dropout=spec.dropout,
            )
        case _:
            assert_never(run.model)
    initialize_parameters(model, hidden_size=spec.hidden_size)
    return model


def parameter_shapes(run: RunSpec) -> dict[str, tuple[int, ...]]:
    """Return the shape of each parameter of the network of `run` by name, without allocating it.

    Raises:
        ConfigError: if a size is beyond that of any tensor.
    """
    try:
        with torch.device("meta"):
            parameters = build_model(run).state_dict()
    except (RuntimeError, TypeError) as error:  # TypeError: a size of more than 64 bits
        raise ConfigError(f"{run.title}: larger than any tensor; use smaller sizes") from error
    return {name: tuple(parameter.shape) for name, parameter in parameters.items()}


def count_parameters(run: RunSpec) -> int:
    """Return the number of parameters of the network of `run`."""
    return sum(map(math.prod, parameter_shapes(run).values()))


def find_weights(model_dir: ModelDir, *, purpose: str) -> Path:
    """Return the weights file of a model directory, after a check of the shapes of its tensors.

    Raises:
        ArtifactError: if the directory has no weights file, which `purpose` needs, or the file does
            not have the tensors of the network that `run.json` describes.
        ConfigError: if `run.json` has a size beyond that of any tensor.
    """
    path = model_dir.file(WEIGHTS_FILE, purpose=purpose)
    shapes = {name: info.shape for name, info in model_dir.tensors.items()}
    if shapes != parameter_shapes(model_dir.run):
        raise ArtifactError(
            f"{path}: not the weights of the network that {RUN_FILE} describes; was {RUN_FILE} "
            "edited by hand?"
        )
    return path


def load_network(model_dir: ModelDir, *, purpose: str) -> AnyNetwork:
    """Build the network of a model directory and load its weights, in evaluation mode.

    Raises:
        ArtifactError: as `find_weights`, and if the weights file is damaged.
    """
    tensors = read_tensors(find_weights(model_dir, purpose=purpose))
    network = build_model(model_dir.run)
    network.load_state_dict({name: torch.tensor(array) for name, array in tensors.items()})
    return network.eval().requires_grad_(False)


def _build_encoder_decoder(run: RunSpec, spec: ModelSpec) -> EncoderDecoder:
    encoder = _build_encoder(run, spec)
    source_embedding = WordEmbedding(run.source_vocab_size, spec.embedding_size)
    can_copy = spec.output == "copy"
    U, H = encoder.output_size, spec.decoder.hidden_size
    model = EncoderDecoder(
        source_embedding=source_embedding,
        encoder=encoder,
        previous_words=PreviousWordEmbedding(
            run.vocab_size,
            spec.embedding_size,
            # The setting "place" embeds a copied OOV word by its position (p_i).
            source_size=U if can_copy and spec.copied_words == "place" else None,
        ),
        decoder=AttentionDecoder(
            cell=spec.decoder.cell,
            input_size=spec.embedding_size,
            source_size=U,
            last_size=encoder.last_size if spec.decoder.initial_state == "encoder" else None,
            hidden_size=H,
            attention_size=spec.decoder.attention_size,
        ),
        output=_build_output(run, spec),
        copy_scores=CopyScorer(U, H) if can_copy else None,
        dropout=spec.dropout,
    )
    initialize_parameters(model, hidden_size=H)
    # The hidden size of the encoder may differ, and the range of its weights depends on it.
    for module in (model.source_embedding, model.encoder):
        initialize_parameters(module, hidden_size=spec.encoder.hidden_size)
    return model


def _build_encoder(run: RunSpec, model: ModelSpec) -> OnePassEncoder | ReadAgainEncoder:
    spec = model.encoder
    if isinstance(spec, OnePassSpec):
        return OnePassEncoder(
            cell=spec.cell,
            input_size=model.embedding_size,
            hidden_size=spec.hidden_size,
            bidirectional=spec.bidirectional,
            dropout=model.dropout,
        )
    hierarchical = spec if isinstance(spec, HierarchicalSpec) else None
    return ReadAgainEncoder(
        cell=spec.cell,
        num_sentences=run.data.num_sentences if hierarchical else 1,
        combine=hierarchical.combine if hierarchical else "concat",
        input_size=model.embedding_size,
        hidden_size=spec.hidden_size,
        bidirectional=spec.bidirectional,
        importance=spec.importance,
        activation=spec.importance_activation,
        dropout=model.dropout,
    )


def _build_output(run: RunSpec, model: ModelSpec) -> VocabularyOutput:
    hidden_size = model.decoder.hidden_size
    if not model.shortlist_size:
        return VocabularyOutput(hidden_size, run.vocab_size)
    return ShortlistOutput(
        hidden_size,
        run.vocab_size,
        shortlist_size=model.shortlist_size,
        num_sources=model.shortlist_sources,
    )


def initialize_parameters(module: nn.Module, *, hidden_size: int) -> None:
    """Initialize parameters as in section 4 of the paper.

    Weights are uniform between -√(3/d) and √(3/d), where d is the hidden size. Biases are 0.1.
    `nn.LSTM` adds two biases, so the second one (`bias_hh`) is 0 and the sum is 0.1.
    """
    bound = math.sqrt(3 / hidden_size)
    with torch.no_grad():
        for name, parameter in module.named_parameters():
            own_name = name.rpartition(".")[2]  # without the names of modules
            if own_name.startswith("bias"):
                parameter.fill_(0.0 if own_name.startswith("bias_hh") else _INITIAL_BIAS)
            else:
                parameter.uniform_(-bound, bound)
