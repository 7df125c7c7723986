import json
import os
import sys

import pytest

from readagain.corpus.readers.find import CorpusReadOptions, find_inputs
from readagain.corpus.readers.formats import detect_format
from readagain.errors import ConfigError, DataError, MissingExtraError

LINE = '{"text": "A storm came.", "headline": "Storm"}\n'


def names(sources):
    return [source.path.name for source in sources]


@pytest.mark.parametrize(
    ("name", "content", "format"),
    [
        ("a.jsonl", LINE, "jsonl"),
        ("a.json", LINE * 2, "jsonl"),
        ("a.data", LINE, "jsonl"),
        ("a.json", json.dumps({"articles": []}), "newsapi"),
        ("a.json", json.dumps([{"title": "x"}], indent=1), "newsapi"),
        ("a.csv", "text,headline\n", "csv"),
        ("a.tab", "text\theadline\n", "csv"),
        ("a.xml", "<?xml version='1.0'?><rss/>", "feed"),
        ("a.unknown", "<feed xmlns='http://www.w3.org/2005/Atom'/>", "feed"),
        ("a.bin", "PAR1....", "parquet"),
    ],
)
def test_format_is_detected_from_name_and_content(tmp_path, name, content, format):
    (tmp_path / name).write_text(content)
    assert detect_format(tmp_path / name) == format


def test_unknown_format_error_lists_formats(tmp_path):
    (tmp_path / "a.doc").write_text("whatever this is")
    with pytest.raises(DataError, match=r"a\.doc: unknown format; set the format to one of"):
        detect_format(tmp_path / "a.doc")
    with pytest.raises(ConfigError, match=r"unknown format 'jason'; expected one of jsonl, csv"):
        find_inputs([str(tmp_path / "a.doc")], CorpusReadOptions(format="jason"))


def test_empty_file_is_rejected(tmp_path):
    (tmp_path / "a.jsonl").touch()
    with pytest.raises(DataError, match=r"a\.jsonl: the file is empty; expected"):
        find_inputs([str(tmp_path / "a.jsonl")], CorpusReadOptions())


def test_missing_input_is_rejected(tmp_path):
    with pytest.raises(DataError, match=r"absent\.jsonl: no such file or folder"):
        find_inputs([str(tmp_path / "absent.jsonl")], CorpusReadOptions())


def test_utf16_error_has_conversion_command(tmp_path):
    (tmp_path / "a.jsonl").write_bytes(LINE.encode("utf-16"))
    with pytest.raises(DataError, match=r"a\.jsonl: UTF-16 text; .* iconv -f utf-16"):
        find_inputs([str(tmp_path / "a.jsonl")], CorpusReadOptions())


@pytest.mark.parametrize(
    ("encoding", "message"),
    [("utf-9", "'utf-9' is unknown"), ("utf-16", "does not end lines as ASCII does")],
)
def test_invalid_encoding_is_rejected(encoding, message):
    with pytest.raises(ConfigError, match=message):
        find_inputs([], CorpusReadOptions(encoding=encoding))


def test_folder_uses_train_files_and_reports_others(tmp_path, caplog):
    for name in ("train-1.jsonl", "train-0.jsonl", "dev.jsonl", "other.jsonl"):
        (tmp_path / name).write_text(LINE)
    (tmp_path / "README.md").write_text("not data")
    sources = find_inputs([str(tmp_path)], CorpusReadOptions(), exclude=[tmp_path / "dev.jsonl"])
    assert names(sources) == ["train-0.jsonl", "train-1.jsonl"]
    assert caplog.messages == [f"{tmp_path}: not used for train: other.jsonl"]


def test_folder_without_train_names_uses_unnamed_files(tmp_path):
    for name in ("a.jsonl", "b.csv", "test.jsonl", "valid-0.jsonl"):
        (tmp_path / name).write_text(LINE if name.endswith("jsonl") else "text,headline\nx,y\n")
    assert names(find_inputs([str(tmp_path)], CorpusReadOptions())) == ["a.jsonl", "b.csv"]
    dev = find_inputs([str(tmp_path)], CorpusReadOptions(), split="dev")
    assert names(dev) == ["valid-0.jsonl"]
    assert dev[0].split == "dev"


@pytest.mark.parametrize("target", ["nowhere", "train2.jsonl"], ids=["missing", "loop"])
def test_link_without_target_in_a_folder_is_rejected(tmp_path, target):
    (tmp_path / "train1.jsonl").write_text(LINE)
    (tmp_path / "train2.jsonl").symlink_to(target)
    with pytest.raises(DataError, match=r"/train2\.jsonl: "):
        find_inputs([str(tmp_path)], CorpusReadOptions())


def test_folder_without_train_files_is_rejected(tmp_path):
    (tmp_path / "dev.jsonl").write_text(LINE)
    with pytest.raises(DataError, match=r"no file for train in this folder; .* found dev\.jsonl"):
        find_inputs([str(tmp_path)], CorpusReadOptions())


def test_inputs_keep_order_and_origin(tmp_path):
    (tmp_path / "news").mkdir()
    (tmp_path / "news" / "a.jsonl").write_text(LINE)
    (tmp_path / "b.csv").write_text("text,headline\nx,y\n")
    arguments = [str(tmp_path / "news"), str(tmp_path / "b.csv")]
    sources = find_inputs(arguments, CorpusReadOptions())
    assert [source.origin for source in sources] == arguments
    assert [source.format for source in sources] == ["jsonl", "csv"]


def test_column_option_without_columns_is_rejected(tmp_path):
    (tmp_path / "a.rss").write_text("<rss></rss>")
    with pytest.raises(ConfigError, match="text_column: no input has columns .*feed"):
        find_inputs([str(tmp_path / "a.rss")], CorpusReadOptions(text_column="body"))


def test_same_column_for_both_sides_is_rejected(tmp_path):
    path = tmp_path / "a.jsonl"
    path.write_text(LINE)
    with pytest.raises(
        DataError, match=r"a\.jsonl: 'text' is both .*; set text_column or headline_col"
    ):
        find_inputs([str(path)], CorpusReadOptions(headline_column="text"))


def test_pipe_as_input_is_rejected(tmp_path):
    (tmp_path / "a.txt").write_text("A storm came.")
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    for argument, options in (
        (pipe, CorpusReadOptions(format="jsonl")),
        (tmp_path / "a.txt", CorpusReadOptions(headlines=pipe)),
    ):
        with pytest.raises(DataError, match=r"pipe: a pipe or a device, which can be read only on"):
            find_inputs([str(argument)], options)


def test_headlines_file_with_two_inputs_is_rejected(tmp_path):
    options = CorpusReadOptions(headlines=tmp_path / "heads.txt")
    with pytest.raises(ConfigError, match="headlines: needs exactly one file of texts; found 2"):
        find_inputs(["a.txt", "b.txt"], options)


@pytest.mark.parametrize(
    ("name", "content"), [("a.parquet", b"PAR1"), ("a.jsonl.zst", b"\x28\xb5\x2f\xfd")]
)
def test_missing_pyarrow_error_has_pip_command(tmp_path, monkeypatch, name, content):
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    monkeypatch.setitem(sys.modules, "pyarrow.parquet", None)
    (tmp_path / name).write_bytes(content)
    with pytest.raises(MissingExtraError, match=rf"{name}: reading .* the extra 'data'"):
        find_inputs([str(tmp_path / name)], CorpusReadOptions())
