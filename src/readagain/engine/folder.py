"""The model folder, where training and inference meet, opened and checked.

```
FOLDER/
  model.json            format version, package version, bytes and sha256 of every file below
  run.json              every setting, resolved
  source_vocab.txt      the encoder's words; vocab.txt the decoder's
  cases.txt             how the decoder's words are written; folders of before have none
  weights.safetensors   the weights; a folder made for inference alone may leave them out
  provenance.json       what it was trained on, when, where, by which version
  scores.json           the figures of its validation
  MODEL_CARD.md
  *.onnx, export.json   graphs for inference, once exported
```

Other files, such as the log and the resume state of a run, may lie beside these; the manifest
does not name them and nothing here reads them. `engine/manifest.py` writes such a folder.
"""

from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from readagain.config.files import load_run
from readagain.config.parameters import count_parameters
from readagain.config.schema import RunSpec
from readagain.engine.graphs import PRECISIONS, Precision, graph_names
from readagain.engine.manifest import ModelManifest, check_files, read_manifest, read_object
from readagain.engine.tensors import TensorInfo, read_header
from readagain.errors import ArtifactError, ConfigError
from readagain.text.cases import CASES_FILE, Truecaser
from readagain.text.vocab import Vocab

RUN_FILE = "run.json"
SOURCE_VOCAB_FILE = "source_vocab.txt"
VOCAB_FILE = "vocab.txt"
WEIGHTS_FILE = "weights.safetensors"
PROVENANCE_FILE = "provenance.json"
SCORES_FILE = "scores.json"
CARD_FILE = "MODEL_CARD.md"

_ALWAYS_THERE = (RUN_FILE, SOURCE_VOCAB_FILE, VOCAB_FILE)
# Tensors with one row for each word, and the setting that counts the words.
_WORD_TENSORS = {
    "source_embedding.weight": "source_vocab_size",
    "previous_words.embedding.weight": "vocab_size",
    "output.project.weight": "vocab_size",
}


@dataclass(frozen=True)
class ModelDir:
    """A model folder whose manifest, settings, vocabularies and tensor shapes belong together."""

    path: Path
    manifest: ModelManifest
    run: RunSpec
    source_vocab: Vocab
    vocab: Vocab
    cases: Truecaser

    @classmethod
    def open(cls, path: Path, *, checksums: bool = False) -> "ModelDir":
        """Open a folder and check that everything in it is there and fits together.

        Args:
            path: the folder.
            checksums: compare the contents of all files, not only of those that are read here.

        Raises:
            ArtifactError: saying what is missing, cut short, changed, foreign or too new.
        """
        manifest = read_manifest(path)
        optional = (CASES_FILE,) if CASES_FILE in manifest.files else ()
        check_files(path, manifest, needed=(*_ALWAYS_THERE, *optional), checksums=checksums)
        try:
            run = load_run(path / RUN_FILE)
        except ConfigError as error:
            raise ArtifactError(f"{error}; this version cannot use the model") from error
        folder = cls(
            path,
            manifest,
            run,
            source_vocab=Vocab.load(path / SOURCE_VOCAB_FILE),
            vocab=Vocab.load(path / VOCAB_FILE),
            cases=Truecaser.load(path / CASES_FILE) if optional else Truecaser(),
        )
        _check_vocabularies(folder)
        if folder.has(WEIGHTS_FILE):
            _check_weights(folder)
        return folder

    def has(self, name: str) -> bool:
        """Say whether the model holds the file `name`."""
        return name in self.manifest.files

    @property
    def precisions(self) -> tuple[Precision, ...]:
        """The precisions that it holds graphs of; the first is taken unless one is asked for."""
        return tuple(each for each in PRECISIONS if all(map(self.has, graph_names(each))))

    def file(self, name: str, *, purpose: str) -> Path:
        """Return the path of a file of the model.

        Raises:
            ArtifactError: when the model lacks it; `purpose` begins the sentence.
        """
        if not self.has(name):
            raise ArtifactError(f"{self.path}: {purpose} needs {name}, which this model lacks")
        return self.path / name

    @cached_property
    def tensors(self) -> dict[str, TensorInfo]:
        """Names, types and shapes of the weights."""
        return read_header(self.file(WEIGHTS_FILE, purpose="listing the tensors"))

    @cached_property
    def provenance(self) -> dict[str, Any]:
        """What the model was trained on, when, where and by which version; empty if unknown."""
        return self._object(PROVENANCE_FILE)

    @cached_property
    def scores(self) -> dict[str, Any]:
        """The figures of its validation; empty if there are none."""
        return self._object(SCORES_FILE)

    def _object(self, name: str) -> dict[str, Any]:
        return read_object(self.path / name) if self.has(name) else {}


def _check_vocabularies(folder: ModelDir) -> None:
    for name, vocab, expected in (
        (SOURCE_VOCAB_FILE, folder.source_vocab, folder.run.source_vocab_size),
        (VOCAB_FILE, folder.vocab, folder.run.vocab_size),
    ):
        if len(vocab) != expected:
            raise ArtifactError(
                f"{folder.path}: the run is for a vocabulary of {expected} words, "
                f"{name} has {len(vocab)}; was {name} edited by hand?"
            )


def _check_weights(folder: ModelDir) -> None:
    path, tensors = folder.path / WEIGHTS_FILE, folder.tensors
    for name, setting in _WORD_TENSORS.items():
        expected = getattr(folder.run, setting)
        if name not in tensors:
            raise ArtifactError(f"{path}: no tensor '{name}'; these are other weights")
        if tensors[name].shape[:1] != (expected,):
            raise ArtifactError(
                f"{path}: tensor '{name}' has shape {tensors[name].shape}; "
                f"expected {expected} rows, one for each word"
            )
    found, expected = sum(info.size for info in tensors.values()), count_parameters(folder.run)
    if found != expected:
        raise ArtifactError(
            f"{path}: {found:,} parameters; {RUN_FILE} describes a network of {expected:,}"
        )
