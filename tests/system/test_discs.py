"""The commands of docs/gigaword-and-duc.md, run on invented discs."""

import json
import re
from pathlib import Path

import pytest
from discs import write_annotated_gigaword, write_duc

from readagain.experiments.catalog import select_experiments

PAGE = (Path(__file__).parents[2] / "docs" / "gigaword-and-duc.md").read_text(encoding="utf-8")
# Rows of one and of two sentences, with networks that are trained in seconds.
ROWS = ["prefix", "read_again_lstm_copy_15k", "two_sentences_option2_copy_15k"]
SMALL = ["--scale", "small", "--epochs", "1", "--device", "cpu"]


@pytest.mark.slow
def test_page_leads_from_discs_to_tables(tmp_path, readagain, monkeypatch):
    monkeypatch.chdir(tmp_path)
    write_annotated_gigaword(tmp_path / "LDC2012T21")
    for year in (2003, 2004):
        write_duc(tmp_path / f"DUC{year}", year)
    block, *smaller = re.findall(r"^```\n(.*?)^```$", PAGE, flags=re.DOTALL | re.MULTILINE)
    prepare, first, second, reproduce, tables = (line.split()[1:] for line in block.splitlines())
    for command in smaller:  # the same command for some of the experiments
        names, options = command.split(" --", maxsplit=1)
        assert f"reproduce --{options}".split() == reproduce
        assert select_experiments(names.split()[2:])
    for command in (prepare, first, second, [*reproduce, *ROWS, *SMALL], tables):
        done = readagain(*command)
        assert done.returncode == 0, done.stderr
    result = json.loads(Path("tables/rows/prefix/untrained-seed1.json").read_text())
    assert list(result["sets"]) == ["gigaword", "test", "DUC2003", "DUC2004"]
    assert [each["figure"] for each in result["sets"].values()] == ["f1", "f1", "recall", "recall"]
    page = Path("tables/results.md").read_text(encoding="utf-8")
    assert "DUC2004" in page
    assert "### The paper's inputs" in page
