"""Files of one text a line, and the ways in which they can be wrong."""

import pytest

from readagain.errors import DataError
from readagain.rouge.files import read_references, read_texts, require_equal_lengths


@pytest.fixture
def write(tmp_path):
    def write(name, content):
        path = tmp_path / name
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return path

    return write


def test_a_text_ends_at_a_line_feed_and_nowhere_else(write):
    content = "one\u2028still one\x0cand one\r\n\nthree"
    assert read_texts(write("x.txt", content)) == ["one\u2028still one\x0cand one", "", "three"]


def test_a_last_line_feed_adds_no_text(write):
    assert read_texts(write("x.txt", "one\ntwo\n")) == ["one", "two"]


def test_a_byte_order_mark_is_no_text(write):
    assert read_texts(write("x.txt", b"\xef\xbb\xbfone\n")) == ["one"]


def test_a_missing_file_is_named(tmp_path):
    with pytest.raises(DataError, match=r"absent\.txt: no such file"):
        read_texts(tmp_path / "absent.txt")


def test_a_folder_is_no_file(tmp_path):
    with pytest.raises(DataError, match="cannot be read: Is a directory"):
        read_texts(tmp_path)


def test_an_empty_file_is_refused(write):
    with pytest.raises(DataError, match=r"x\.txt: empty file; expected one text a line"):
        read_texts(write("x.txt", ""))


def test_another_encoding_is_named_with_its_line(write):
    message = r"x\.txt:2: byte 0xe9 is not UTF-8; .*iconv -f latin1 -t utf-8 x\.txt"
    with pytest.raises(DataError, match=message):
        read_texts(write("x.txt", "one\ncafé\n".encode("latin-1")))
    with pytest.raises(DataError, match=r"x\.txt: UTF-16 text; .*iconv -f utf-16 -t utf-8 x\.txt"):
        read_texts(write("x.txt", "one\n".encode("utf-16")))


def test_references_are_grouped_by_line(write):
    paths = [write("a.txt", "a1\na2\n"), write("b.txt", "b1\nb2\n")]
    assert read_references(paths) == [["a1", "b1"], ["a2", "b2"]]


def test_an_empty_reference_is_named_with_its_line(write):
    with pytest.raises(DataError, match=r"b\.txt:2: empty reference; .* line 2 out of every file"):
        read_references([write("a.txt", "a1\na2\n"), write("b.txt", "b1\n \n")])


def test_references_of_unequal_length_are_named_with_their_counts(write):
    with pytest.raises(DataError, match=r"line counts differ: .*a\.txt has 2, .*b\.txt has 1;"):
        read_references([write("a.txt", "a1\na2\n"), write("b.txt", "b1\n")])


def test_files_of_equal_length_belong_together(tmp_path):
    require_equal_lengths({tmp_path / "a": 3, tmp_path / "b": 3})
