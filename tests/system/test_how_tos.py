"""Commands and Python snippets of the README, the quickstart and the how-tos."""

import gzip
import json
import re
import shlex
import shutil
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from unittest.mock import MagicMock, create_autospec

import pytest
import typer

import readagain
from readagain.cli.main import COMMANDS, build_app, main

ROOT = Path(__file__).parents[2]
PAGES = sorted([*ROOT.glob("*.md"), *ROOT.glob("docs/*.md"), *ROOT.glob("docs/results/*.md")])
NORWAY = (
    "Norway's economic output shrank by 3.1 percent in the second quarter, the statistics office "
    "said on Tuesday."
)
SESSIONS = ["README.md", "docs/quickstart.md", "docs/app.md", "docs/presets.md"]
OTHER_SESSIONS = {
    "docs/add-an-encoder.md": "tests/system/test_how_tos.py",
    "docs/own-model.md": "tests/system/test_how_tos.py",
    "docs/beam-search.md": "tests/unit/search/test_docs.py",
    "docs/data.md": "tests/system/test_prepare_docs.py",
    "docs/explain.md": "tests/unit/explain/test_docs.py",
}
"""Pages whose snippets have a test of their own."""
ELSEWHERE = {
    "serve": "tests/system/test_serving.py",
    "prepare": "tests/system/test_prepare_docs.py",
    "train": "tests/system/test_pipeline.py",
    "fit": "tests/system/test_fit.py",
    "reproduce": "tests/system/test_reproduce.py",
}
"""Commands that other tests run, since they take long or do not end."""


def blocks(page: str, *languages: str) -> list[str]:
    text = (ROOT / page).read_text(encoding="utf-8")
    found = re.findall(r"^```(\w*)\n(.*?)^```$", text, flags=re.DOTALL | re.MULTILINE)
    return [block for language, block in found if language in languages]


def commands(page: str) -> Iterator[list[str]]:
    """Yield the words of every `readagain` command in the code blocks of a page."""
    for block in blocks(page, "", "sh", "bash", "console"):
        for line in block.replace("\\\n", " ").replace(" && ", "\n").splitlines():
            found = re.match(r"(?:[^'\"]*?(?:\| |-m |/bin/)|\$ )?readagain ([a-z]+ ?.*)", line)
            if found:
                command = re.sub(r" [<>] \S+$", "", found[1])
                yield shlex.split(command, comments=True)


@pytest.mark.parametrize("path", PAGES, ids=lambda path: str(path.relative_to(ROOT)))
def test_commands_have_valid_options(path):
    group = typer.main.get_command(build_app())
    for name, *arguments in commands(str(path.relative_to(ROOT))):
        assert name in COMMANDS
        numbers = ["1" if argument == "N" else argument for argument in arguments]
        group.commands[name].make_context(name, numbers)


def run_snippets(page: str) -> None:
    """Run the Python blocks of a page as one session."""
    session: dict[str, object] = {}
    for snippet in blocks(page, "python"):
        exec(compile(snippet, page, "exec"), session)


@pytest.mark.parametrize("page", SESSIONS)
def test_snippets_run_as_one_session(page, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    run_snippets(page)


def test_encoder_page_computes_a_gradient(capsys):
    run_snippets("docs/add-an-encoder.md")
    assert capsys.readouterr().out == "torch.Size([64, 32, 5])\n"


def test_fit_snippet_has_valid_arguments(monkeypatch):
    fit = create_autospec(readagain.fit, return_value=MagicMock())
    monkeypatch.setattr("readagain.fitting.fit.fit", fit)
    run_snippets("docs/own-model.md")
    fit.assert_called_once_with("pairs.csv", out="models/mine")


def test_every_page_with_snippets_is_tested():
    pages = {str(path.relative_to(ROOT)) for path in PAGES}
    assert {page for page in pages if blocks(page, "python")} == {*SESSIONS, *OTHER_SESSIONS}


def run_command(*arguments: str) -> None:
    """Run a command in this process; it must succeed."""
    with pytest.raises(SystemExit) as end:
        main(arguments)
    assert not end.value.code, arguments


@pytest.fixture
def run_page(tmp_path, monkeypatch) -> Callable[..., list[str]]:
    """Run the commands of a page in a folder with the files that they read."""
    monkeypatch.chdir(tmp_path)
    record = json.dumps({"text": NORWAY}) + "\n"
    for name in ("article.txt", "abstract.txt", "wire.txt"):
        Path(name).write_text(NORWAY + "\n", encoding="utf-8")
    for name in ("articles.jsonl", "news.jsonl"):
        Path(name).write_text(record, encoding="utf-8")
    Path("news").mkdir()
    Path("news/1.jsonl.gz").write_bytes(gzip.compress(record.encode()))

    def run(page: str, *, extra: dict[str, list[str]] | None = None, skip: str = "") -> list[str]:
        names = []
        for name, *arguments in commands(page):
            if name in ELSEWHERE or skip in arguments:
                continue
            if "--output" in arguments:
                Path(arguments[arguments.index("--output") + 1]).unlink(missing_ok=True)
            with Path("wire.txt").open(encoding="utf-8") as wire:
                monkeypatch.setattr(sys, "stdin", wire)
                run_command(name, *arguments, *(extra or {}).get(name, []))
            names.append(name)
        return names

    return run


def test_quickstart_prints_what_it_shows(run_page, capsys):
    assert run_page("docs/quickstart.md") == ["summarize", "summarize"]
    shown = blocks("docs/quickstart.md", "")[2]
    assert capsys.readouterr().out == shown
    (line,) = Path("headlines.jsonl").read_text(encoding="utf-8").splitlines()
    assert json.loads(line)["summary"] == shown.strip()


def test_app_page_commands_run(run_page):
    assert run_page("docs/app.md") == ["summarize"] * 4


def test_explain_page_commands_run(run_page):
    assert run_page("docs/explain.md") == ["explain"] * 4
    assert Path("article.html").exists()
    assert Path("abstract.png").exists()


def test_batch_page_commands_run(run_page):
    commands_run = run_page("docs/batch.md", skip="ray", extra={"batch": ["--workers", "1"]})
    assert commands_run == ["batch"] * 2
    (part,) = Path("headlines").glob("part-*.jsonl")
    (joined,) = Path("by-file").glob("*.jsonl")
    assert json.loads(part.read_text(encoding="utf-8"))["summary"].startswith("Norway")
    assert joined.read_bytes() == part.read_bytes()


@pytest.mark.slow
def test_export_and_evaluation_pages_run(run_page, trained_example):
    folder, _ = trained_example
    shutil.copytree(folder / "model", "runs/mine")
    shutil.copytree(folder / "prepared", "data/mine")
    assert run_page("docs/export.md", skip="--shortlist") == ["export"] * 2
    run_command(*next(commands("docs/evaluation.md")), "--limit", "5")


def test_pages_and_commands_that_run_elsewhere_have_a_test():
    for page, path in OTHER_SESSIONS.items():
        assert Path(page).name in (ROOT / path).read_text(encoding="utf-8")
    for name, path in ELSEWHERE.items():
        assert f'"{name}"' in (ROOT / path).read_text(encoding="utf-8")
