"""Texts and the other fields of their records."""

import gzip
import io
import json
import sys
from dataclasses import replace
from pathlib import Path
from types import ModuleType

import pytest

from readagain.engine.summary import Summary, add_summary
from readagain.errors import ConfigError, DataError, MissingExtraError
from readagain.formats import parquet
from readagain.formats import texts as formats_texts
from readagain.formats.jsonl import to_json
from readagain.formats.records import InvalidRecord, valid_records
from readagain.formats.texts import (
    TextReadOptions,
    TextRecord,
    parse_block,
    read_blocks,
    read_schema,
    read_stream,
    read_texts,
)


def read(path, **options):
    return list(valid_records(read_texts(path, TextReadOptions(**options)), "stop"))


def texts(records):
    return [record.text for record in records]


def test_text_file_is_one_text(tmp_path):
    path = tmp_path / "article.txt"
    path.write_bytes(b"\xef\xbb\xbfOne.\n\nTwo.\n")
    (record,) = read(path)
    assert record.text == "One.\n\nTwo.\n"
    assert record.fields == {"file": str(path)}


def test_lines_format_has_one_text_per_line(tmp_path):
    path = tmp_path / "many.txt"
    path.write_text("One.\n\nTwo.\r\n")
    assert texts(read(path, format="lines")) == ["One.", "", "Two."]


def test_jsonl_keeps_fields_and_detects_text_column(tmp_path):
    path = tmp_path / "news.jsonl.gz"
    rows = [{"id": 7, "article": "A ferry."}, {"id": 8, "article": "", "more": [1]}]
    path.write_bytes(gzip.compress("\n".join(map(json.dumps, rows)).encode()))
    records = read(path)
    assert texts(records) == ["A ferry.", ""]
    assert [record.fields for record in records] == rows
    assert records[1].where == f"{path}:2"


def test_unnamed_csv_columns_are_accepted(tmp_path):
    path = tmp_path / "news.csv"
    path.write_text("text,id,,\nA ferry.,7,,\n")
    (record,) = read(path)
    assert record.fields == {"text": "A ferry.", "id": "7", "": ""}


def test_json_file_is_read_as_jsonl(tmp_path):
    path = tmp_path / "news.json"
    path.write_text('{"text": "A ferry."}\n{"text": "A storm."}\n')
    assert texts(read(path)) == ["A ferry.", "A storm."]


def test_csv_with_line_breaks_and_text_column(tmp_path):
    path = tmp_path / "news.csv"
    path.write_text('id;body;note\n1;"Two\nlines";x\n2;One;y\n')
    records = read(path, text_column="note")
    assert texts(records) == ["x", "y"]
    assert records[0].fields == {"id": "1", "body": "Two\nlines", "note": "x"}
    assert texts(read(path)) == ["Two\nlines", "One"]


@pytest.mark.needs_extras
def test_parquet_keeps_all_columns(tmp_path):
    import pyarrow
    import pyarrow.parquet

    path = tmp_path / "news.parquet"
    table = pyarrow.table({"id": [1, 2], "text": ["A ferry.", None], "tags": [["a"], []]})
    pyarrow.parquet.write_table(table, path)
    records = read(path)
    assert texts(records) == ["A ferry.", ""]
    assert records[0].fields == {"id": 1, "text": "A ferry.", "tags": ["a"]}


def test_missing_pyarrow_error_has_pip_command(tmp_path, monkeypatch):
    def fail(module, *, extra, purpose):
        raise MissingExtraError(f"{purpose} needs readagain[{extra}]")

    monkeypatch.setattr(parquet, "require", fail)
    with pytest.raises(MissingExtraError, match=r"reading Parquet needs readagain\[data\]"):
        read(tmp_path / "news.parquet")


def test_pipe_is_read_line_by_line():
    def lines():
        yield from (b"One.\n", b"Two.\n")
        raise AssertionError("read ahead")

    class Pipe(io.RawIOBase):
        source = lines()

        def readline(self, size=-1):
            return next(self.source)

    stream = read_stream(Pipe(), "pipe", TextReadOptions(format="lines"))
    assert next(stream).text == "One."
    assert next(stream).where == "pipe:2"


def test_pipe_is_read_as_text_or_jsonl():
    assert texts(read_stream(io.BytesIO(b"a\nb"), "pipe", TextReadOptions())) == ["a\nb"]
    objects = io.BytesIO(b'{"text": "a"}\n\n{"text": "b"}')
    assert texts(read_stream(objects, "pipe", TextReadOptions(format="jsonl"))) == ["a", "b"]


