"""The mean of the latest validated weights, one of the two averages a recipe may ask for."""

from collections.abc import Iterator
from contextlib import contextmanager

import torch
from torch import Tensor, nn

_PREFIX = "latest"


class CheckpointAverage:
    """The weights of the last few validations.

    Args:
        size: how many are kept.
    """

    def __init__(self, size: int) -> None:
        self.size = size
        self.held: list[dict[str, Tensor]] = []

    def take(self, weights: dict[str, Tensor]) -> None:
        """Keep these weights, and forget the oldest beyond `size`."""
        self.held = self._with(weights)

    @contextmanager
    def averaged(self, model: nn.Module) -> Iterator[None]:
        """Let the model hold, for a while, the mean of its weights and the latest kept ones."""
        present = {name: value.clone() for name, value in model.state_dict().items()}
        averaged = self._with(present)
        mean = {
            name: torch.stack([weights[name] for weights in averaged]).mean(dim=0)
            for name in present
        }
        model.load_state_dict(mean)
        try:
            yield
        finally:
            model.load_state_dict(present)

    def _with(self, weights: dict[str, Tensor]) -> list[dict[str, Tensor]]:
        return [*self.held, weights][-self.size :]

    def state(self) -> dict[str, Tensor]:
        """Return what is kept, oldest first, by flat names."""
        return {
            f"{_PREFIX}.{place}.{name}": value
            for place, weights in enumerate(self.held)
            for name, value in weights.items()
        }

    def load_state(self, state: dict[str, Tensor], device: torch.device) -> None:
        """Keep what `state` returned, on a device; names of others are passed over."""
        held: dict[int, dict[str, Tensor]] = {}
        for key, value in state.items():
            if key.startswith(f"{_PREFIX}."):
                _, place, name = key.split(".", 2)
                held.setdefault(int(place), {})[name] = value.to(device)
        self.held = [held[place] for place in sorted(held)]
