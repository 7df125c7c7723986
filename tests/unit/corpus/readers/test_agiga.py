"""Annotated Gigaword on invented documents in its layout."""

import gzip

import pytest
from corpus_records import read_records
from discs import agiga_document, write_annotated_gigaword, write_month

from readagain.corpus.inputs import Example
from readagain.corpus.readers.agiga import SPLIT_OF_MONTH
from readagain.corpus.readers.find import CorpusReadOptions, find_inputs
from readagain.corpus.readers.formats import detect_format
from readagain.errors import DataError
from readagain.formats.records import InvalidRecord

TEXT = ["The town of Tarn opened 2 new bridges on Monday ."]


def read(tmp_path, *documents):
    return read_records(write_month(tmp_path, "afp_eng_199405", *documents))


def test_words_come_from_the_parses(tmp_path):
    examples = read(
        tmp_path, agiga_document(1, "Tarn , 1994 : bridges open -LRB- again -RRB-", TEXT)
    )
    assert examples == [
        Example(
            "the town of tarn opened # new bridges on monday .",
            "tarn #### : bridges open -lrb- again",
            full_headline="tarn , #### : bridges open -lrb- again -rrb-",
        )
    ]


def test_parses_are_joined_up_to_a_full_stop(tmp_path):
    first = ["Tarn opened a bridge in St", "Anna . It is", "new .", "Ships came ."]
    [example] = read(tmp_path, agiga_document(1, "Tarn opens bridge", first, ["It rained ."]))
    assert example.text.split("\n") == [
        "tarn opened a bridge in st anna .",
        "new .",
        "ships came .",
        "it rained .",
    ]


def test_at_most_five_sentences_are_read(tmp_path):
    paragraphs = [[f"Sentence {word} ."] for word in "abcdefg"]
    [example] = read(tmp_path, agiga_document(1, "Tarn opens bridge", *paragraphs))
    assert example.text.split("\n")[-1] == "sentence e ."


def test_document_without_headline_or_text_is_empty(tmp_path):
    no_headline, no_text = read(
        tmp_path, agiga_document(1, None, TEXT), agiga_document(2, "Tarn opens bridge")
    )
    assert no_headline.headline == ""
    assert no_text.text == ""


def test_document_does_not_take_the_text_of_the_next(tmp_path):
    first, second = read(
        tmp_path, agiga_document(1, "Tarn opens bridge"), agiga_document(2, None, TEXT)
    )
    assert (first.text, second.headline) == ("", "")


@pytest.mark.parametrize("size", [1, 7, 100, 1000])
def test_documents_may_span_blocks(tmp_path, monkeypatch, size):
    documents = [agiga_document(n, "Tarn opens bridge", TEXT, TEXT) for n in range(3)]
    truncated = documents[0].replace("</DOC>\n", "")
    expected = read(tmp_path, *documents, truncated)
    monkeypatch.setattr("readagain.corpus.readers.agiga.BUFFER_BYTES", size)
    assert read(tmp_path, *documents, truncated) == expected
    assert len(expected) == 4


def test_document_without_end_is_invalid(tmp_path):
    truncated = agiga_document(1, "Tarn opens bridge", TEXT).replace("</DOC>\n", "")
    complete = agiga_document(2, "Tarn opens bridge", TEXT)
    path = tmp_path / "afp_eng_199405.xml.gz"
    records = read(tmp_path, truncated, complete, truncated)
    invalid = InvalidRecord(
        f"{path}:2", "no </DOC> at the end of the document; copy the file again"
    )
    assert records[0] == invalid
    assert isinstance(records[1], Example)
    assert records[2].reason == invalid.reason


def test_plain_gigaword_is_invalid(tmp_path):
    content = (
        '<DOC id="AFP_ENG_19940512.0001" type="story" >\n<HEADLINE>\nTarn opens bridge\n'
        "</HEADLINE>\n<TEXT>\n<P>\nThe town of Tarn.\n</P>\n</TEXT>\n</DOC>\n"
    )
    [record] = read(tmp_path, content)
    assert record.reason == (
        "<HEADLINE> has no parse; expected Annotated Gigaword (LDC2012T21), not the plain text of "
        "Gigaword"
    )


