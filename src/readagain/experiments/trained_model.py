"""Trained network of an experiment, searched with torch on any device."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from copy import copy
from dataclasses import asdict
from pathlib import Path
from typing import Any

import torch

from readagain.config.options import override_decode
from readagain.config.override import override
from readagain.config.schema import HierarchicalSpec, ModelSpec, ReadAgainSpec, RunSpec
from readagain.engine.explanation import state_movement
from readagain.engine.source import SourceReader
from readagain.engine.summarizer import MAX_TEXTS, Summarizer
from readagain.evaluation.network import PAPER_SETTINGS, NetworkSystem
from readagain.evaluation.tuning import tune
from readagain.experiments.corpora import EvaluationSet
from readagain.experiments.importance import WeightedText
from readagain.model_dir import ModelDir
from readagain.networks.build import load_network
from readagain.networks.model import EncoderDecoder
from readagain.networks.step_model import TorchStepModel
from readagain.search.features import FEATURES
from readagain.search.model import Floats

_GPU_TEXTS = 256  # texts searched together: a GPU takes as many as easily as few
_IMPORTANCE_BATCH = 64
_TUNE_OBJECTIVE = "rouge-1"
_TUNE_ROUNDS = 10


def has_features(run: RunSpec) -> bool:
    """Return whether the search uses extractive features, as ABS+ does."""
    return any(getattr(run.decode, f"{name}_bonus") for name in FEATURES)


class TrainedExperiment:
    """Network of a model directory, loaded once for all protocols."""

    def __init__(self, path: Path, device: torch.device) -> None:
        self.model_dir = ModelDir.open(path)
        self.run = self.model_dir.run
        self.device = device
        self.network = load_network(self.model_dir, purpose="evaluating").to(device)

    def with_decode(self, decode: Mapping[str, float]) -> "TrainedExperiment":
        """Return the same network with other settings of `decode`."""
        other = copy(self)
        other.run = override(self.run, {f"decode.{name}": each for name, each in decode.items()})
        return other

    def system(self, protocol: str) -> NetworkSystem:
        """Return the system that searches as the paper does for a protocol."""
        summarizer = Summarizer(
            self.run,
            self.model_dir.source_vocab,
            self.model_dir.vocab,
            TorchStepModel(self.network),
            max_texts=_GPU_TEXTS if self.device.type == "cuda" else MAX_TEXTS,
        )
        decode = override_decode(self.run.decode, PAPER_SETTINGS[protocol])
        return NetworkSystem(
            self.run.title,
            self.model_dir,
            summarizer.with_decode(**asdict(decode)),
            precision="float32",
            threads=torch.get_num_threads(),
        )

    def tune(
        self, test: EvaluationSet, on_summary: Callable[[], None]
    ) -> tuple["TrainedExperiment", dict[str, Any]]:
        """Return the model with tuned weights of the extractive features, and how they were found.

        ABS+ is tuned on DUC 2003 in its paper.
        """
        rounds = list(
            tune(
                self.system(test.protocol),
                test.data,
                test.protocol,
                objective=_TUNE_OBJECTIVE,
                max_rounds=_TUNE_ROUNDS,
                on_summary=on_summary,
            )
        )
        best = max(rounds, key=lambda each: each.value)
        return self.with_decode(best.settings), {
            "set": test.name,
            "objective": _TUNE_OBJECTIVE,
            "weights": best.weights_by_name,
            "rounds": [each.value for each in rounds],
        }

    @property
    def importance_kind(self) -> str | None:
        """`weight` (α) for a GRU, `movement` of the state for an LSTM; None if it reads once."""
        model = self.run.model
        if not isinstance(model, ModelSpec):
            return None
        if not isinstance(model.encoder, ReadAgainSpec | HierarchicalSpec):
            return None
        return "weight" if model.encoder.cell == "gru" else "movement"

    def importance(self, texts: Sequence[str], *, is_tokenized: bool) -> Iterator[WeightedText]:
        """Yield the words that the network reads of each text, with their importance."""
        reader = SourceReader(self.run, self.model_dir.source_vocab, self.model_dir.vocab)
        sources = [reader.read(text, tokenized=is_tokenized) for text in texts]
        sources = [source for source in sources if not source.is_empty]
        for start in range(0, len(sources), _IMPORTANCE_BATCH):
            chunk = sources[start : start + _IMPORTANCE_BATCH]
            batch = reader.batch(chunk)
            weights = self._batch_importance(batch)  # (B, S)
            for row, source in enumerate(chunk):
                norms = [word.norm for word in source.read_words]
                yield norms, weights[row, batch.source_valid[row]]

    @torch.inference_mode()
    def _batch_importance(self, batch: Any) -> Floats:
        network, spec = self.network, self.run.model
        assert isinstance(network, EncoderDecoder)
        assert isinstance(spec, ModelSpec)
        memory, _ = network.read(
            *(
                torch.as_tensor(array, device=self.device)
                for array in (batch.source_ids, batch.lengths, batch.source_ext_ids)
            )
        )
        if memory.importance is not None:
            weights: Floats = memory.importance.mean(-1).float().cpu().numpy()  # (B, S)
            return weights
        B, N, L = batch.source_ids.shape
        movement = state_movement(
            memory.states.float().cpu().numpy().reshape(B, N, L, -1),
            batch.source_valid.reshape(B, N, L),
            num_directions=1 + spec.encoder.bidirectional,
        )
        return movement.reshape(B, -1)
