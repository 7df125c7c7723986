"""Commands and sample headlines of the README, and the bundled models with their model cards."""

import re
import shlex
from pathlib import Path

import pytest

from readagain import Summarizer

ROOT = Path(__file__).parents[2]
README = (ROOT / "README.md").read_text(encoding="utf-8")
COMMAND = re.compile(r"<!-- (the main job|the tests) -->\n```sh\n(.+)\n```")
SAMPLE = re.compile(r"^> (?P<text>[^*\n].+)\n>\n> \*\*(?P<headline>.+)\*\*$", re.MULTILINE)


def test_readme_has_two_set_up_commands():
    assert [which for which, _ in COMMAND.findall(README)] == ["the main job", "the tests"]


def test_readme_command_prints_the_headline_shown(readagain):
    found = re.search(r"<!-- the main job -->\n```sh\n(.+)\n```\n\n```\n(.+)\n```", README)
    assert found is not None
    *_, text = shlex.split(found[1])
    done = readagain("summarize", text)
    assert (done.returncode, done.stdout) == (0, f"{found[2]}\n")


@pytest.mark.parametrize("sample", SAMPLE.findall(README), ids=lambda sample: sample[1])
def test_readme_sample_matches_model_output(sample):
    text, headline = sample
    assert Summarizer.load("news").summarize(text).text == headline


def test_readme_has_three_samples():
    assert len(SAMPLE.findall(README)) == 3


@pytest.mark.parametrize("name", ["news", "papers"])
def test_bundled_model_is_complete_and_small(name, readagain):
    folder = ROOT / "src" / "readagain" / "models" / name
    done = readagain("models", folder)
    assert (done.returncode, done.stderr) == (0, "")
    assert "all checksums match" in done.stdout
    assert sum(file.stat().st_size for file in folder.iterdir()) <= 36_000_000


def test_faults_on_the_quality_page_are_real():
    page = (ROOT / "docs/quality.md").read_text(encoding="utf-8")
    rows = page.partition("`news` writes these headlines:")[2].partition("\n## ")[0].splitlines()
    cells = [[cell.strip() for cell in row.split("|")[1:-1]] for row in rows if row.count("|") == 4]
    examples = cells[2:]  # after the heading and the line below it
    assert len(examples) == 4
    model = Summarizer.load("news")
    for _, text, headline in examples:
        assert model.summarize(text).text == headline
