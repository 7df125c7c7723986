"""How far a run has come: everything a resumed run must know besides tensors."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, Literal

from readagain.config.schema import TrainSpec

Aim = Literal["loss", "rouge"]


@dataclass(frozen=True, kw_only=True)
class Scores:
    """What a validation found; the ROUGE figures are F1, in per cent, None when not measured."""

    step: int
    dev_loss: float
    rouge_1: float | None = None
    rouge_2: float | None = None
    rouge_l: float | None = None

    def goodness(self, aim: Aim) -> float:
        """Return a number that is larger for better weights."""
        figures = (self.rouge_1, self.rouge_2, self.rouge_l)
        if aim == "loss" or None in figures:
            return -self.dev_loss
        return sum(figure for figure in figures if figure is not None) / len(figures)


@dataclass(frozen=True, kw_only=True)
class TrainingState:
    """Where a run stands after `step` updates; a value, like every state here."""

    step: int = 0
    validated_step: int = 0
    """The step of the latest validation."""
    best: Scores | None = None
    num_worse: int = 0
    """Validations since the best one."""
    minutes: float = 0.0
    """Time spent on all parts of the run."""
    metrics_bytes: int = 0
    """Length of the log up to here."""
    open_losses: tuple[float, ...] = ()
    """Losses since the last line of the log."""
    has_stopped_early: bool = False

    @classmethod
    def from_dict(cls, facts: Mapping[str, Any]) -> "TrainingState":
        """Return what `dataclasses.asdict` was given, before it went through JSON."""
        best = facts["best"] and Scores(**facts["best"])
        return cls(**{**facts, "best": best, "open_losses": tuple(facts["open_losses"])})

    def after_update(self) -> "TrainingState":
        """Count one more update."""
        return replace(self, step=self.step + 1)

    def after_validation(self, scores: Scores, spec: TrainSpec) -> "TrainingState":
        """Take in what a validation found; `best` is these scores if they are the best so far."""
        best = self.best
        is_better = best is None or scores.goodness(spec.best_by) > best.goodness(spec.best_by)
        num_worse = 0 if is_better else self.num_worse + 1
        return replace(
            self,
            validated_step=scores.step,
            best=scores if is_better else best,
            num_worse=num_worse,
            has_stopped_early=0 < spec.patience <= num_worse,
        )

    def is_validation_due(self, *, every: int, total_steps: int) -> bool:
        """Say whether these weights should be validated, and have not yet been."""
        is_point = self.step % every == 0 or self.step == total_steps
        return self.step > 0 and is_point and self.validated_step < self.step

    def has_ended(self, total_steps: int) -> bool:
        """Say whether no update is left to do."""
        return self.has_stopped_early or self.step >= total_steps
