from corpus_records import read_records

from readagain.corpus.inputs import Example
from readagain.formats.records import InvalidRecord

STORY = """A storm came to Eastmoor.

Twelve schools closed.

@highlight

Storm comes to Eastmoor

@highlight

Did schools close?
"""


def test_highlights_become_summary_sentences(tmp_path):
    (tmp_path / "a.story").write_text(STORY)
    expected = Example(
        "A storm came to Eastmoor. Twelve schools closed.",
        "Storm comes to Eastmoor. Did schools close?",
    )
    assert read_records(tmp_path / "a.story") == [expected]


def test_story_folder_is_read_in_name_order(tmp_path):
    for name in ("b", "a", "c"):
        (tmp_path / f"{name}.story").write_text(f"Text {name}.\n@highlight\n{name}")
    assert [pair.headline for pair in read_records(tmp_path)] == ["a.", "b.", "c."]


def test_invalid_stories_have_reason(tmp_path):
    (tmp_path / "a.story").write_text("No highlight here.")
    (tmp_path / "b.story").write_bytes(b"\xff\n@highlight\nx")
    (tmp_path / "c.story").write_text("x" * 2_000_000 + "\n@highlight\nx")
    missing, encoding, long = read_records(tmp_path)
    assert missing == InvalidRecord(
        str(tmp_path / "a.story"),
        "no line '@highlight'; expected the article and then its highlights",
    )
    assert "byte 0xff at column 1 is not utf-8" in encoding.reason
    assert "more than 1,048,576 bytes" in long.reason
