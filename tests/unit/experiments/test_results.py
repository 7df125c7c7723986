"""Result files: writing, reading and damaged files."""

import json
import shutil

import numpy as np
import pytest

from readagain.errors import ArtifactError
from readagain.experiments.results import (
    pack_scores,
    read_result,
    read_results,
    result_file,
    unpack_scores,
    write_result,
)


def test_pack_scores_keeps_hundredths_of_a_percent():
    scores = np.random.default_rng(1).random((50, 3))
    np.testing.assert_allclose(unpack_scores(pack_scores(scores)), scores, atol=0.5e-4)
    assert len(pack_scores(scores)) < 8 * scores.size


def test_result_round_trip(tmp_path, result, read_summaries):
    before = result("gru_15k")
    write_result(tmp_path, before, {"news": ["a summary", "été | \n"]})
    assert read_results(tmp_path) == [before]
    path = tmp_path / "summaries" / "gru_15k/modern-seed1.jsonl.gz"
    assert read_summaries(path) == {"news": ["a summary", "été | \n"]}


def test_result_file_has_no_summary(tmp_path, result):
    write_result(tmp_path, result("gru_15k"), {"news": ["zyxwick sells theatre"]})
    assert "zyxwick" not in result_file(tmp_path, "gru_15k/modern-seed1").read_text()


def test_results_of_several_machines_can_be_copied_together(tmp_path, result):
    for machine, row in (("one", "gru_15k"), ("two", "gru_69k")):
        write_result(tmp_path / machine, result(row), {})
    for machine in ("one", "two"):
        shutil.copytree(tmp_path / machine, tmp_path / "all", dirs_exist_ok=True)
    assert [result.row for result in read_results(tmp_path / "all")] == ["gru_15k", "gru_69k"]


def test_copy_of_a_result_under_another_name_is_an_error(tmp_path, result):
    write_result(tmp_path, result("gru_15k"), {})
    path = result_file(tmp_path, "gru_15k/modern-seed1")
    shutil.copyfile(path, path.with_name("modern-seed1-old.json"))
    with pytest.raises(
        ArtifactError,
        match=r"seed1-old\.json: contains the result rows/gru_15k/modern-seed1\.json; move it",
    ):
        read_results(tmp_path)


@pytest.mark.parametrize(
    "content", ["{", "[]", '{"format_version": 1}', '{"format_version": 1, "sets": {"a": {}}}']
)
def test_damaged_result_is_reported(tmp_path, content):
    path = tmp_path / "x.json"
    path.write_text(content)
    with pytest.raises(ArtifactError, match=r"x\.json: not a result of 'readagain reproduce'"):
        read_result(path)


def test_result_of_another_format_version_is_an_error(tmp_path, result):
    write_result(tmp_path, result("gru_15k"), {})
    path = result_file(tmp_path, "gru_15k/modern-seed1")
    path.write_text(json.dumps({**json.loads(path.read_text()), "format_version": 9}))
    with pytest.raises(ArtifactError, match="format 9; this version of readagain reads 1"):
        read_result(path)
