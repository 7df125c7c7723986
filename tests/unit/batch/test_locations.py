"""Search, description and download of input files."""

import os
from urllib.parse import unquote

import pytest

from readagain.batch.locations import check_unchanged, find_files, local_copy
from readagain.errors import DataError


@pytest.fixture
def folder(tmp_path):
    for name in ("b.jsonl", "a.jsonl", "c.txt"):
        (tmp_path / name).write_text(name)
    return tmp_path


def names(files):
    return [file.location.rpartition("/")[2] for file in files]


def test_patterns_find_each_file_once_in_order(folder):
    files = find_files([f"{folder}/c.txt", f"{folder}/*.jsonl", f"{folder}/*.txt"])
    assert names(files) == ["c.txt", "a.jsonl", "b.jsonl"]
    assert files[1].bytes == len("a.jsonl")
    assert files[1].mtime_ns == (folder / "a.jsonl").stat().st_mtime_ns


@pytest.mark.parametrize(
    "location", ["{}", pytest.param("file://{}", marks=pytest.mark.needs_extras)]
)
def test_output_files_are_skipped(folder, location):
    (folder / "out").mkdir()
    (folder / "out" / "part-00000-000000.jsonl").write_text("")
    out = location.format(folder / "out")
    inputs = find_files([location.format(f"{folder}/*.jsonl")], out=out)
    assert names(inputs) == ["a.jsonl", "b.jsonl"]
    for pattern in ("*.jsonl", "part-00000-000000.jsonl"):
        with pytest.raises(DataError, match=r"jsonl: is in the output folder .*out; ch"):
            find_files([f"{out}/{pattern}"], out=out)


def test_patterns_match_in_subfolders(folder):
    (folder / "more").mkdir()
    (folder / "more" / "d.jsonl").write_text("")
    assert names(find_files([f"{folder}/**/*.jsonl"])) == ["a.jsonl", "b.jsonl", "d.jsonl"]


def test_file_named_twice_is_rejected(folder):
    for first in (f"{folder}/a.jsonl", f"{folder}/*.jsonl"):
        with pytest.raises(DataError, match=r"a\.jsonl: given twice; name"):
            find_files([first, f"{folder}/./a.jsonl"])


def test_relative_and_absolute_path_are_one_file(folder, monkeypatch):
    monkeypatch.chdir(folder)
    with pytest.raises(DataError, match=r"a\.jsonl: given twice"):
        find_files(["a.jsonl", f"{folder}/a.jsonl"])
    assert names(find_files(["a.jsonl", f"{folder}/*.jsonl"])) == ["a.jsonl", "b.jsonl"]


def test_pipe_is_rejected(folder):
    os.mkfifo(folder / "pipe.jsonl")
    with pytest.raises(
        DataError, match=r"pipe\.jsonl: a pipe or a device, which can be read only o"
    ):
        find_files([f"{folder}/pipe.jsonl"])
    assert names(find_files([f"{folder}/*.jsonl"])) == ["a.jsonl", "b.jsonl"]


@pytest.mark.parametrize("target", ["nowhere", "linked.jsonl"], ids=["missing", "loop"])
def test_link_without_target_is_rejected(folder, target):
    (folder / "linked.jsonl").symlink_to(target)
    with pytest.raises(DataError, match=r"/linked\.jsonl: "):
        find_files([f"{folder}/*.jsonl"])


def test_file_name_with_wildcards_is_found(folder):
    (folder / "[a].jsonl").write_text("")
    assert names(find_files([f"{folder}/[a].jsonl"])) == ["[a].jsonl"]


@pytest.mark.parametrize(
    ("pattern", "message"),
    [
        ("none.jsonl", r"none\.jsonl: no such file"),
        ("*.csv", r"\*\.csv: no file matches this pattern"),
        ("", r"a folder; name its files, for example '.*/\*\.jsonl'"),
    ],
)
def test_missing_file_is_rejected(folder, pattern, message):
    with pytest.raises(DataError, match=message):
        find_files([f"{folder}/{pattern}"])


@pytest.mark.needs_extras
def test_addresses_are_found(folder):
    files = find_files([f"file://{folder}/*.jsonl", f"file://{folder}/c.txt"])
    assert names(files) == ["a.jsonl", "b.jsonl", "c.txt"]
    assert files[0].location == f"file://{folder}/a.jsonl"
    assert files[0].mtime_ns == (folder / "a.jsonl").stat().st_mtime_ns


@pytest.mark.needs_extras
@pytest.mark.parametrize(
    "name", ["a[1].jsonl", "a*b.jsonl", "a?b#.jsonl", "a 100%25.jsonl", "é.jsonl"]
)
def test_address_of_any_name_is_found_again(tmp_path, name):
    (tmp_path / name).write_text("content")
    (file,) = find_files([f"file://{tmp_path}/*.jsonl"])
    assert unquote(file.location) == f"file://{tmp_path}/{name}"
    assert find_files([file.location]) == [file]
    check_unchanged(file)
    with local_copy(file.location) as path:
        assert (path.name, path.read_text()) == (name, "content")


@pytest.mark.needs_extras
def test_address_with_brackets_is_tried_as_name_first(tmp_path):
    for name in ("a.jsonl", "[a].jsonl"):
        (tmp_path / name).write_text("")
    (file,) = find_files([f"file://{tmp_path}/[a].jsonl"])
    assert unquote(file.location) == f"file://{tmp_path}/[a].jsonl"


@pytest.mark.needs_extras
@pytest.mark.parametrize(
    ("address", "message"),
    [
        ("file://{folder}/none.jsonl", r"none\.jsonl: no such file"),
        ("file://{folder}", r"a folder; name its files"),
        ("file://{folder}/*/a.jsonl", r"may only have a pattern after"),
        ("file://{folder}/*.csv", r"\*\.csv: no file matches this pattern"),
        ("gopher://somewhere/a.jsonl", r"gopher://somewhere/a\.jsonl: cannot be reached: "),
    ],
)
def test_missing_addresses_are_rejected(folder, address, message):
    with pytest.raises(DataError, match=message):
        find_files([address.format(folder=folder)])


@pytest.mark.needs_extras
def test_remote_file_is_copied_and_removed(folder):
    with local_copy(f"file://{folder}/a.jsonl") as path:
        assert path.name == "a.jsonl"
        assert path.parent != folder
        assert path.read_text() == "a.jsonl"
    assert not path.exists()
    with (
        pytest.raises(DataError, match=r"none\.jsonl: cannot be read"),
        local_copy(f"file://{folder}/none.jsonl"),
    ):
        pass


def test_local_file_is_not_copied(folder):
    with local_copy(f"{folder}/a.jsonl") as path:
        assert path == folder / "a.jsonl"
