"""A trained network as a system that is evaluated, on whichever device it lies."""

from collections.abc import Mapping
from copy import copy
from dataclasses import asdict
from pathlib import Path

import torch
from safetensors.torch import load_file

from readagain.config.options import override_decode
from readagain.config.override import override
from readagain.engine.summarizer import MAX_TEXTS, Summarizer
from readagain.evaluation.network import NetworkSystem
from readagain.evaluation.settings import PAPER_SETTINGS
from readagain.model_dir import WEIGHTS_FILE, ModelDir
from readagain.networks.build import build_model
from readagain.networks.step_model import TorchStepModel

# A GPU takes so many texts as easily as few, and then needs fewer steps.
_GPU_TEXTS = 256


class TrainedRow:
    """A model folder whose network is loaded once and evaluated by any protocol.

    Args:
        path: the folder.
        device: where to compute.
    """

    def __init__(self, path: Path, device: torch.device) -> None:
        self.folder = ModelDir.open(path)
        self.run = self.folder.run
        self.device = device
        self.network = build_model(self.run)
        weights = load_file(self.folder.file(WEIGHTS_FILE, purpose="evaluating"))
        self.network.load_state_dict(weights)
        self.network.to(device).eval().requires_grad_(False)

    def searching(self, decode: Mapping[str, float]) -> "TrainedRow":
        """Return the same network, searched with other settings of `decode`."""
        other = copy(self)
        other.run = override(self.run, {f"decode.{name}": each for name, each in decode.items()})
        return other

    def system(self, protocol: str) -> NetworkSystem:
        """Return what searches as the paper does by a protocol, on torch and not on graphs."""
        max_texts = _GPU_TEXTS if self.device.type == "cuda" else MAX_TEXTS
        summarizer = Summarizer(
            self.run,
            self.folder.source_vocab,
            self.folder.vocab,
            TorchStepModel(self.network),
            max_texts=max_texts,
        )
        decode = override_decode(self.run.decode, PAPER_SETTINGS[protocol])
        return NetworkSystem(
            self.run.title,
            self.folder,
            summarizer.searching(**asdict(decode)),
            precision="float32",
            threads=torch.get_num_threads(),
        )
