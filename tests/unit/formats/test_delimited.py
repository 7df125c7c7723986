"""Records of CSV and TSV files."""

import re

import pytest
from corpus_records import read_records

from readagain.corpus.inputs import Example
from readagain.errors import DataError
from readagain.formats import delimited
from readagain.formats.lines import TOO_LONG
from readagain.formats.records import InvalidRecord
from readagain.formats.texts import TextReadOptions, read_texts


@pytest.mark.parametrize(
    ("name", "delimiter"), [("a.csv", ","), ("a.csv", ";"), ("a.tsv", "\t"), ("a.csv", "\t")]
)
def test_delimiter_is_detected(tmp_path, name, delimiter):
    path = tmp_path / name
    rows = [["id", "description", "title"], ["1", "A storm came", "Storm"]]
    path.write_text("".join(delimiter.join(row) + "\n" for row in rows))
    assert read_records(path) == [Example("A storm came", "Storm")]


def test_delimiter_inside_quotes_is_ignored(tmp_path):
    path = tmp_path / "a.csv"
    path.write_text('"id, old, new";text;headline\n1;A storm came;Storm\n')
    assert read_records(path) == [Example("A storm came", "Storm")]


def test_quoted_field_keeps_line_breaks(tmp_path):
    path = tmp_path / "a.csv"
    path.write_text('text,headline\n"A storm, they say,\ncame ""at last"".",Storm\nCalm.,Calm\n')
    assert read_records(path) == [
        Example('A storm, they say,\ncame "at last".', "Storm"),
        Example("Calm.", "Calm"),
    ]


def test_missing_column_error_lists_columns(tmp_path):
    path = tmp_path / "a.csv"
    path.write_text("id,body\n1,A storm came\n")
    with pytest.raises(
        DataError,
        match=r"a\.csv: no column for the headline; expected one of headline, .*"
        r"found 'id', 'body'; set headline_column",
    ):
        read_records(path)


def test_columns_can_be_set(tmp_path):
    path = tmp_path / "a.csv"
    path.write_text("text,headline,teaser\nA storm came,Storm,It is windy\n")
    assert read_records(path, headline_column="teaser") == [Example("A storm came", "It is windy")]
    with pytest.raises(DataError, match=r"no column 'lead'; set text_column to one of 'text', "):
        read_records(path, text_column="lead")


def test_short_row_error_has_first_line_number(tmp_path):
    path = tmp_path / "a.csv"
    path.write_text('text,headline\n"two\nlines",fine\nonly one\n')
    assert read_records(path)[1] == InvalidRecord(
        f"{path}:4",
        "1 field; the header has 2 ('text', 'headline'); check for a missing quote or delimiter",
        ["only one"],
    )


def test_invalid_byte_makes_one_row_invalid(tmp_path):
    path = tmp_path / "a.csv"
    path.write_bytes(b"text,headline\ncaf\xe9,x\nfine,y\n")
    bad, good = read_records(path)
    assert good == Example("fine", "y")
    assert bad.where == f"{path}:2"
    assert "'text' contains byte 0xe9, which is not valid in this encoding" in bad.reason
    assert "set encoding (for example cp1252)" in bad.format_reason()


def test_header_in_another_encoding_is_an_error(tmp_path):
    path = tmp_path / "a.csv"
    path.write_bytes("text,headline,Überschrift\nfine,x,y\n".encode("cp1252"))
    for read in (read_records, lambda path: list(read_texts(path, TextReadOptions()))):
        with pytest.raises(DataError, match=r"a\.csv: the header contains byte 0xdc, .* cp1252"):
            read(path)
    assert read_records(path, encoding="cp1252") == [Example("fine", "x")]


def test_unclosed_quote_error_has_line_of_quote(tmp_path):
    path = tmp_path / "a.csv"
    path.write_text('text,headline\nfine,y\n"open,' + "x" * 99 + "\n" + ("z" * 999 + "\n") * 2000)
    with pytest.raises(
        DataError,
        match=r"a\.csv:3: a row of more than 1,048,576 bytes; check for an unclosed quote",
    ):
        read_records(path)


def test_unclosed_quote_at_end_makes_row_invalid(tmp_path):
    path = tmp_path / "a.csv"
    path.write_text('text,headline\nfine,y\n"open,x\nmore,z\n')
    good, bad = read_records(path)
    assert good == Example("fine", "y")
    assert bad.where == f"{path}:3"
    assert "a quote that opens here is never closed, so the rest of the file" in bad.reason


