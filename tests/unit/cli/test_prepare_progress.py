import pytest

from readagain.cli.progress import Lines, describe, shown_progress
from readagain.corpus.workers import JobProgress


def reading(share, records, resumed=0):
    return JobProgress(stage="reading", share=share, records=records, resumed=resumed)


def test_a_line_says_share_records_rate_and_time_left():
    line = describe(reading(0.25, 5000), elapsed_s=25.0)
    assert line == "reading  25%, 5,000 records, 200/s, 1:15 left"


def test_records_of_an_interrupted_run_do_not_count_for_the_rate():
    line = describe(reading(0.5, 5000, resumed=4000), elapsed_s=10.0)
    assert line == "reading  50%, 5,000 records, 100/s, 0:10 left"


def test_what_an_interrupted_run_had_done_does_not_shorten_the_time_left():
    progress = JobProgress(
        stage="summarizing", share=0.5, records=500, resumed=400, resumed_share=0.4
    )
    line = describe(progress, elapsed_s=10.0)
    assert line == "summarizing  50%, 500 records, 10/s, 0:50 left"


def test_nothing_done_yet_promises_nothing():
    assert describe(reading(0.0, 0), elapsed_s=0.0) == "reading   0%, 0 records"


def test_lines_come_now_and_then_and_at_the_end_of_a_stage(capsys):
    now = 0.0
    show = Lines(clock=lambda: now)
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


@pytest.mark.parametrize("is_terminal", [False, True])
def test_progress_goes_to_stderr_and_never_to_stdout(capsys, monkeypatch, is_terminal):
    monkeypatch.setattr("sys.stderr.isatty", lambda: is_terminal)
    with shown_progress("reading", "writing") as show:
        show(reading(1.0, 100))
        show(JobProgress(stage="writing", share=1.0, records=100))
    shown = capsys.readouterr()
    assert shown.out == ""
    assert "reading 100%" in shown.err
