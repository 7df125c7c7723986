"""Model folder: the files that training and export write and inference reads.

`docs/model-folder.md` describes the files, and `model.json` lists them with size and SHA-256. Other
files, such as the log and the checkpoints of a run, are not part of the model.
"""

from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, Literal

from readagain.config.files import load_run
from readagain.config.schema import RunSpec
from readagain.errors import ArtifactError, ConfigError
from readagain.storage.files import read_json_object
from readagain.storage.model_manifest import (
    MAX_OBJECT_BYTES,
    ModelManifest,
    check_model_files,
    read_manifest,
)
from readagain.storage.tensors import TensorInfo, read_header
from readagain.text.language import find_language
from readagain.text.truecasing import CASES_FILE, Truecaser
from readagain.text.vocab import Vocab

RUN_FILE = "run.json"
SOURCE_VOCAB_FILE = "source_vocab.txt"
VOCAB_FILE = "vocab.txt"
WEIGHTS_FILE = "weights.safetensors"
PROVENANCE_FILE = "provenance.json"
SCORES_FILE = "scores.json"
CARD_FILE = "MODEL_CARD.md"
EXPORT_FILE = "export.json"
CONFIDENCE_FILE = "confidence.json"

Precision = Literal["int8", "float32"]
PRECISIONS: tuple[Precision, ...] = ("int8", "float32")
"""Precisions of exported graphs, the preferred one first."""

_REQUIRED = (RUN_FILE, SOURCE_VOCAB_FILE, VOCAB_FILE)


def graph_names(precision: str) -> tuple[str, str]:
    """Return the file names of the encoder and the step graph."""
    return f"encoder.{precision}.onnx", f"step.{precision}.onnx"


@dataclass(frozen=True)
class ModelDir:
    """Opened model folder; manifest, settings and vocabularies are consistent.

    `networks.build.find_weights` checks the shapes of the weights.
    """

    path: Path
    manifest: ModelManifest
    run: RunSpec
    source_vocab: Vocab
    vocab: Vocab
    truecaser: Truecaser

    @classmethod
    def open(cls, path: Path, *, checksums: bool = False) -> "ModelDir":
        """Open a model folder and check that its files are complete and consistent.

        With `checksums`, also verify the checksums of files that are not read here.

        Raises:
            ArtifactError: if a file is missing, truncated, changed or of a newer version.
        """
        manifest = read_manifest(path)
        optional = [name for name in (CASES_FILE, CONFIDENCE_FILE) if name in manifest.files]
        check_model_files(path, manifest, required=(*_REQUIRED, *optional), checksums=checksums)
        try:
            run = load_run(path / RUN_FILE)
            find_language(run.data.language)
        except ConfigError as error:
            raise ArtifactError(f"{error}; this version cannot use the model") from error
        return cls(
            path,
            manifest,
            run,
            source_vocab=_load_vocab(path, SOURCE_VOCAB_FILE, run.source_vocab_size),
            vocab=_load_vocab(path, VOCAB_FILE, run.vocab_size),
            truecaser=Truecaser.load(path / CASES_FILE) if CASES_FILE in optional else Truecaser(),
        )

    def has(self, name: str) -> bool:
        """Return whether the model has the file `name`."""
        return name in self.manifest.files

    @property
    def precisions(self) -> tuple[Precision, ...]:
        """Precisions of the model's graphs, the preferred one first."""
        return tuple(
            precision for precision in PRECISIONS if all(map(self.has, graph_names(precision)))
        )

    def file(self, name: str, *, purpose: str) -> Path:
        """Return the path of a file; the error for a missing one names the `purpose`."""
        if not self.has(name):
            raise ArtifactError(f"{self.path}: {purpose} needs {name}, which this model lacks")
        return self.path / name

    @cached_property
    def tensors(self) -> dict[str, TensorInfo]:
        """Data types and shapes of the weights by name."""
        return read_header(self.file(WEIGHTS_FILE, purpose="listing the tensors"))

    @cached_property
    def provenance(self) -> dict[str, Any]:
        """Training data, time, machine and package version; empty if unknown."""
        return self._read_optional(PROVENANCE_FILE)

    @cached_property
    def scores(self) -> dict[str, Any]:
        """Validation scores; empty if there are none."""
        return self._read_optional(SCORES_FILE)

    @cached_property
    def confidence(self) -> dict[str, Any]:
        """Content of `confidence.json`; empty if the file is missing."""
        return self._read_optional(CONFIDENCE_FILE)

    def _read_optional(self, name: str) -> dict[str, Any]:
        if not self.has(name):
            return {}
        return read_json_object(self.path / name, max_bytes=MAX_OBJECT_BYTES)


def _load_vocab(path: Path, name: str, expected_size: int) -> Vocab:
    """Load a vocabulary; raise an `ArtifactError` unless it has the size that `run.json` sets."""
    vocab = Vocab.load(path / name)
    if len(vocab) != expected_size:
        raise ArtifactError(
            f"{path}: {RUN_FILE} sets a vocabulary of {expected_size} words, "
            f"{name} has {len(vocab)}; was {name} edited by hand?"
        )
    return vocab


def check_new_dir(path: Path) -> None:
    """Raise an `ArtifactError` unless a folder does not exist or is empty."""
    is_new = not path.exists() and not path.is_symlink()
    if not is_new and (not path.is_dir() or any(path.iterdir())):
        raise ArtifactError(f"{path}: exists already; name a new folder")
