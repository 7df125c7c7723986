"""Files of output directories, and symbolic links in them."""

import pytest

from readagain.errors import DataError
from readagain.storage.output_dir import LocalDir


@pytest.fixture
def linked(tmp_path):
    """Output directory whose subdirectory `bad` is a link, and the target of the link."""
    other = tmp_path / "other"
    other.mkdir()
    (other / "part.jsonl").write_text("mine")
    out = tmp_path / "out"
    out.mkdir()
    (out / "bad").symlink_to(other)
    return LocalDir(out), other


def test_write_does_not_follow_linked_subdirectory(linked):
    directory, other = linked
    with pytest.raises(DataError, match="bad is a symbolic link, which is not followed; fix this"):
        directory.write("bad/part.jsonl", b"new")
    assert (other / "part.jsonl").read_text() == "mine"


def test_read_and_list_do_not_follow_linked_subdirectory(linked):
    directory, _ = linked
    for use in (lambda: directory.read("bad/part.jsonl"), lambda: directory.names("bad")):
        with pytest.raises(DataError, match="bad is a symbolic link, which is not followed"):
            use()


def test_remove_does_not_follow_linked_subdirectory(linked):
    directory, other = linked
    with pytest.raises(DataError, match="bad is a symbolic link, which is not followed"):
        directory.remove("bad/part.jsonl")
    directory.remove("bad")
    assert directory.names() == []
    assert (other / "part.jsonl").read_text() == "mine"


def test_directory_itself_may_be_a_link(tmp_path):
    (tmp_path / "disk").mkdir()
    (tmp_path / "out").symlink_to(tmp_path / "disk")
    LocalDir(tmp_path / "out").write("bad/part.jsonl", b"new")
    assert (tmp_path / "disk" / "bad" / "part.jsonl").read_bytes() == b"new"
