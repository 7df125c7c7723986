"""State of a run without its tensors, and the scores of a validation."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, Literal

from readagain.config.schema import TrainSpec

Criterion = Literal["loss", "rouge"]

STILL_IMPROVING_GAIN = 0.01
"""If the last validation lowered the dev loss by more than this fraction, the run was too short."""
MIN_PLATEAU_GAIN = 0.001
"""With the schedule `plateau`, a validation is an improvement only if it lowers the dev loss by at
least this fraction."""


@dataclass(frozen=True, kw_only=True)
class Scores:
    """Scores of a validation; ROUGE is F1 in percent, None if it was not measured."""

    step: int
    dev_loss: float
    rouge_1: float | None = None
    rouge_2: float | None = None
    rouge_l: float | None = None

    def value(self, criterion: Criterion) -> float:
        """Return the mean ROUGE or the negative dev loss; a larger value is better.

        Without ROUGE, the criterion is always the loss.
        """
        rouge = [score for score in (self.rouge_1, self.rouge_2, self.rouge_l) if score is not None]
        if criterion == "loss" or not rouge:
            return -self.dev_loss
        return sum(rouge) / len(rouge)


@dataclass(frozen=True, kw_only=True)
class TrainingState:
    """State of a run after `step` updates; the names of its fields are keys in stored files."""

    step: int = 0
    validated_step: int = 0
    """Step of the latest validation."""
    best: Scores | None = None
    """Scores of the best weights so far."""
    num_worse: int = 0
    """Number of validations since the last improvement."""
    num_plateaus: int = 0
    """Number of validations without improvement in the whole run, for the schedule `plateau`."""
    minutes: float = 0.0
    """Training time, including the time before a resume."""
    metrics_bytes: int = 0
    """Length of `metrics.jsonl`."""
    open_losses: tuple[float, ...] = ()
    """Losses of the updates that are not in the log yet."""
    has_stopped_early: bool = False
    """Whether `patience` validations in a row brought no improvement."""
    epochs: int = 0
    """Number of epochs of the whole run; 0 in states that version 0.1 stored."""
    last_gain: float = 0.0
    """Fraction by which the latest validation lowered the dev loss of the best weights."""

    @classmethod
    def from_dict(cls, content: Mapping[str, Any]) -> "TrainingState":
        """Return the state from the dictionary of `dataclasses.asdict`, read from JSON."""
        best = content["best"] and Scores(**content["best"])
        return cls(**{**content, "best": best, "open_losses": tuple(content["open_losses"])})

    def for_epochs(self, epochs: int) -> "TrainingState":
        """Return the state with a new number of epochs; a larger number resets early stopping."""
        if 0 < self.epochs < epochs:
            return replace(self, epochs=epochs, num_worse=0, has_stopped_early=False)
        return replace(self, epochs=epochs)

    def after_update(self) -> "TrainingState":
        """Return the state after one more update."""
        return replace(self, step=self.step + 1)

    def after_validation(self, scores: Scores, spec: TrainSpec) -> "TrainingState":
        """Return the state after a validation.

        Its `best` is `scores` if they are the best so far. With the schedule `plateau`, the best
        scores are no improvement if the gain is below `MIN_PLATEAU_GAIN`.
        """
        best = self.best
        is_best = best is None or scores.value(spec.best_by) > best.value(spec.best_by)
        gain = 0.0 if best is None else 1 - scores.dev_loss / best.dev_loss
        if best is None or spec.schedule != "plateau":
            is_improvement = is_best
        else:
            is_improvement = gain >= MIN_PLATEAU_GAIN
        num_worse = 0 if is_improvement else self.num_worse + 1
        return replace(
            self,
            validated_step=scores.step,
            best=scores if is_best else best,
            num_worse=num_worse,
            num_plateaus=self.num_plateaus + (not is_improvement),
            has_stopped_early=0 < spec.patience <= num_worse,
            last_gain=gain,
        )

    def is_validation_due(self, every: int, total_steps: int) -> bool:
        """Return whether the current weights must be validated now.

        This is the case every `every` updates and after the last update.
        """
        is_validation_step = self.step % every == 0 or self.step == total_steps
        is_validated = self.validated_step == self.step  # initially, both are 0
        return is_validation_step and not is_validated

    def has_ended(self, total_steps: int) -> bool:
        """Return whether training is over: stopped early, or after the last update."""
        return self.has_stopped_early or self.step >= total_steps

    @property
    def is_improving(self) -> bool:
        """Whether the gain of the latest validation was more than `STILL_IMPROVING_GAIN`."""
        return self.last_gain > STILL_IMPROVING_GAIN