def test_carriage_return_makes_one_row_invalid(tmp_path):
    path = tmp_path / "a.csv"
    path.write_bytes(b'text,headline\r\na\rb,x\r\n"c\rd",y\r\n')
    bad, good = read_records(path)
    assert good == Example("c\rd", "y")
    assert bad.where == f"{path}:2"
    assert "a carriage return inside a row; expected lines that end in LF or CR LF" in bad.reason


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"text\xff,\x00\n", r"a\.csv: the header contains byte 0xff, which is not valid"),
        (b"text,headline\ra,b\r", r"a\.csv:1: a carriage return inside a row; expected lines"),
        (
            b"text,headline,text\na,b,c\n",
            r"a\.csv: two columns are called 'text'; rename",
        ),
        (b'"text,headline\na,b\n', r"a\.csv:1: a quote that opens here is never closed"),
    ],
)
def test_invalid_header_is_rejected(tmp_path, content, message):
    path = tmp_path / "a.csv"
    path.write_bytes(content)
    with pytest.raises(DataError, match=message):
        read_records(path)


def test_long_quoted_field_makes_row_invalid(tmp_path):
    path = tmp_path / "a.csv"
    path.write_text('text,headline\n"open' + "\n" * 3_000_000 + '",x\n')
    with pytest.raises(
        DataError,
        match=r"a\.csv:2: a row of more than 1,048,576 bytes; check for an unclosed quote",
    ):
        read_records(path)


def test_long_csv_line_is_rejected(tmp_path):
    path = tmp_path / "a.csv"
    path.write_text("text,headline\n" + "x" * 10_000_000 + ",y\nfine,y\n")
    assert read_records(path) == [InvalidRecord(f"{path}:2", TOO_LONG), Example("fine", "y")]


def test_csv_blocks_are_contiguous(tmp_path, monkeypatch):
    path = tmp_path / "a.csv"
    path.write_text("text,headline\n" + "".join(f"text {n},head {n}\n" for n in range(5)))
    monkeypatch.setattr(delimited, "BLOCK_RECORDS", 2)
    assert read_records(path) == [Example(f"text {n}", f"head {n}") for n in range(5)]


def test_csv_blocks_are_limited_by_rows_and_bytes(tmp_path, monkeypatch):
    path = tmp_path / "a.csv"
    path.write_text('text\naa\n"b\nb"\ncc\ndddddddd\ne\n')

    def blocks(records_per_block=None):
        all_blocks = delimited.read_blocks(path, "utf-8", records_per_block=records_per_block)
        return [(block.first, [row[0] for _, row in block.payload]) for block in all_blocks]

    by_number = [(2, ["aa", "b\nb"]), (5, ["cc", "dddddddd"]), (7, ["e"])]  # numbered by line
    assert blocks(records_per_block=2) == by_number
    monkeypatch.setattr(delimited, "BLOCK_RECORDS", 2)
    assert blocks() == by_number
    monkeypatch.setattr(delimited, "BLOCK_RECORDS", 100)
    monkeypatch.setattr(delimited, "BLOCK_BYTES", 60)
    assert blocks() == by_number  # the same split


@pytest.mark.parametrize("row", [b"," * 400, b"x" * 400 + b"\ry"], ids=["empty", "invalid"])
def test_empty_cells_and_invalid_rows_count_in_csv_blocks(tmp_path, monkeypatch, row):
    path = tmp_path / "a.csv"
    path.write_bytes(b"text\n" + (row + b"\n") * 4)
    monkeypatch.setattr(delimited, "BLOCK_BYTES", 500)
    blocks = list(delimited.read_blocks(path, "utf-8"))
    assert len(blocks) == (4 if row.startswith(b",") else 2)


def test_long_column_name_is_truncated_in_message(tmp_path):
    path = tmp_path / "a.csv"
    path.write_bytes(b"text" + b" " * 5_000 + b",headline\ncaf\xe9,b\n")
    (bad,) = read_records(path)
    assert re.match(r"'text {70,79}… contains byte 0xe9", bad.reason)


def test_row_after_long_line_has_its_own_line_number(tmp_path):
    path = tmp_path / "a.csv"
    path.write_text("text,headline\n" + "x" * 2_000_000 + ",y\nbro\rken,z\n")
    assert [record.where for record in read_records(path)] == [f"{path}:2", f"{path}:3"]
