import pytest

from readagain.errors import DataError
from readagain.experiments.publish import BEGIN, END, publish
from readagain.experiments.report import write_report
from readagain.experiments.results import write_result


@pytest.fixture
def reported(tmp_path, result):
    out = tmp_path / "out"
    write_result(out, result("gru_15k"), {"news": ["zyxwick sells theatre"]})
    write_report(out)
    return out


def test_words_of_a_person_stay_around_what_is_written(reported, tmp_path):
    page = tmp_path / "docs" / "results.md"
    page.parent.mkdir()
    page.write_text(f"# Ours\n\nBefore.\n\n{BEGIN}\nold\n{END}\n\nAfter.\n")
    publish(reported, page)
    text = page.read_text()
    assert text.startswith(f"# Ours\n\nBefore.\n\n{BEGIN}\n\nWritten by")
    assert text.endswith(f"{END}\n\nAfter.\n")
    assert "old" not in text.split()
    publish(reported, page)
    assert page.read_text() == text


def test_figures_are_published_and_texts_are_not(reported, tmp_path):
    page = tmp_path / "results.md"
    folder = publish(reported, page)
    assert folder == tmp_path / "results"
    assert (folder / "rows" / "gru_15k" / "modern-seed1.json").exists()
    assert (folder / "tables" / "table1.csv").exists()
    assert not list(folder.rglob("*.gz"))
    assert not list(folder.rglob("*.md"))
    assert "](results/tables/table1.png)" in page.read_text()
    write_report(folder)  # what was published can be reported on again


def test_rows_that_are_gone_leave_the_published_folder(reported, tmp_path):
    old = tmp_path / "results" / "rows" / "of_old" / "modern-seed1.json"
    old.parent.mkdir(parents=True)
    old.write_text("{}")
    publish(reported, tmp_path / "results.md")
    assert not old.exists()


def test_a_page_without_marks_is_not_touched(reported, tmp_path):
    page = tmp_path / "results.md"
    page.write_text("# Mine")
    with pytest.raises(DataError, match=r"results\.md: expected the lines '<!-- written by"):
        publish(reported, page)
    assert page.read_text() == "# Mine"
