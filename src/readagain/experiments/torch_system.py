"""A trained network as a system that is evaluated, on whichever device it lies."""

from pathlib import Path

import torch
from safetensors.torch import load_file

from readagain.engine.folder import WEIGHTS_FILE, ModelFolder
from readagain.engine.summarizer import MAX_TEXTS, Summarizer
from readagain.evaluation.network import Network
from readagain.evaluation.settings import PROTOCOL_SETTINGS
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
        self.folder = ModelFolder.open(path)
        self.device = device
        self.network = build_model(self.folder.run)
        weights = load_file(self.folder.file(WEIGHTS_FILE, purpose="evaluating"))
        self.network.load_state_dict(weights)
        self.network.to(device).eval().requires_grad_(False)

    def system(self, protocol: str) -> Network:
        """Return what `readagain evaluate` would load, with torch in the place of the graphs."""
        run = self.folder.run
        max_texts = _GPU_TEXTS if self.device.type == "cuda" else MAX_TEXTS
        summarizer = Summarizer(
            run,
            self.folder.source_vocab,
            self.folder.vocab,
            TorchStepModel(self.network),
            max_texts=max_texts,
        )
        return Network(
            run.title,
            self.folder,
            summarizer,
            precision="float32",
            threads=torch.get_num_threads(),
            settings=PROTOCOL_SETTINGS[protocol],
        )
