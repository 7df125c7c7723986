import json

import pytest
from corpus_records import read_records

from readagain.corpus.inputs import Example
from readagain.corpus.readers import newsapi
from readagain.errors import DataError
from readagain.formats.records import InvalidRecord

ARTICLES = [
    {
        "source": {"id": None, "name": "Eastmoor Post"},
        "title": "Storm closes schools - Eastmoor Post",
        "description": "A storm closed twelve schools.",
        "content": "A storm closed twelve schools on Monday… [+1234 chars]",
    },
    {
        "source": {"name": "Tarn Times"},
        "title": "Calm returns",
        "description": None,
        "content": "It is calm again… [+99 chars]",
    },
    {"title": "[Removed]", "description": "[Removed]"},
    {"title": "No text"},
]
EXPECTED = [
    Example("A storm closed twelve schools.", "Storm closes schools"),
    Example("It is calm again", "Calm returns"),
    Example("", ""),
    Example("", "No text"),
]


@pytest.mark.parametrize(
    "document",
    [{"status": "ok", "totalResults": 4, "articles": ARTICLES}, ARTICLES, {"results": ARTICLES}],
)
@pytest.mark.parametrize("indent", [None, 2])
def test_publisher_and_truncation_marks_are_removed(tmp_path, document, indent):
    path = tmp_path / "reply.json"
    path.write_text(json.dumps(document, indent=indent))
    assert read_records(path) == EXPECTED


def test_headline_key_replaces_title(tmp_path):
    path = tmp_path / "pairs.json"
    path.write_text(json.dumps([{"text": "It is calm again.", "headline": "Calm returns"}]))
    assert read_records(path) == [Example("It is calm again.", "Calm returns")]


def test_articles_without_title_error_lists_keys(tmp_path):
    path = tmp_path / "pairs.json"
    path.write_text(json.dumps([{"article": "It is calm again.", "summary": "Calm returns"}]))
    with pytest.raises(DataError, match=r"no article has a title; the first has 'article', 'summ"):
        read_records(path)


def test_article_that_is_not_an_object_is_invalid(tmp_path):
    path = tmp_path / "reply.json"
    path.write_text(json.dumps({"articles": [7]}))
    expected = InvalidRecord(f"{path}:1", "a whole number; expected an article object", 7)
    assert read_records(path) == [expected]


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b'{\n"articles": [', r"reply\.json:2: not JSON: Expecting value at column 14"),
        (b'{"status":\n"error"}', r"reply\.json: no list of articles; expected one under"),
        (b'["caf\xe9"]', r"reply\.json: byte 0xe9 at column 6 is not utf-8"),
        (b"[" * 100_000, r"reply\.json: JSON nested too deeply"),
        (b"[" * 200 + b"]" * 200, r"reply\.json: JSON nested too deeply"),
    ],
)
def test_other_json_document_is_rejected(tmp_path, content, message):
    path = tmp_path / "reply.json"
    path.write_bytes(content)
    with pytest.raises(DataError, match=message):
        read_records(path, format="newsapi")


def test_number_of_values_in_document_is_limited(tmp_path, monkeypatch):
    path = tmp_path / "reply.json"
    path.write_text('[{"title": "Calm", "text": "It was calm."}]')
    monkeypatch.setattr(newsapi, "MAX_VALUES", 3)
    assert read_records(path) == [Example("It was calm.", "Calm")]
    monkeypatch.setattr(newsapi, "MAX_VALUES", 2)
    with pytest.raises(DataError, match=r"reply\.json: more than 2 brackets and commas; convert"):
        read_records(path)


def test_huge_number_in_document_is_rejected(tmp_path):
    path = tmp_path / "a.json"
    path.write_text('{"articles": [' + "9" * 5_000 + "]}")
    with pytest.raises(DataError, match="JSON with a number that has too many digits"):
        read_records(path, format="newsapi")


def test_long_whitespace_is_parsed_in_linear_time(tmp_path):
    """A regular expression with backtracking once took minutes for this text."""
    text = "Calm" + " " * 50_000 + "…" + " " * 50_000
    path = tmp_path / "a.json"
    path.write_text(json.dumps([{"title": "Calm", "description": text + "[+12 chars]"}]))
    assert read_records(path) == [Example("Calm", "Calm")]
    path.write_text(json.dumps([{"title": "Calm", "description": text + "[+12 chars"}]))
    assert read_records(path) == [Example(text + "[+12 chars", "Calm")]
