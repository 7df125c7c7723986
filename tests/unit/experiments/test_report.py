"""Report of results of different scales."""

import json
from pathlib import Path

import pytest

from readagain.experiments.report import PAGE_FILE, write_report
from readagain.experiments.results import TIMING_FILE, write_result

RESULTS = Path(__file__).parents[3] / "docs" / "results"


def test_report_of_paper_scale_judges_claims(result, tmp_path):
    write_result(tmp_path, result("gru_15k"), {})
    write_report(tmp_path)
    page = (tmp_path / PAGE_FILE).read_text(encoding="utf-8")
    assert "## Claims" in page
    assert "| Reading again helps" in page
    assert "- `modern`: 1 runs of 10 updates (paper: about 594,000)." in page
    assert "**Small scale**" not in page


@pytest.mark.parametrize("is_timing", [False, True])
def test_report_of_small_scale_has_no_verdicts(result, tmp_path, is_timing):
    if is_timing:  # the results are those of Table 4 only
        timing = json.loads((RESULTS / TIMING_FILE).read_text())
        (tmp_path / TIMING_FILE).write_text(json.dumps({**timing, "scale": "small"}))
    else:
        write_result(tmp_path, result("gru_15k", scale="small", recipe="converged"), {})
    write_report(tmp_path)
    page = (tmp_path / PAGE_FILE).read_text(encoding="utf-8")
    assert "**Small scale**" in page
    assert "claims are not judged" in page
    for word in ("## Claims", "supported", "contradicted", "too small to tell", "converged,"):
        assert word not in page
    assert "## Table 1" in page
