"""Arguments that name texts, files or pipes."""

import errno
import socket
from pathlib import Path

import pytest

from readagain.cli.inputs import read_inputs
from readagain.errors import DataError
from readagain.formats.texts import TextReadOptions


@pytest.mark.parametrize("number", [errno.EACCES, errno.EIO])
def test_unreadable_file_name_is_not_summarized(monkeypatch, number):
    def fail(path):
        raise OSError(number, "no luck")

    monkeypatch.setattr(Path, "is_file", fail)
    with pytest.raises(DataError, match="^closed/notes: cannot be read: no luck$"):
        read_inputs(["closed/notes"], TextReadOptions(), command="summarize")


@pytest.mark.parametrize(
    ("name", "reason"),
    [
        ("circle", "circle: a link without a target; name a file"),
        ("dangling", "dangling: a link without a target; name a file"),
        ("socket", "socket: neither a file nor a pipe; name a file"),
    ],
)
def test_name_of_an_unusable_file_is_not_summarized(tmp_path, monkeypatch, name, reason):
    monkeypatch.chdir(tmp_path)
    Path("circle").symlink_to("circle")
    Path("dangling").symlink_to("nowhere")
    with socket.socket(socket.AF_UNIX) as server:
        server.bind("socket")
        with pytest.raises(DataError, match=f"^{reason}$"):
            read_inputs([name], TextReadOptions(), command="summarize")


def test_read_error_has_the_path(tmp_path, monkeypatch):
    def fail(path, *args, **options):
        raise OSError(errno.EIO, "Input/output error")

    path = tmp_path / "a.txt"
    path.write_text("A text.")
    records = read_inputs([str(path)], TextReadOptions(), command="summarize")
    monkeypatch.setattr(Path, "open", fail)
    with pytest.raises(DataError, match=r"a\.txt: cannot be read: Input/output error"):
        next(records)
