"""Files of one text per line, valid and invalid."""

import pytest

from readagain.errors import DataError
from readagain.rouge.files import read_references, read_text_lines, require_equal_lengths


@pytest.fixture
def write(tmp_path):
    def write(name, content):
        path = tmp_path / name
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return path

    return write


def test_read_text_lines_splits_at_line_feeds_only(write):
    content = "one\u2028still one\x0cand one\r\n\nthree"
    assert read_text_lines(write("x.txt", content)) == [
        "one\u2028still one\x0cand one",
        "",
        "three",
    ]


def test_read_text_lines_ignores_the_last_line_feed(write):
    assert read_text_lines(write("x.txt", "one\ntwo\n")) == ["one", "two"]


def test_read_text_lines_skips_a_byte_order_mark(write):
    assert read_text_lines(write("x.txt", b"\xef\xbb\xbfone\n")) == ["one"]


def test_read_text_lines_names_a_missing_file(tmp_path):
    with pytest.raises(DataError, match=r"absent\.txt: no such file"):
        read_text_lines(tmp_path / "absent.txt")


def test_read_text_lines_rejects_a_directory(tmp_path):
    with pytest.raises(DataError, match="a folder; expected a file"):
        read_text_lines(tmp_path)


def test_read_text_lines_rejects_an_empty_file(write):
    with pytest.raises(DataError, match=r"x\.txt: empty file; expected one text per line"):
        read_text_lines(write("x.txt", ""))


def test_read_text_lines_names_the_line_that_is_not_utf8(write):
    message = r"x\.txt:2: byte 0xe9 is not UTF-8; .*iconv -f latin1 -t utf-8 x\.txt"
    with pytest.raises(DataError, match=message):
        read_text_lines(write("x.txt", "one\ncafé\n".encode("latin-1")))
    with pytest.raises(DataError, match=r"x\.txt: UTF-16 text; .*iconv -f utf-16 -t utf-8 x\.txt"):
        read_text_lines(write("x.txt", "one\n".encode("utf-16")))


def test_read_references_groups_lines_by_item(write):
    paths = [write("a.txt", "a1\na2\n"), write("b.txt", "b1\nb2\n")]
    assert read_references(paths) == [["a1", "b1"], ["a2", "b2"]]


def test_read_references_names_an_empty_reference(write):
    with pytest.raises(DataError, match=r"b\.txt:2: empty reference; .* remove line 2 from"):
        read_references([write("a.txt", "a1\na2\n"), write("b.txt", "b1\n \n")])


def test_read_references_rejects_unequal_lengths(write):
    with pytest.raises(DataError, match=r"line counts differ: .*a\.txt has 2, .*b\.txt has 1;"):
        read_references([write("a.txt", "a1\na2\n"), write("b.txt", "b1\n")])


def test_files_of_equal_length_are_accepted(tmp_path):
    require_equal_lengths({tmp_path / "a": 3, tmp_path / "b": 3})