def test_json_array_from_pipe_is_rejected():
    pipe = io.BytesIO(b'[{"text": "a"},\n {"text": "b"}\n]')
    with pytest.raises(DataError, match="pipe: a JSON array; expected one object per line"):
        list(read_stream(pipe, "pipe", TextReadOptions(format="jsonl")))


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("a.jsonl", b""),
        ("a.jsonl", b"\n \n"),
        ("a.csv", b""),
        ("a.csv", b"\xef\xbb\xbf"),
        ("a.csv", b"\n\n"),
        ("a.csv", b"text,id\n"),
    ],
)
def test_table_without_rows_has_no_texts(tmp_path, name, content):
    (tmp_path / name).write_bytes(content)
    assert read(tmp_path / name) == []


def test_null_in_jsonl_is_invalid_as_a_missing_key(tmp_path):
    path = tmp_path / "a.jsonl"
    path.write_text('{"text": "a"}\n{"text": null}\n{"id": 1}\n')
    _, *invalid = read_texts(path, TextReadOptions())
    assert [record.reason for record in invalid] == ["nothing under 'text'; expected a string"] * 2
    pipe = io.BytesIO(path.read_bytes())
    _, *invalid = read_stream(pipe, "pipe", TextReadOptions(format="jsonl"))
    assert [record.where for record in invalid] == ["pipe:2", "pipe:3"]


def test_table_from_pipe_is_rejected():
    with pytest.raises(ConfigError, match="format: 'csv' cannot be read from a pipe"):
        list(read_stream(io.BytesIO(), "pipe", TextReadOptions(format="csv")))


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("a.jsonl", b'{"text": "a"}\nnot json\n', r"a\.jsonl:2: not JSON"),
        ("a.jsonl", b'{"text": "a"}\n{"id": 3}\n', r"a\.jsonl:2: nothing under 'text'"),
        ("a.jsonl", b'{"id": 3}\n', r"a\.jsonl: no column for the text; .*set text_column"),
        ("a.csv", b"text,id\na,1\nb\n", r"a\.csv:3: 1 field; the header has 2"),
        ("a.csv", b"text\nkaf\xe9\n", r"a\.csv:2: 'text' contains byte 0xe9"),
        ("a.txt", b"kaf\xe9", r"a\.txt: byte 0xe9 at column 4 is not utf-8"),
        ("a.txt", b"\xff\xfea\x00", r"a\.txt: UTF-16 text"),
        ("a.pdf", b"%PDF-1.7\nabc", r"a\.pdf: a PDF; expected plain text, which 'pdftotext'"),
        ("a.docx", b"PK\x03\x04abc", r"a\.docx: a zip archive, or a Word or Excel document; save"),
        ("a.xlsx", b"PK\x03\x04abc", r"a\.xlsx: .*, and a table as CSV UTF-8"),
        ("a.rtf", b"{\\rtf1 abc}", r"a\.rtf: an RTF file; save it as plain text"),
        ("a.csv", b"\xff\xfet\x00", r"a\.csv: UTF-16 text; .* iconv"),
        ("a.jsonl", b"\xfe\xff\x00{", r"a\.jsonl: UTF-16 text"),
        (
            "a.csv",
            b"text,id,id\na,1,2\n",
            r"a\.csv: two columns are called 'id'; rename",
        ),
        ("a.json", b'[\n{"text": "a"}\n]\n', r"a\.json: a JSON array; .*: jq -c '\.\[\]' FILE"),
        ("a.json", b'\xef\xbb\xbf[{"text": "a"}]', r"a\.json: a JSON array; expected one object"),
    ],
)
def test_invalid_record_error_has_line_number(tmp_path, name, content, message):
    path = tmp_path / name
    path.write_bytes(content)
    with pytest.raises(DataError, match=message):
        read(path)


