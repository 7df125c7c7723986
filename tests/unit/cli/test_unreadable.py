"""Paths that cannot be read or written: every command prints one line with the path.

CI runs as root, who may read every file. So these tests use links that form a loop, files in place
of folders, folders in place of files, and injected errors.
"""

import json
from pathlib import Path

import pytest
from injected_faults import Faults, injected_faults

TOY = Path(__file__).parents[2] / "assets" / "models" / "toy"
BAD = "BAD"
"""Placeholder, in the commands below, of the path that cannot be used."""


def link_in_a_circle(folder):
    path = folder / "circle"
    path.symlink_to(path)
    return path


def name_below_a_file(folder):
    (folder / "file").write_text("A text.")
    return folder / "file" / "name.jsonl"


def folder_without_content(folder):
    path = folder / "folder.jsonl"
    path.mkdir()
    return path


READ = {
    "summarize": ["summarize", BAD, "--model", TOY],
    "summarize model": ["summarize", "A text.", "--model", BAD],
    "explain": ["explain", BAD, "--model", TOY],
    "explain model": ["explain", "A text.", "--model", BAD],
    "batch": ["batch", BAD, "out", "--model", TOY, "--workers", 1],
    "batch model": ["batch", "texts.jsonl", "out", "--model", BAD, "--workers", 1],
    "prepare": ["prepare", BAD, "--out", "out", "--workers", 1],
    "prepare dev": ["prepare", "pairs.jsonl", "--dev", BAD, "--out", "out", "--workers", 1],
    "rouge": ["rouge", BAD, "texts.jsonl"],
    "rouge references": ["rouge", "texts.jsonl", BAD],
    "evaluate": ["evaluate", "--model", TOY, "--data", BAD],
    "evaluate model": ["evaluate", "--model", BAD, "--data", "pairs.jsonl"],
    "models": ["models", BAD],
    "serve keys": ["serve", "--model", TOY, "--api-key-file", BAD, "--port", 0],
    "serve": ["serve", "--model", BAD, "--port", 0],
    "train": ["train", "tiny", "--data", BAD, "--out", "out"],
    "fit": ["fit", BAD, "--out", "out"],
    "export": ["export", BAD],
}
WRITE = {
    "summarize": ["summarize", "A text.", "--model", TOY, "-o", BAD],
    "explain": ["explain", "A text.", "--model", TOY, "--html", BAD],
    "batch": ["batch", "texts.jsonl", BAD, "--model", TOY, "--workers", 1],
    "prepare": ["prepare", "pairs.jsonl", "--out", BAD, "--workers", 1],
    "evaluate": ["evaluate", "--model", TOY, "--data", "pairs.jsonl", "--save", BAD],
    "fit": ["fit", "pairs.jsonl", "--out", BAD],
}


@pytest.fixture
def workplace(tmp_path, monkeypatch):
    """Return a folder with texts and pairs, which is the current one."""
    records = [{"text": f"A storm came {n}.", "headline": f"Storm {n}"} for n in range(40)]
    lines = "".join(json.dumps(record) + "\n" for record in records)
    for name in ("texts.jsonl", "pairs.jsonl"):
        (tmp_path / name).write_text(lines)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def check_refusal(done, path):
    assert done.returncode == 2, (done.stdout, done.stderr)
    *_, message = done.stderr.splitlines()
    assert message.startswith("readagain: ")
    assert str(path) in message
    assert "Traceback" not in done.stderr


@pytest.mark.needs_extras
@pytest.mark.parametrize("make", [link_in_a_circle, name_below_a_file, folder_without_content])
@pytest.mark.parametrize("name", READ)
def test_path_that_cannot_be_read_is_named(name, make, workplace, readagain):
    path = make(workplace)
    check_refusal(readagain(*(path if word == BAD else word for word in READ[name])), path)


@pytest.mark.needs_extras
@pytest.mark.parametrize("make", [link_in_a_circle, name_below_a_file])
@pytest.mark.parametrize("name", WRITE)
def test_path_that_cannot_be_written_is_named(name, make, workplace, readagain):
    path = make(workplace)
    check_refusal(readagain(*(path if word == BAD else word for word in WRITE[name])), path)


@pytest.mark.needs_extras
@pytest.mark.parametrize("name", READ)
def test_file_without_permission_is_named(name, workplace, readagain):
    path = workplace / "denied.jsonl"
    path.write_text('{"text": "A storm.", "headline": "Storm"}\n')
    arguments = [path if word == BAD else word for word in READ[name]]
    with injected_faults(Faults(path, fail_at=1, is_lasting=True)):
        done = readagain(*arguments)
    check_refusal(done, path)
