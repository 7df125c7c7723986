"""Console output of a run: a progress line on a terminal, separate lines elsewhere."""

import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import timedelta
from typing import Any

from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn

from readagain.errors import pluralize
from readagain.networks.build import count_parameters
from readagain.training.job import ResolvedJob
from readagain.training.state import Scores, TrainingState
from readagain.training.validate import Headline

PLAIN_LINE_INTERVAL_S = 10.0
"""Minimum time between two lines with losses if the output is not a terminal."""
_SAMPLE_WORDS = 20
"""Maximum number of words printed of the text of a sample."""


def print_line(console: Console, line: str, *, style: str | None = None) -> None:
    """Print a line as it is, without markup; a terminal wraps it between words."""
    console.print(
        line,
        style=style,
        markup=False,
        emoji=False,
        highlight=False,
        soft_wrap=not console.is_terminal,
    )


class Display:
    """Console output of a run."""

    def __init__(self, console: Console) -> None:
        self.console = console
        self.total_steps = 0
        self.epochs = 0
        self._progress: Progress | None = None
        self._last_line_time = -PLAIN_LINE_INTERVAL_S
        self._last_samples: Sequence[Headline] = ()

    def show_start(self, job: ResolvedJob, state: TrainingState, *, total_steps: int) -> None:
        """Print the network, the size of the corpus, notes and warnings."""
        self.total_steps, self.epochs = total_steps, job.run.train.epochs
        splits = job.corpus.manifest.splits
        self.print_line(
            f"{job.run.title}: {count_parameters(job.run):,} parameters, "
            f"{pluralize(splits['train']['pairs'], 'pair')}, {pluralize(total_steps, 'update')} "
            f"in {pluralize(self.epochs, 'epoch')}"
        )
        for note in job.notes:
            self.print_line(note)
        for warning in job.warnings:
            self.warn(warning)
        if state.step:
            self.print_line(f"resuming from step {state.step:,}")

    @contextmanager
    def progress_line(self) -> Iterator[None]:
        """Show a progress line, which `show_update` updates, on a terminal until the block ends."""
        if not self.console.is_terminal:
            yield
            return
        columns = (BarColumn(bar_width=10), TextColumn("{task.description}", markup=False))
        with Progress(*columns, console=self.console, transient=True) as self._progress:
            self._progress.add_task("", total=self.total_steps)
            yield
        self._progress = None

    def print_line(self, line: str, *, style: str | None = None) -> None:
        """Print one line."""
        print_line(self.console, line, style=style)

    def warn(self, warning: str) -> None:
        """Print a warning."""
        self.print_line(f"warning: {warning}", style="yellow")

    def show_update(self, record: Mapping[str, Any], *, seconds_left: float) -> None:
        """Show a record of `metrics.jsonl` on the progress line.

        Without a progress line, print at most one record every `PLAIN_LINE_INTERVAL_S`.
        """
        # The end is cut off on a narrow terminal.
        line = (
            f"step {record['step']:,} of {self.total_steps:,} · "
            f"{timedelta(seconds=round(seconds_left))} left · loss {record['loss']:.3f} · "
            f"epoch {record['epoch']:.2f} of {self.epochs} · "
            f"{record['pairs_per_s']:,.0f} pairs/s · rate {record['learning_rate']:.2g}"
        )
        if self._progress is not None:
            self._progress.update(
                self._progress.task_ids[0], completed=record["step"], description=line
            )
        elif time.monotonic() - self._last_line_time >= PLAIN_LINE_INTERVAL_S:
            self._last_line_time = time.monotonic()
            self.print_line(line)

    def show_estimate(self, seconds_per_step: float, steps_left: int) -> None:
        """Print the time per update and the remaining time of the run."""
        time_left = timedelta(seconds=round(seconds_per_step * steps_left))
        self.print_line(
            f"{seconds_per_step:.2g} s per update; about {time_left} left, without the validations"
        )

    def show_validation(
        self, scores: Scores, samples: Sequence[Headline], *, is_best: bool
    ) -> None:
        """Print the scores of a validation, and the sample headlines that have changed."""
        rouge = ""
        if scores.rouge_1 is not None:
            rouge = (
                f" · ROUGE F1 {scores.rouge_1:.1f} / {scores.rouge_2:.1f} / {scores.rouge_l:.1f}"
            )
        best = " · best so far" if is_best else ""
        self.print_line(
            f"validated at step {scores.step:,}: dev loss {scores.dev_loss:.3f}{rouge}{best}"
        )
        for sample in samples:
            if sample in self._last_samples:
                continue
            self.print_line(f"  text   {_truncate(sample.source)}")
            self.print_line(f"  human  {sample.reference}")
            self.print_line(f"  model  {sample.output}")
        self._last_samples = samples


def _truncate(text: str) -> str:
    """Return the first `_SAMPLE_WORDS` words of a text."""
    words = text.split()
    return " ".join(words[:_SAMPLE_WORDS]) + (" …" if len(words) > _SAMPLE_WORDS else "")