@pytest.mark.parametrize(
    ("paragraphs", "expected"),
    [
        ([["Tarn opened a bridge .", "UNPARSED", "Ships came ."]], "tarn opened a bridge ."),
        (
            [["Tarn opened a bridge ."], ["Ships came ."], ["UNPARSED"], ["It rained ."]],
            "tarn opened a bridge .\nships came .",
        ),
    ],
)
def test_text_ends_before_a_later_line_without_parse(tmp_path, paragraphs, expected):
    document = agiga_document(1, "Tarn opens bridge", *paragraphs)
    [example] = read(tmp_path, document.replace("(ROOT (S (NN UNPARSED)))", "no parse"))
    assert (example.headline, example.text) == ("tarn opens bridge", expected)


def test_second_headline_line_without_parse_is_ignored(tmp_path):
    document = agiga_document(1, "Tarn opens bridge", TEXT)
    [example] = read(tmp_path, document.replace("</HEADLINE>", "no parse\n</HEADLINE>"))
    assert example.headline == "tarn opens bridge"


def test_first_sentence_without_parse_is_invalid(tmp_path):
    document = agiga_document(1, "Tarn opens bridge", ["Tarn", "UNPARSED", "Ships came ."])
    [record] = read(tmp_path, document.replace("(ROOT (S (NN UNPARSED)))", "no parse"))
    assert record.reason.startswith("<P> has no parse; expected Annotated Gigaword")


def test_wrong_encoding_is_invalid(tmp_path):
    path = write_month(tmp_path, "afp_eng_199405", agiga_document(1, "Tarn opens bridge", TEXT))
    content = gzip.decompress(path.read_bytes()).replace(b"opens", b"\xff")
    path.write_bytes(gzip.compress(content))
    [record] = read_records(path)
    assert "byte 0xff" in record.reason


def test_truncated_file_is_reported(tmp_path):
    path = write_month(tmp_path, "afp_eng_199405", agiga_document(1, "Tarn opens bridge", TEXT))
    path.write_bytes(path.read_bytes()[:-20])
    with pytest.raises(DataError, match="the compressed data is cut short"):
        read_records(path, format="agiga")


def test_disc_is_found_below_its_folder(tmp_path):
    inputs = find_inputs([str(write_annotated_gigaword(tmp_path))], CorpusReadOptions())
    assert [source.path.name[:14] for source in inputs] == [
        "afp_eng_199405",
        "afp_eng_199406",
        "nyt_eng_201005",
        "xin_eng_200101",
    ]
    assert {source.format for source in inputs} == {"agiga"}
    assert all(source.is_text_tokenized and source.is_headline_tokenized for source in inputs)
    assert {source.split for source in inputs} == {"train"}


def test_months_are_split_as_published(tmp_path):
    folder = write_annotated_gigaword(tmp_path)
    inputs = find_inputs([str(folder)], CorpusReadOptions(split_by="month"))
    assert [source.split for source in inputs] == ["train", "dev", "test", "train"]
    splits = list(SPLIT_OF_MONTH.values())
    assert (splits.count("dev"), splits.count("test")) == (47, 47)


@pytest.mark.parametrize("name", ["index.csv", "files.tsv", "catalog.xml"])
def test_months_are_found_below_other_files(tmp_path, name):
    folder = write_annotated_gigaword(tmp_path)
    (folder / name).write_text("<list/>")
    inputs = find_inputs([str(folder)], CorpusReadOptions(split_by="month"))
    assert [source.split for source in inputs] == ["train", "dev", "test", "train"]


def test_split_from_month_needs_a_month(tmp_path):
    (tmp_path / "a.jsonl").write_text('{"text": "x", "headline": "y"}\n')
    with pytest.raises(DataError, match=r"a.jsonl: no month of Annotated Gigaword in this name"):
        find_inputs([str(tmp_path / "a.jsonl")], CorpusReadOptions(split_by="month"))


def test_other_xml_is_not_taken_for_a_feed(tmp_path):
    path = tmp_path / "notes.xml"
    path.write_text('<?xml version="1.0"?>\n<!-- notes -->\n<notes><note>x</note></notes>')
    with pytest.raises(DataError, match=r"notes.xml: starts with <notes>, so it is neither a feed"):
        detect_format(path)


def test_long_tag_is_truncated_in_the_message(tmp_path):
    path = tmp_path / "notes.xml"
    path.write_text(f"<{'A.B' * 500}>")
    with pytest.raises(DataError, match=f"notes.xml: starts with <{'A.B' * 26}A.>, so"):
        detect_format(path)
