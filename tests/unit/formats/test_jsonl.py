"""Records of JSONL files."""

import gzip
import json
import re

import pytest
from corpus_records import read_records

from readagain.corpus.inputs import Example
from readagain.errors import DataError
from readagain.formats import jsonl, lines
from readagain.formats.records import InvalidRecord

GOOD = '{"text": "A storm came.", "headline": "Storm"}'


def test_jsonl_lines_are_examples(tmp_path):
    path = tmp_path / "a.jsonl"
    path.write_text(f'{GOOD}\n\n{{"headline": "Calm", "text": "It passed."}}\n')
    assert read_records(path) == [Example("A storm came.", "Storm"), Example("It passed.", "Calm")]


def test_compressed_jsonl_is_read(tmp_path):
    path = tmp_path / "a.jsonl.gz"
    path.write_bytes(gzip.compress(f"{GOOD}\n".encode()))
    assert read_records(path) == [Example("A storm came.", "Storm")]


def test_unicode_line_separator_does_not_end_line(tmp_path):
    path = tmp_path / "a.jsonl"
    record = {"text": "one\u2028two\x85three", "headline": "x"}
    path.write_text(json.dumps(record, ensure_ascii=False) + "\n", encoding="utf-8")
    assert read_records(path) == [Example("one\u2028two\x85three", "x")]


def test_bom_and_crlf_are_accepted(tmp_path):
    path = tmp_path / "a.jsonl"
    path.write_bytes(b"\xef\xbb\xbf" + f"{GOOD}\r\n{GOOD}\r\n".encode())
    assert read_records(path) == [Example("A storm came.", "Storm")] * 2


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        (
            b'{"text": "A storm',
            "not JSON: Unterminated .* at column 10; expected one object per line",
        ),
        (b"[1, 2]", "a list; expected a JSON object with a text"),
        (b'{"text": "A storm."}', "nothing under 'headline'; expected a string"),
        (b'{"text": null, "headline": "x"}', "nothing under 'text'; expected a string"),
        (b'{"text": "A storm.", "headline": null}', "nothing under 'headline'; expected"),
        (b'{"text": 7, "headline": "x"}', "a whole number under 'text'; expected a string"),
        (b'{"text": "caf\xe9", "headline": "x"}', "byte 0xe9 at column 14 is not utf-8"),
        (
            b'{"text": "\\ud800", "headline": "x"}',
            r"'text' contains a lone surrogate \(U\+D800\)",
        ),
        (b"[" * 100_000, "JSON nested too deeply"),
    ],
)
def test_invalid_line_has_reason(tmp_path, line, reason):
    path = tmp_path / "a.jsonl"
    path.write_bytes(GOOD.encode() + b"\n" + line + b"\n" + GOOD.encode())
    first, bad, last = read_records(path)
    assert first == last == Example("A storm came.", "Storm")
    assert isinstance(bad, InvalidRecord)
    assert bad.where == f"{path}:2"
    assert re.match(reason, bad.reason)


def test_nesting_of_json_is_limited(tmp_path, monkeypatch):
    monkeypatch.setattr(jsonl, "MAX_DEPTH", 3)
    path = tmp_path / "a.jsonl"
    start = GOOD.removesuffix("}")
    path.write_text(start + ', "x": [{"y": 1}]}\n' + start + ', "x": [{"y": [1]}]}\n')
    first, bad = read_records(path)
    assert first == Example("A storm came.", "Storm")
    assert bad.reason == "JSON nested too deeply; expected one object per line"


@pytest.mark.parametrize("value", ["NaN", "1"])
def test_deepest_json_that_is_read_can_be_written(value):
    text = "[" * jsonl.MAX_DEPTH + value + "]" * jsonl.MAX_DEPTH
    assert jsonl.to_json(jsonl.parse_json(text)) == text.replace("NaN", "null")


def test_long_jsonl_line_is_rejected_in_little_memory(tmp_path):
    path = tmp_path / "a.jsonl"
    path.write_bytes(GOOD.encode() + b"\n" + b"x" * 10_000_000 + b"\n" + GOOD.encode() + b"\n")
    first, bad, last = read_records(path)
    assert first == last == Example("A storm came.", "Storm")
    assert bad == InvalidRecord(f"{path}:2", lines.TOO_LONG)
    assert "more than 1,048,576 bytes" in bad.reason


def test_empty_fields_are_valid(tmp_path):
    path = tmp_path / "a.jsonl"
    path.write_text('{"text": "", "headline": ""}\n')
    assert read_records(path) == [Example("", "")]


def test_encoding_option_is_used(tmp_path):
    path = tmp_path / "a.jsonl"
    path.write_bytes('{"text": "café", "headline": "x"}\n'.encode("latin-1"))
    assert read_records(path, encoding="latin-1") == [Example("café", "x")]


def test_columns_come_from_first_valid_line(tmp_path):
    path = tmp_path / "a.jsonl"
    path.write_text('broken\n{"article": "A storm.", "title": "Storm", "id": 1}\n')
    bad, example = read_records(path)
    assert isinstance(bad, InvalidRecord)
    assert example == Example("A storm.", "Storm")


def test_file_of_blank_lines_is_rejected(tmp_path):
    path = tmp_path / "a.jsonl"
    path.write_text("\n \n")
    with pytest.raises(DataError, match=r"a\.jsonl: no texts; expected pairs"):
        read_records(path)


def test_file_without_valid_line_has_first_reason(tmp_path):
    path = tmp_path / "a.jsonl"
    path.write_text("broken\nbroken too\n")
    with pytest.raises(DataError, match=r"a\.jsonl:1: not JSON: .* no other line is valid"):
        read_records(path)


def test_jsonl_blocks_are_limited_by_lines_and_bytes(tmp_path, monkeypatch):
    path = tmp_path / "lines.txt"
    path.write_bytes(b"aa\nbb\ncc\ndddddddd\ne\n")
    monkeypatch.setattr(lines, "BLOCK_RECORDS", 2)
    by_number = [(block.first, block.payload) for block in lines.line_blocks(path)]
    assert by_number == [(1, [b"aa", b"bb"]), (3, [b"cc", b"dddddddd"]), (5, [b"e"])]
    monkeypatch.setattr(lines, "BLOCK_RECORDS", 100)
    monkeypatch.setattr(lines, "BLOCK_BYTES", 8)
    by_size = [block.payload for block in lines.line_blocks(path)]
    assert by_size == [[b"aa", b"bb", b"cc", b"dddddddd"], [b"e"]]


def test_huge_number_makes_one_record_invalid(tmp_path):
    path = tmp_path / "a.jsonl"
    line = '{"text": ' + "9" * 5_000 + "}"
    path.write_text('{"text": "a", "headline": "b"}\n' + line + "\n")
    assert read_records(path)[1] == InvalidRecord(
        f"{path}:2",
        "JSON with a number that has too many digits; expected one object per line",
        line,
    )


def test_long_key_is_truncated_in_message(tmp_path):
    path = tmp_path / "a.jsonl"
    path.write_text(json.dumps({"a" * 10_000: 1}))
    with pytest.raises(DataError, match="found 'a{70,79}…; set text_column"):
        read_records(path)
