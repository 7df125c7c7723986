"""Show how far a long piece of work has come: a bar on a terminal, plain lines elsewhere."""

import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING

from readagain.counts import counted

if TYPE_CHECKING:
    from readagain.corpus.workers import JobProgress

LINE_EVERY_S = 10.0
PROGRESS_FROM = 100
"""Texts below which a bar only gets in the way."""


@contextmanager
def shown_progress(
    *stages: str,
) -> Iterator["Callable[[JobProgress], None]"]:
    """Yield the function to call with every progress through these stages."""
    if sys.stderr.isatty():
        with _bar(stages) as show:
            yield show
    else:
        yield Lines()


class Lines:
    """One line now and then, and one at the end of each stage: for logs."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._start = self._last = clock()
        self._before: JobProgress | None = None

    def __call__(self, progress: "JobProgress") -> None:
        """Print a line when the last one is old enough, or a stage is done."""
        now = self._clock()
        if self._before is not None and self._before.stage != progress.stage:
            self._print(self._before, now)
            self._start = now
        elif now - self._last >= LINE_EVERY_S:
            self._print(progress, now)
        self._before = progress

    def _print(self, progress: "JobProgress", now: float) -> None:
        self._last = now
        print(describe(progress, elapsed_s=now - self._start), file=sys.stderr, flush=True)


def describe(progress: "JobProgress", *, elapsed_s: float) -> str:
    """Say it in a line: share, pairs, rate and time left."""
    done = progress.records - progress.resumed
    parts = [f"{progress.stage} {progress.share:4.0%}", counted(progress.records, "record")]
    if progress.stage != "writing" and elapsed_s > 0 and done:
        parts.append(f"{done / elapsed_s:,.0f}/s")
    if progress.resumed_share < progress.share < 1:
        left_s = elapsed_s * (1 - progress.share) / (progress.share - progress.resumed_share)
        parts.append(f"{int(left_s // 60)}:{int(left_s % 60):02d} left")
    return ", ".join(parts)


@contextmanager
def _bar(stages: Sequence[str]) -> Iterator["Callable[[JobProgress], None]"]:
    from rich.console import Console
    from rich.progress import BarColumn, TextColumn, TimeElapsedColumn
    from rich.progress import Progress as RichProgress

    columns = (
        BarColumn(),
        TextColumn("{task.description}"),
        TimeElapsedColumn(),
    )
    with RichProgress(*columns, console=Console(stderr=True)) as bars:
        start = time.monotonic()
        tasks = {stage: bars.add_task(stage, total=1.0) for stage in stages}
        stage = stages[0]

        def show(progress: "JobProgress") -> None:
            nonlocal start, stage
            if progress.stage != stage:
                stage, start = progress.stage, time.monotonic()
            text = describe(progress, elapsed_s=time.monotonic() - start)
            bars.update(tasks[progress.stage], completed=progress.share, description=text)

        yield show


@contextmanager
def counting_to(total: int) -> Iterator[Callable[[], None]]:
    """Show how far the work has come, on a terminal and where it takes a while."""
    if not sys.stderr.isatty() or total < PROGRESS_FROM:
        yield lambda: None
        return
    from rich.console import Console
    from rich.progress import (
        BarColumn,
        MofNCompleteColumn,
        Progress,
        TextColumn,
        TimeRemainingColumn,
    )

    columns = (
        TextColumn("summarizing"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeRemainingColumn(),
    )
    with Progress(*columns, console=Console(stderr=True), transient=True) as bars:
        task = bars.add_task("", total=total)
        yield lambda: bars.advance(task)


@contextmanager
def counted_texts(*, to_file: bool) -> Iterator[Callable[[], None]]:
    """Count texts on the terminal, once there are many and they do not appear there themselves."""
    if not sys.stderr.isatty() or (sys.stdout.isatty() and not to_file):
        yield lambda: None
        return
    from rich.console import Console
    from rich.progress import Progress, TextColumn, TimeElapsedColumn

    done = 0
    with Progress(
        TextColumn("{task.completed:,} texts"),
        TextColumn("{task.fields[rate]}"),
        TimeElapsedColumn(),
        console=Console(stderr=True),
    ) as bars:
        task = bars.add_task("summarizing", total=None, visible=False, rate="")

        def count() -> None:
            nonlocal done
            done += 1
            speed = bars.tasks[0].speed
            rate = f"{speed:,.0f}/s" if speed else ""
            bars.update(task, advance=1, visible=done >= PROGRESS_FROM, rate=rate)

        yield count
