"""Progress displays: a bar on a terminal, plain lines in a log."""

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from readagain.errors import pluralize

if TYPE_CHECKING:
    from rich.progress import Task, TaskID

    from readagain.corpus.workers import JobProgress

LINE_INTERVAL_S = 10.0
"""Seconds between lines in a log."""
MIN_TEXTS = 100
"""Minimum number of texts for which progress is shown."""


@contextmanager
def job_progress() -> Iterator["Callable[[JobProgress], None]"]:
    """Yield a function that shows the progress of a job: a bar for each stage, or log lines."""
    if not sys.stderr.isatty():
        yield LineProgress()
        return
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

    columns = (BarColumn(), TextColumn("{task.description}"), TimeElapsedColumn())
    with Progress(*columns, console=Console(stderr=True)) as bars:
        tasks: dict[str, TaskID] = {}  # by stage

        def show(progress: "JobProgress") -> None:
            if progress.stage not in tasks:
                tasks[progress.stage] = bars.add_task(progress.stage, total=1.0)
            task = tasks[progress.stage]
            text = describe_progress(progress, elapsed_s=bars.tasks[task].elapsed or 0.0)
            bars.update(task, completed=progress.share, description=text)

        yield show


class LineProgress:
    """Progress as log lines: one every few seconds, and one before each new stage."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._stage_start = self._last_line_time = clock()
        self._previous: JobProgress | None = None

    def __call__(self, progress: "JobProgress") -> None:
        """Print a line if a new stage begins or the last line is `LINE_INTERVAL_S` old."""
        now = self._clock()
        if self._previous is not None and self._previous.stage != progress.stage:
            self._print(self._previous, now)
            self._stage_start = now
        elif now - self._last_line_time >= LINE_INTERVAL_S:
            self._print(progress, now)
        self._previous = progress

    def _print(self, progress: "JobProgress", now: float) -> None:
        self._last_line_time = now
        print(
            describe_progress(progress, elapsed_s=now - self._stage_start),
            file=sys.stderr,
            flush=True,
        )


def describe_progress(progress: "JobProgress", *, elapsed_s: float) -> str:
    """Return stage, share, number of records, rate and remaining time in one line."""
    num_new = progress.records - progress.resumed
    parts = [f"{progress.stage} {progress.share:4.0%}", pluralize(progress.records, "record")]
    # When the stage "writing" starts, all records are counted already.
    if progress.stage != "writing" and elapsed_s > 0 and num_new:
        parts.append(f"{num_new / elapsed_s:,.0f}/s")
    if progress.resumed_share < progress.share < 1:
        left_s = elapsed_s * (1 - progress.share) / (progress.share - progress.resumed_share)
        parts.append(f"{int(left_s // 60)}:{int(left_s % 60):02d} left")
    return ", ".join(parts)


def format_rate(task: "Task") -> str:
    """Return the number of texts per second; empty before the first text."""
    if not (task.completed and task.elapsed):
        return ""
    per_s = task.completed / task.elapsed
    return f"{per_s:,.0f}/s" if per_s >= 10 else f"{per_s:.1f}/s"


@contextmanager
def text_progress(
    total: int | None = None, *, is_shown: bool = True
) -> Iterator[Callable[[], None]]:
    """Yield a function to call after each text; show the count on a terminal.

    Nothing is shown for fewer than `MIN_TEXTS` texts.

    Args:
        total: number of texts, if known.
        is_shown: False if summaries are printed on the same terminal.
    """
    is_small = total is not None and total < MIN_TEXTS
    if is_small or not (is_shown and sys.stderr.isatty()):
        yield lambda: None
        return
    from rich.console import Console
    from rich.progress import MofNCompleteColumn, Progress, ProgressColumn
    from rich.text import Text

    class RateColumn(ProgressColumn):
        def render(self, task: "Task") -> Text:
            return Text(format_rate(task))

    columns = (*Progress.get_default_columns(), MofNCompleteColumn(), RateColumn())
    with Progress(*columns, console=Console(stderr=True), transient=total is not None) as bars:
        task = bars.add_task("summarizing", total=total, visible=total is not None)

        def count() -> None:
            bars.advance(task)
            if total is None and bars.tasks[0].completed == MIN_TEXTS:
                bars.update(task, visible=True)

        yield count
