"""Progress displays: a line that changes on a terminal, plain lines in a log."""

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from readagain.errors import pluralize

if TYPE_CHECKING:
    from rich.progress import Progress, TaskID

    from readagain.corpus.workers import JobProgress

LINE_INTERVAL_S = 10.0
"""Seconds between lines in a log."""
MIN_TEXTS = 100
"""Minimum number of texts for which progress is shown."""


@contextmanager
def job_progress() -> Iterator["Callable[[JobProgress], None]"]:
    """Yield a function that shows the progress of a job: one line per stage, or log lines."""
    if not sys.stderr.isatty():
        yield LineProgress()
        return
    with _terminal_lines() as lines:
        first = lines.add_task("starting", total=1.0)
        tasks: dict[str, TaskID] = {}  # by stage

        def show(progress: "JobProgress") -> None:
            if progress.stage not in tasks:
                tasks[progress.stage] = lines.add_task("", total=1.0) if tasks else first
            task = tasks[progress.stage]
            text = describe_progress(progress, elapsed_s=lines.tasks[task].elapsed or 0.0)
            lines.update(task, completed=progress.share, description=text)

        yield show


def _terminal_lines(*, transient: bool = False) -> "Progress":
    """Return a display with a line per task: a spinner and its description.

    It has no bar, which looks full at any share without colors, and which Ctrl-C prints twice,
    since the line fills the terminal.
    """
    from rich.console import Console
    from rich.progress import Progress, SpinnerColumn, TextColumn

    columns = (SpinnerColumn(), TextColumn("{task.description}", markup=False))
    return Progress(*columns, console=Console(stderr=True), transient=transient)


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
        parts.append(_format_left(left_s))
    return ", ".join(parts)


def describe_count(number: int, total: int | None, *, elapsed_s: float) -> str:
    """Return the number of summarized texts, the rate and the remaining time in one line."""
    if total is None:
        parts = [f"summarizing {pluralize(number, 'text')}"]
    else:
        parts = [f"summarizing {number:,} of {pluralize(total, 'text')}"]
    if number and elapsed_s > 0:
        per_s = number / elapsed_s
        parts.append(f"{per_s:,.0f}/s" if per_s >= 10 else f"{per_s:.1f}/s")
        if total is not None and number < total:
            parts.append(_format_left((total - number) / per_s))
    return ", ".join(parts)


def _format_left(left_s: float) -> str:
    return f"{int(left_s // 60)}:{int(left_s % 60):02d} left"


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
    with _terminal_lines(transient=total is not None) as lines:
        start = describe_count(0, total, elapsed_s=0.0)
        task = lines.add_task(start, total=total, visible=total is not None)
        number = 0

        def count() -> None:
            nonlocal number
            number += 1
            text = describe_count(number, total, elapsed_s=lines.tasks[0].elapsed or 0.0)
            is_visible = total is not None or number >= MIN_TEXTS
            lines.update(task, completed=number, description=text, visible=is_visible)

        yield count