@pytest.mark.parametrize(
    ("name", "content", "expected"),
    [
        ("a.jsonl", b'{"text": "a"}\nkaf\xe9\n', "kaf\udce9"),
        ("a.jsonl", b'{"text": "a"}\n{"text": 3, "id": 9}\n', {"text": 3, "id": 9}),
        ("a.csv", b"text,id\na,1\nb\n", ["b"]),
        ("a.csv", b"text,id\na,1\nkaf\xe9,2\n", {"text": "kaf\udce9", "id": "2"}),
        ("a.csv", b'text,id\na,1\n"b\nc\n', '"b\nc'),
        ("a.csv", b"text,id\na,1\nb\rc,2\n", "b\rc,2"),
        ("a.pdf", b"%PDF-1.7", None),
    ],
)
def test_invalid_record_keeps_its_content(tmp_path, name, content, expected):
    path = tmp_path / name
    path.write_bytes(content)
    skipped = []
    valid = list(valid_records(read_texts(path, TextReadOptions()), "skip", skipped.append))
    assert [record.content for record in skipped] == [expected]
    assert texts(valid) == ([] if name == "a.pdf" else ["a"])
    row = json.loads(to_json(skipped[0].as_row()))
    assert list(row) == ["file", "row", "reason", "content"]
    assert (row["file"], row["content"]) == (str(path), expected)


def test_braces_in_a_reason_are_kept(tmp_path):
    path = tmp_path / "{0}.jsonl"
    path.write_text('{"{on_error}": "a"}\n{"{on_error}": 3}\n')
    records = read_texts(path, TextReadOptions(text_column="{on_error}"))
    with pytest.raises(DataError, match=r"/\{0\}\.jsonl:2: a whole number under '\{on_error\}';"):
        list(valid_records(records, "stop"))


@pytest.mark.parametrize("format", ["text", "lines", "jsonl"])
def test_utf16_pipe_error_has_conversion_command(format):
    pipe = io.BytesIO('{"text": "a"}\n'.encode("utf-16"))
    with pytest.raises(DataError, match=r"^pipe(:1)?: UTF-16 text; .*iconv -f utf-16 -t utf-8"):
        list(valid_records(read_stream(pipe, "pipe", TextReadOptions(format=format)), "stop"))


def test_too_large_text_file_error_suggests_lines(tmp_path, monkeypatch):
    monkeypatch.setattr(formats_texts, "MAX_TEXT_BYTES", 10)
    path = tmp_path / "all.txt"
    path.write_text("many lines\nof text\n")
    with pytest.raises(DataError, match=r"more than 10 bytes for one text; set the format to"):
        read(path)
    pipe = read_stream(io.BytesIO(b"eleven byte"), "pipe", TextReadOptions())
    with pytest.raises(DataError, match=r"pipe: more than 10 bytes for one text"):
        list(valid_records(pipe, "stop"))


def test_too_long_line_is_rejected(tmp_path, monkeypatch):
    monkeypatch.setattr("readagain.formats.lines.MAX_RECORD_BYTES", 10)
    path = tmp_path / "long.txt"
    path.write_text("fine\nstands for a line of megabytes\n")
    with pytest.raises(DataError, match=r"long\.txt:2: a line of more than"):
        read(path, format="lines")


@pytest.mark.parametrize(
    ("name", "content", "expected"),
    [
        ("a.jsonl", b'{"text": "a"}\nnot json\n{"text": "c"}\n', ["a", "a.jsonl:2", "c"]),
        ("a.csv", b"text,id\na,1\nb\nc,3\n", ["a", "a.csv:3", "c"]),
        ("a.txt", b"kaf\xe9", ["a.txt"]),
        ("a.txt", b"\xff\xfea\x00", ["a.txt"]),
    ],
)
def test_block_keeps_order_of_invalid_records(tmp_path, name, content, expected):
    path = tmp_path / name
    path.write_bytes(content)
    schema = read_schema(path, TextReadOptions())
    records = [
        each.text if isinstance(each, TextRecord) else each.where
        for block in read_blocks(path, schema)
        for each in parse_block(block, Path(name), schema)
    ]
    assert records == expected


def test_blocks_have_at_most_records_per_block(tmp_path):
    path = tmp_path / "many.txt"
    path.write_text("One.\nTwo.\nThree.\n")
    schema = read_schema(path, TextReadOptions(format="lines"))
    assert [block.first for block in read_blocks(path, schema, 2)] == [1, 3]


def test_summary_is_added_to_fields():
    summary = Summary(text="Short", score=-1.5, words=(), read_sentences=1, truncated=False)
    summary = replace(summary, alternatives=(replace(summary, text="Shorter", score=-2.0),))
    record = TextRecord("A text.", "a.jsonl:1", {"id": 7})
    assert add_summary(record, summary, field="title", has_score=True) == {
        "id": 7,
        "title": "Short",
        "score": -1.5,
        "alternatives": [{"summary": "Shorter", "score": -2.0}],
    }
    refused = add_summary(record, summary, field="id")
    assert isinstance(refused, InvalidRecord)
    assert "has a field 'id' already; set another field for the summary" in refused.reason


