"""Stopping rule of the recipe `converged`, for trainers that are not ours.

This module imports neither torch nor readagain, since OpenNMT-py runs in an environment of its own.
"""

from dataclasses import dataclass

MIN_GAIN = 0.001
PATIENCE = 3


@dataclass
class PlateauRule:
    """State of the rule after some validations.

    A validation that does not lower the best loss by at least 0.1% is a plateau. Each plateau
    halves the learning rate, and three in a row end the training.
    """

    best_loss: float | None = None
    num_plateaus: int = 0
    num_worse: int = 0

    def update(self, loss: float) -> bool:
        """Record the loss of a validation; return whether it is the lowest so far."""
        is_best = self.best_loss is None or loss < self.best_loss
        if self.best_loss is None or loss <= self.best_loss * (1 - MIN_GAIN):
            self.num_worse = 0
        else:
            self.num_worse += 1
            self.num_plateaus += 1
        if is_best:
            self.best_loss = loss
        return is_best

    @property
    def rate_factor(self) -> float:
        """Factor of the learning rate."""
        return 0.5**self.num_plateaus

    @property
    def has_ended(self) -> bool:
        """Whether the training ends."""
        return self.num_worse >= PATIENCE
