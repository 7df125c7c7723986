"""Every script of examples/, run in a process."""

import json
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
TOY = ROOT / "tests" / "assets" / "models" / "toy"


def test_example_summarizes_lines(example, tmp_path):
    file = tmp_path / "texts.txt"
    file.write_text("A storm hit the harbour of Zyx.\nThe museum of Gonago opens on Monday.\n")
    done = example("summarize_lines.py", file, "--model", TOY)
    assert done.returncode == 0, done.stderr
    headlines, origins = done.stdout.splitlines()[::2], done.stdout.splitlines()[1::2]
    assert len(headlines) == len(origins) == 2
    assert "[Zyx]" in origins[0]
    assert "Zyx" in headlines[0]


def test_example_without_arguments_uses_bundled_model(example):
    done = example("summarize_lines.py")
    assert done.returncode == 0, done.stderr
    assert len(done.stdout.splitlines()) == 4


def test_example_compares_two_systems(example):
    done = example("score_with_rouge.py")
    assert done.returncode == 0, done.stderr
    assert "ours    rouge-1  0.88" in done.stdout
    assert "rouge-1: better by 0.47" in done.stdout


def test_style_follows_the_support_of_a_headline(example, tmp_path):
    text = "A storm closed the harbour of Eltor on Monday."
    headlines = {
        "Storm closed harbour of Eltor": "faithful",
        "Storm closed the port of Eltor": "close",
        "Eltor harbour hit by storm": "free",
    }
    pairs = tmp_path / "pairs.jsonl"
    pairs.write_text(
        "".join(json.dumps({"text": text, "headline": each}) + "\n" for each in headlines)
    )
    done = example("style_pairs.py", pairs, tmp_path)
    assert done.returncode == 0, done.stderr
    sources = (tmp_path / "train.article.txt").read_text().splitlines()
    styles = [source.split()[-1] for source in sources]
    assert styles == [f"<{style}>" for style in headlines.values()]


@pytest.mark.slow
def test_example_model_copies_an_unseen_name(trained_example):
    folder, done = trained_example
    assert done.returncode == 0, done.stderr
    headline = done.stdout.splitlines()[-1]
    assert headline.startswith("Zyxwick ")
    assert headline.endswith(" 212-year-old theatre")
    assert "zyxwick" not in (folder / "model" / "source_vocab.txt").read_text().split()


def test_every_example_is_tested():
    paths = [*(ROOT / "tests" / "system").glob("*.py"), *(ROOT / "tests" / "unit").rglob("*.py")]
    tests = "".join(path.read_text(encoding="utf-8") for path in paths)
    names = [path.name for path in (ROOT / "examples").glob("*.py")]
    assert len(names) >= 3
    assert [name for name in names if f'"{name}"' not in tests] == []