def test_values_without_json_type_become_strings():
    import datetime

    assert to_json({"day": datetime.date(2024, 5, 1), "é": 1}) == '{"day": "2024-05-01", "é": 1}'


def test_nan_becomes_null():
    infinity, nan = float("inf"), float("nan")
    fields = {"a": nan, "b": [1.5, {"c": infinity}], "d": (-infinity, "NaN"), "é": 1}
    assert to_json(fields) == '{"a": null, "b": [1.5, {"c": null}], "d": [null, "NaN"], "é": 1}'
    assert to_json({"é": "\udce9"}) == '{"\\u00e9": "\\udce9"}'


PAGE = b"""<!doctype html><html><head><title>Norrvik Times</title></head><body><article>
<h1>Schools to close</h1><p>The council of Norrvik will close two of its nine schools next year, the
education minister said on Monday evening.</p><p>Parents protested in front of the town hall, and
more than two hundred of them stayed until midnight.</p></article><footer>Imprint</footer></html>"""


@pytest.mark.parametrize("name", ["a.html", "a.txt"])
def test_html_page_without_the_extra_is_an_error(tmp_path, monkeypatch, name):
    monkeypatch.setitem(sys.modules, "trafilatura", None)
    (tmp_path / name).write_bytes(b"\xef\xbb\xbf" + PAGE)
    message = rf"{name}: an HTML page needs .* the extra 'html' .*, or save the page"
    with pytest.raises(DataError, match=message):
        read(tmp_path / name)


def test_wide_header_is_checked_in_linear_time(tmp_path, monkeypatch):
    checked = []
    monkeypatch.setattr(formats_texts, "check_unique", lambda name, *_, **__: checked.append(name))
    header = ",".join(["text", *map(str, range(1000))])
    (tmp_path / "a.csv").write_text(f"{header}\n{header}\n")
    read(tmp_path / "a.csv")
    assert not checked


def test_html_page_is_read_by_the_extractor(tmp_path, monkeypatch):
    extractor = ModuleType("trafilatura")
    extractor.extract = lambda content, **options: "It rains." if b"article" in content else None
    monkeypatch.setitem(sys.modules, "trafilatura", extractor)
    path = tmp_path / "a.html"
    path.write_bytes(PAGE)
    (record,) = read(path)
    assert (record.text, record.fields) == ("It rains.", {"file": str(path)})
    path.write_bytes(b"<html></html>")
    with pytest.raises(DataError, match=r"a\.html: an HTML page in which no article was found"):
        read(path)


def test_html_page_of_too_many_tags_is_refused(tmp_path, monkeypatch):
    """The time for reading a page is not proportional to its number of tags."""
    monkeypatch.setitem(sys.modules, "trafilatura", ModuleType("trafilatura"))
    (tmp_path / "a.html").write_bytes(b"<html>" + b"<p>" * formats_texts.MAX_HTML_TAGS)
    with pytest.raises(DataError, match=r"a\.html: an HTML page of more than 100,000 tags; save"):
        read(tmp_path / "a.html")


@pytest.mark.parametrize(
    "attribute",
    [b" a%d", b' a%d=">"', b' a%d="x"', b"a%d='<p>'", b"/a%d", b' "a%d', b" a%d = x", b" <%d"],
    ids=repr,
)
@pytest.mark.parametrize(("tags", "number"), [(1, 10_001), (101, 1_000)])
def test_html_page_of_too_many_attributes_is_refused(
    tmp_path, monkeypatch, attribute, tags, number
):
    """The time for reading a tag is quadratic in its number of attributes."""
    extractor = ModuleType("trafilatura")
    extractor.extract = lambda content, **options: "It rains."
    monkeypatch.setitem(sys.modules, "trafilatura", extractor)
    path = tmp_path / "a.html"
    path.write_bytes(b"<html>" + PAGE)
    assert len(read(path)) == 1
    tag = b"<p " + b"".join(attribute % index for index in range(number)) + b">"
    path.write_bytes(b"<html>" + tag * tags)
    with pytest.raises(DataError, match="too many attributes; save|more than 100,000 tags"):
        read(path)


@pytest.mark.needs_extras
def test_article_of_a_page_is_extracted(tmp_path):
    pytest.importorskip("trafilatura")
    (tmp_path / "a.html").write_bytes(PAGE)
    (record,) = read(tmp_path / "a.html")
    assert "The council of Norrvik will close two of its nine schools" in record.text
    assert "Imprint" not in record.text
