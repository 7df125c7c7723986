"""Decoding time and report of a reproduction."""

import pytest

from readagain.experiments import reproduce as reproduce_module
from readagain.experiments.reproduce import DECODING_TIME, reproduce
from readagain.experiments.results import TIMING_FILE


@pytest.fixture
def timed(monkeypatch):
    """Record calls of the measurement instead of measuring."""
    calls = []

    def measure(out, **options):
        calls.append(options)
        (out / TIMING_FILE).write_text('{"measured": []}')

    monkeypatch.setattr(reproduce_module, "measure_timing", measure)
    monkeypatch.setattr(reproduce_module, "write_report", lambda out: calls.append("report") or [])
    return calls


def test_reproduce_measures_timing_once_for_table_4(small, silent, timed):
    assert reproduce(small("prefix"), silent).done == ["prefix/untrained-seed1"]
    options = small("table4")
    options.out.mkdir(exist_ok=True)
    assert reproduce(options, silent).done == [DECODING_TIME]
    assert reproduce(options, silent).done == []
    assert timed == ["report", {"scale": "small", "threads": 1}, "report", "report"]
