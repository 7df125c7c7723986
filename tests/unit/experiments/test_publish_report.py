import pytest

from readagain.errors import DataError
from readagain.experiments.report import BEGIN, END, publish_report, write_report
from readagain.experiments.results import TIMING_FILE, write_result


@pytest.fixture
def reported(tmp_path, result):
    out = tmp_path / "out"
    write_result(out, result("gru_15k"), {"news": ["zyxwick sells theatre"]})
    write_report(out)
    return out


def test_publish_keeps_text_outside_the_section(reported, tmp_path):
    page = tmp_path / "docs" / "results.md"
    page.parent.mkdir()
    page.write_text(f"# Ours\n\nBefore.\n\n{BEGIN}\nold\n{END}\n\nAfter.\n")
    publish_report(reported, page)
    text = page.read_text()
    assert text.startswith(f"# Ours\n\nBefore.\n\n{BEGIN}\n\nWritten by")
    assert text.endswith(f"{END}\n\nAfter.\n")
    assert "old" not in text.split()
    publish_report(reported, page)
    assert page.read_text() == text


def test_publish_copies_figures_and_no_summaries(reported, tmp_path):
    page = tmp_path / "results.md"
    folder = publish_report(reported, page)
    assert folder == tmp_path / "results"
    assert (folder / "rows" / "gru_15k" / "modern-seed1.json").exists()
    assert (folder / "tables" / "table1.csv").exists()
    assert not list(folder.rglob("*.gz"))
    assert not list(folder.rglob("*.md"))
    assert "](results/tables/table1.png)" in page.read_text()
    write_report(folder)  # what was published can be reported on again


def test_publish_removes_old_results(reported, tmp_path):
    old = tmp_path / "results" / "rows" / "of_old" / "modern-seed1.json"
    old.parent.mkdir(parents=True)
    old.write_text("{}")
    publish_report(reported, tmp_path / "results.md")
    assert not old.exists()


def test_publish_leaves_a_page_without_marks(reported, tmp_path):
    page = tmp_path / "results.md"
    page.write_text("# Mine")
    with pytest.raises(DataError, match=r"results\.md: no lines '<!-- written by"):
        publish_report(reported, page)
    assert page.read_text() == "# Mine"


def test_publish_rejects_the_results_directory(reported):
    page = reported.with_suffix(".md")
    with pytest.raises(
        DataError, match=r"out\.md: its figures would be written into .*choose another page"
    ):
        publish_report(reported, page)
    assert (reported / "rows" / "gru_15k" / "modern-seed1.json").exists()


def test_publish_without_a_report_keeps_old_figures(reported, tmp_path):
    folder = publish_report(reported, tmp_path / "results.md")
    (reported / "results.md").unlink()
    (reported / "rows" / "gru_15k" / "modern-seed1.json").unlink()
    with pytest.raises(DataError, match=r"out: no results\.md to publish; run some"):
        publish_report(reported, tmp_path / "results.md")
    assert (folder / "rows" / "gru_15k" / "modern-seed1.json").exists()


def test_publish_removes_old_timing(reported, tmp_path):
    (reported / TIMING_FILE).write_text("{}")
    folder = publish_report(reported, tmp_path / "results.md")
    assert (folder / TIMING_FILE).exists()
    (reported / TIMING_FILE).unlink()
    publish_report(reported, tmp_path / "results.md")
    assert not (folder / TIMING_FILE).exists()
