"""Fine-tuning: settings, vocabularies and weights of a trained model."""

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from readagain.config.files import run_to_dict
from readagain.config.schema import RunSpec
from readagain.errors import ConfigError
from readagain.model_dir import WEIGHTS_FILE, ModelDir, graph_names
from readagain.networks.build import build_model
from readagain.storage.differences import differences
from readagain.storage.tensors import read_tensors
from readagain.text.vocab import UNK
from readagain.training.vocabs import Vocabs

_SOURCE_TABLES = ("source_embedding.weight",)
_SUMMARY_TABLES = (
    "previous_words.embedding.weight",
    "encoder.embedding.weight",  # only in ABS, whose encoder embeds the previous summary words
    "output.project.weight",
    "output.project.bias",
)
_SUMMARY_BIAS = "output.project.bias"

RecoverWeights = Callable[[Path, RunSpec, Mapping[str, tuple[int, ...]]], Mapping[str, Any]]
"""Function that reads weights of given shapes from int8 graphs, see `export.recover`."""


@dataclass(frozen=True)
class TrainedModel:
    """Model folder to fine-tune."""

    model_dir: ModelDir
    recover_weights: RecoverWeights | None = None

    @classmethod
    def open(cls, path: Path, recover_weights: RecoverWeights | None = None) -> "TrainedModel":
        """Open a model folder that has weights to start from, and verify its checksums.

        Args:
            path: the model folder.
            recover_weights: function that reads weights from int8 graphs, for models without a
                weights file, such as the bundled ones.

        Raises:
            ArtifactError: if the model is damaged, or has neither weights nor such graphs.
        """
        trained = cls(ModelDir.open(path, checksums=True), recover_weights)
        if not trained.needs_recovery:
            trained.model_dir.file(WEIGHTS_FILE, purpose="fine-tuning")
        return trained

    @property
    def needs_recovery(self) -> bool:
        """Whether the weights must be recovered from int8 graphs."""
        if self.recover_weights is None or self.model_dir.has(WEIGHTS_FILE):
            return False
        return "int8" in self.model_dir.precisions

    @property
    def vocabs(self) -> Vocabs:
        """Vocabularies of the model."""
        return Vocabs(source=self.model_dir.source_vocab, summary=self.model_dir.vocab)

    @property
    def checksum(self) -> str:
        """Checksum of the weights, or of the graphs that they are recovered from."""
        names = graph_names("int8") if self.needs_recovery else (WEIGHTS_FILE,)
        return " ".join(self.model_dir.manifest.files[name].sha256 for name in names)

    def check_network(self, run: RunSpec) -> None:
        """Check that a run has the network of the model.

        Raises:
            ConfigError: for the first setting that differs.
        """
        settings = _network_settings(self.model_dir.run)
        for name, before, now in differences(settings, _network_settings(run)):
            raise ConfigError(
                f"{self.model_dir.path}: trained with {name} = {before!r}, the run has {now!r}; "
                "remove the preset to use the settings of the model"
            )

    def weights(self, vocabs: Vocabs) -> dict[str, Tensor]:
        """Read the weights, with new rows for words that were added to the vocabularies.

        The row of a new word is a copy of the row of UNK, which represented the word before. The
        output biases are reduced so that all new words together are as probable as UNK was.
        """
        tensors = {name: torch.tensor(array).float() for name, array in self._arrays().items()}
        for names, before, now in (
            (_SOURCE_TABLES, self.vocabs.source, vocabs.source),
            (_SUMMARY_TABLES, self.vocabs.summary, vocabs.summary),
        ):
            added = len(now) - len(before)
            for name in (each for each in names if added and each in tensors):
                rows = tensors[name][UNK].expand(added, *tensors[name].shape[1:])
                if name == _SUMMARY_BIAS:
                    rows = rows - math.log(added)
                tensors[name] = torch.cat([tensors[name], rows])
        return tensors

    def _arrays(self) -> Mapping[str, Any]:
        if self.recover_weights is None or not self.needs_recovery:
            return read_tensors(self.model_dir.path / WEIGHTS_FILE)
        network = build_model(self.model_dir.run).state_dict()
        shapes = {name: tuple(each.shape) for name, each in network.items()}
        return self.recover_weights(self.model_dir.path, self.model_dir.run, shapes)


def _network_settings(run: RunSpec) -> dict[str, Any]:
    """Return the settings that determine the shapes and the meaning of the weights."""
    settings = run_to_dict(run)
    del settings["model"]["dropout"]
    sentences = ("num_sentences", "join_sentences")
    return {
        "model": settings["model"],
        "data": {name: settings["data"][name] for name in sentences},
    }
