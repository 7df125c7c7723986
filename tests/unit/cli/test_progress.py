"""Progress on a terminal and in a log."""

import io
import re
from contextlib import redirect_stderr

import pytest

from readagain.cli.progress import (
    MIN_TEXTS,
    LineProgress,
    describe_count,
    describe_progress,
    job_progress,
    text_progress,
)
from readagain.corpus.workers import JobProgress

MANY = MIN_TEXTS + 20


class Terminal(io.StringIO):
    def isatty(self):
        return True


@pytest.fixture(autouse=True)
def capable_terminal(monkeypatch):
    monkeypatch.setenv("TERM", "xterm")


def shown_for(progress, number):
    """Count `number` texts and return what a terminal shows."""
    with redirect_stderr(Terminal()) as terminal, progress as count:
        for _ in range(number):
            count()
    return terminal.getvalue()


def test_many_texts_are_counted():
    assert f"summarizing {MANY} texts, " in shown_for(text_progress(), MANY)
    assert f"summarizing {MANY} of {MANY} texts, " in shown_for(text_progress(MANY), MANY)


@pytest.mark.parametrize("total", [None, MANY])
def test_line_is_too_short_for_ctrl_c_to_wrap_it(total, monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    shown = re.sub(r"\x1b\[[0-9;?]*[a-zA-Z]", "", shown_for(text_progress(total), MANY))
    assert max(map(len, re.split("[\r\n]+", shown))) < 70
    assert "━" not in shown


def test_count_has_rate_and_remaining_time():
    assert describe_count(300, None, elapsed_s=4.0) == "summarizing 300 texts, 75/s"
    assert describe_count(300, 1200, elapsed_s=4.0) == (
        "summarizing 300 of 1,200 texts, 75/s, 0:12 left"
    )
    assert describe_count(1200, 1200, elapsed_s=4.0) == "summarizing 1,200 of 1,200 texts, 300/s"


def test_rate_is_over_the_whole_time():
    """Summaries arrive in batches, so the rate of the last seconds would be too high."""
    assert describe_count(3, None, elapsed_s=4.0) == "summarizing 3 texts, 0.8/s"
    assert describe_count(0, None, elapsed_s=0.0) == "summarizing 0 texts"
    assert re.search(r"\d/s", shown_for(text_progress(), MANY))


def test_few_texts_are_not_counted():
    assert "5 texts" not in shown_for(text_progress(), 5)
    assert shown_for(text_progress(5), 5) == ""


def test_count_can_be_hidden():
    assert shown_for(text_progress(is_shown=False), MANY) == ""


@pytest.mark.parametrize("total", [MANY, None])
def test_texts_are_not_counted_in_a_log(total, capsys):
    with text_progress(total) as count:
        for _ in range(MANY):
            count()
    assert capsys.readouterr().err == ""


def reading(share, records, resumed=0):
    return JobProgress(stage="reading", share=share, records=records, resumed=resumed)


def test_line_has_share_records_rate_and_remaining_time():
    line = describe_progress(reading(0.25, 5000), elapsed_s=25.0)
    assert line == "reading  25%, 5,000 records, 200/s, 1:15 left"


def test_rate_excludes_resumed_records():
    line = describe_progress(reading(0.5, 5000, resumed=4000), elapsed_s=10.0)
    assert line == "reading  50%, 5,000 records, 100/s, 0:10 left"


def test_remaining_time_excludes_resumed_share():
    progress = JobProgress(
        stage="summarizing", share=0.5, records=500, resumed=400, resumed_share=0.4
    )
    line = describe_progress(progress, elapsed_s=10.0)
    assert line == "summarizing  50%, 500 records, 10/s, 0:50 left"


def test_line_without_progress_has_no_rate():
    assert describe_progress(reading(0.0, 0), elapsed_s=0.0) == "reading   0%, 0 records"


def test_log_has_lines_at_intervals_and_ends_of_stages(capsys):
    now = 0.0
    show = LineProgress(clock=lambda: now)
    for now, progress in (  # noqa: B007
        (1.0, reading(0.1, 10)),
        (11.0, reading(0.5, 50)),
        (12.0, reading(1.0, 100)),
        (13.0, JobProgress(stage="writing", share=0.5, records=100)),
    ):
        show(progress)
    assert capsys.readouterr().err.splitlines() == [
        "reading  50%, 50 records, 5/s, 0:11 left",
        "reading 100%, 100 records, 8/s",
    ]


def test_job_without_progress_says_that_it_starts():
    with redirect_stderr(Terminal()) as terminal, job_progress():
        pass
    assert "starting" in terminal.getvalue()


@pytest.mark.parametrize("is_terminal", [False, True])
def test_job_progress_is_printed_to_stderr_only(capsys, monkeypatch, is_terminal):
    monkeypatch.setattr("sys.stderr.isatty", lambda: is_terminal)
    with job_progress() as show:
        show(reading(1.0, 100))
        show(JobProgress(stage="writing", share=1.0, records=100))
    shown = capsys.readouterr()
    assert shown.out == ""
    assert "reading 100%" in shown.err
