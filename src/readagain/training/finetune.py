"""Fine-tuning of a trained model: its settings, vocabularies and weights."""

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from readagain.config.files import spec_to_dict
from readagain.config.schema import RunSpec
from readagain.errors import ArtifactError, ConfigError
from readagain.model_dir import RUN_FILE, WEIGHTS_FILE, ModelDir, graph_names
from readagain.networks.build import count_parameters, find_weights, parameter_shapes
from readagain.storage.differences import differences
from readagain.storage.tensors import read_tensors
from readagain.text.vocab import UNK
from readagain.training.vocabs import Vocabs

_OUTPUT_BIAS = "output.project.bias"
# Parameters with one row per word of a vocabulary.
_SOURCE_PARAMETERS = ("source_embedding.weight",)
_SUMMARY_PARAMETERS = (
    "previous_words.embedding.weight",
    "encoder.embedding.weight",  # only in ABS, whose encoder embeds the previous summary words
    "output.project.weight",
    _OUTPUT_BIAS,
)

RecoverWeights = Callable[[Path, RunSpec, Mapping[str, tuple[int, ...]]], Mapping[str, Any]]
"""Type of `export.recover.recover_weights`, which reads weights from the int8 graphs of a model.

The arguments are the model folder, its run, and the shape of each weight by name. `training` may
not import `export`, so callers pass the function.
"""


@dataclass(frozen=True)
class TrainedModel:
    """Trained model to fine-tune."""

    model_dir: ModelDir
    recover_weights: RecoverWeights | None = None

    @classmethod
    def open(cls, path: Path, recover_weights: RecoverWeights | None = None) -> "TrainedModel":
        """Open a model folder that has weights to start from, and verify its checksums.

        Args:
            path: the model folder.
            recover_weights: function that reads weights from int8 graphs, for models without a
                weights file, such as the bundled models.

        Raises:
            ArtifactError: if the model is damaged, has weights of another network, or has neither
                weights nor int8 graphs that they can be recovered from.
        """
        model = cls(ModelDir.open(path, checksums=True), recover_weights)
        if model.needs_recovery:
            _check_graph_sizes(model.model_dir)
        else:
            find_weights(model.model_dir, purpose="fine-tuning")
        return model

    @property
    def needs_recovery(self) -> bool:
        """Whether the model has int8 graphs but no weights file, like the bundled models."""
        if self.recover_weights is None or self.model_dir.has(WEIGHTS_FILE):
            return False
        return "int8" in self.model_dir.precisions

    @property
    def vocabs(self) -> Vocabs:
        """Vocabularies of the model."""
        return Vocabs(source=self.model_dir.source_vocab, summary=self.model_dir.vocab)

    @property
    def checksum(self) -> str:
        """Checksum of the weights, or of the graphs from which they are recovered."""
        names = graph_names("int8") if self.needs_recovery else (WEIGHTS_FILE,)
        return " ".join(self.model_dir.manifest.files[name].sha256 for name in names)

    def check_network(self, run: RunSpec) -> None:
        """Check that the network of a run has the same settings as the network of the model.

        Raises:
            ConfigError: naming the first setting that differs.
        """
        settings = _network_settings(self.model_dir.run)
        for name, before, now in differences(settings, _network_settings(run)):
            raise ConfigError(
                f"{self.model_dir.path}: trained with {name} = {before!r}, the run has {now!r}; "
                "remove the preset to use the settings of the model"
            )

    def weights(self, vocabs: Vocabs) -> dict[str, Tensor]:
        """Read the weights, with new rows for the words that `vocabs` adds.

        The row of a new word is a copy of the row of UNK, which stood for the word in the trained
        model. The output biases of the new words are lower, so that all new words together are as
        probable as UNK.
        """
        tensors = {name: torch.tensor(array).float() for name, array in self._arrays().items()}
        for names, num_added in (
            (_SOURCE_PARAMETERS, len(vocabs.source) - len(self.vocabs.source)),
            (_SUMMARY_PARAMETERS, len(vocabs.summary) - len(self.vocabs.summary)),
        ):
            if not num_added:
                continue
            for name in tensors.keys() & set(names):
                rows = tensors[name][UNK].expand(num_added, *tensors[name].shape[1:])
                if name == _OUTPUT_BIAS:
                    rows = rows - math.log(num_added)
                tensors[name] = torch.cat([tensors[name], rows])
        return tensors

    def _arrays(self) -> Mapping[str, Any]:
        """Read the weights of the trained model, by name."""
        if self.recover_weights is None or not self.needs_recovery:
            return read_tensors(self.model_dir.path / WEIGHTS_FILE)
        run = self.model_dir.run
        return self.recover_weights(self.model_dir.path, run, parameter_shapes(run))


def _check_graph_sizes(model_dir: ModelDir) -> None:
    """Check that the int8 graphs are large enough for the network that `run.json` describes.

    The network is built before its weights are recovered, so wrong sizes could exhaust the memory.
    Each parameter takes at least one byte of a graph.
    """
    num_parameters = count_parameters(model_dir.run)
    num_bytes = sum(model_dir.manifest.files[name].bytes for name in graph_names("int8"))
    if num_bytes < num_parameters:
        raise ArtifactError(
            f"{model_dir.path}: {RUN_FILE} describes a network of {num_parameters:,} parameters, "
            f"the int8 graphs have {num_bytes:,} bytes; was {RUN_FILE} edited by hand?"
        )


def _network_settings(run: RunSpec) -> dict[str, Any]:
    """Return the settings that determine the shapes and the meaning of the weights."""
    settings = spec_to_dict(run)
    del settings["model"]["dropout"]
    data = {name: settings["data"][name] for name in ("num_sentences", "join_sentences")}
    return {"model": settings["model"], "data": data}
