"""Decoding time and report of a reproduction."""

import pytest

from readagain.experiments import reproduce as story
from readagain.experiments.reproduce import DECODING_TIME, reproduce
from readagain.experiments.results import TIMING_FILE


@pytest.fixture
def timed(monkeypatch):
    """Record calls of the measurement instead of measuring."""
    calls = []

    def measure(out, **options):
        calls.append(options)
        (out / TIMING_FILE).write_text('{"measured": []}')

    monkeypatch.setattr(story, "measure_timing", measure)
    monkeypatch.setattr(story, "write_report", lambda out: calls.append("report") or [])
    return calls


def test_reproduce_measures_timing_once_for_table_4(small, silent, timed):
    assert reproduce(small("prefix"), silent).done == ["prefix/untrained-seed1"]
    request = small("table4")
    request.out.mkdir(exist_ok=True)
    assert reproduce(request, silent).done == [DECODING_TIME]
    assert reproduce(request, silent).done == []
    assert timed == ["report", {"scale": "small", "threads": 1}, "report", "report"]


def test_reproduce_skips_timing_over_budget(small, silent, timed):
    request = small("table4", budget_minutes=0.01)
    assert reproduce(request, silent).left == [DECODING_TIME]
    assert timed == []


def test_reproduce_without_results_writes_no_report(small, silent):
    request = small("gru_15k", budget_minutes=0.0001)
    assert reproduce(request, silent).left == ["gru_15k/modern-seed1"]


def test_rows_only_writes_no_report_and_no_timing(small, silent, timed):
    outcome = reproduce(small("prefix", "table4", rows_only=True), silent)
    assert outcome.done == ["prefix/untrained-seed1"]
    assert timed == []
