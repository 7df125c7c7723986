"""DUC as NIST distributes it, on invented documents in its layout."""

import pytest
from corpus_records import read_records
from discs import write_duc

from readagain.corpus.inputs import Example
from readagain.corpus.readers.find import CorpusReadOptions, find_inputs
from readagain.errors import DataError
from readagain.evaluation.dataset import read_dataset

FIRST = (
    "the council of tarn opened bridge 0 on friday , 12 years after it was planned by the town , "
    "and the region paid for most of it , according to officials ."
)


@pytest.mark.parametrize("year", [2003, 2004])
def test_documents_have_four_references(tmp_path, year):
    write_duc(tmp_path, year)
    examples = read_records(tmp_path)
    assert len(examples) == 3
    references = tuple(f"Tarn opens bridge 0, writes {author}" for author in "ABCD")
    text = f"{FIRST}\ntraffic starts on monday ."
    assert examples[0] == Example(text, references[0], references)


def test_short_first_sentence_is_joined_with_the_second(tmp_path):
    [document] = write_duc(tmp_path, 2004, 1)
    document.write_text("<DOC><TEXT>TARN (AP) _ It rained. Roads closed. All stayed.</TEXT></DOC>")
    [example] = read_records(tmp_path)
    assert example.text == "it rained , roads closed .\nall stayed ."


@pytest.mark.parametrize(
    ("year", "expected"), [(2003, "it rained ."), (2004, "tarn , it rained .")]
)
def test_dateline_without_agency_depends_on_the_year(tmp_path, year, expected):
    [document] = write_duc(tmp_path, year, 1)
    document.write_text("<DOC><TEXT>TARN _ It rained.</TEXT></DOC>")
    assert read_records(tmp_path)[0].text == expected


@pytest.mark.parametrize("dash", ["--", " -- ", " - ", " _ "])
def test_dateline_ends_at_a_dash_between_words(tmp_path, dash):
    [document] = write_duc(tmp_path, 2004, 1)
    document.write_text(f"<DOC><TEXT>TARN (AP){dash}It rained -- hard.</TEXT></DOC>")
    assert read_records(tmp_path)[0].text == "it rained -- hard ."


def test_references_of_other_tasks_are_ignored(tmp_path):
    write_duc(tmp_path, 2003, 1)
    models = tmp_path / "detagged.duc2003.abstracts/models"
    (models / "D30001.M.100.T.A").write_text("A summary of all documents.")
    (models / "D30001.P.100.T.A.APW19981016.0000").write_text("A longer summary.")
    assert len(read_records(tmp_path)[0].references) == 4


def test_summaries_of_systems_are_no_references(tmp_path):
    """Systems have numbers where the authors of references have letters."""
    [document] = write_duc(tmp_path, 2004, 1)
    peers = tmp_path / "duc2004_results/ROUGE/eval/peers/1"
    peers.mkdir(parents=True)
    for system in ("1", "65"):
        (peers / f"D30001.P.10.T.{system}.{document.name}").write_text("a system")
    references = read_records(tmp_path)[0].references
    assert references == tuple(f"Tarn opens bridge 0, writes {author}" for author in "ABCD")


def test_tagged_copies_of_references_are_ignored(tmp_path):
    write_duc(tmp_path, 2003, 1)
    for path in list(tmp_path.rglob("D30001.P.10.*")):
        copy = tmp_path / "abstracts" / f"{path.name}.html"
        copy.parent.mkdir(exist_ok=True)
        copy.write_text(f"<html><b>Tagged</b> {path.read_text()}</html>")
    assert read_records(tmp_path)[0].references[3] == "Tarn opens bridge 0, writes D"


def test_references_of_another_length_are_read_if_alone(tmp_path):
    write_duc(tmp_path, 2004, 1)
    for path in list(tmp_path.rglob("D30001.P.10.*")):
        path.rename(path.with_name(path.name.replace(".10.", ".100.")))
    assert len(read_records(tmp_path)[0].references) == 4


def test_documents_with_headlines_are_not_read_twice(tmp_path):
    [document] = write_duc(tmp_path, 2003, 1)
    other = document.parents[2] / "docs" / document.parent.name / document.name
    other.parent.mkdir(parents=True)
    other.write_text("<DOC><HEADLINE>x</HEADLINE><TEXT>Another text.</TEXT></DOC>")
    [example] = read_records(tmp_path)
    assert example.text.split("\n")[0] == FIRST


def test_missing_reference_names_the_document(tmp_path):
    [first, *_] = write_duc(tmp_path, 2004)
    next(tmp_path.rglob("D30001.P.10.T.B.APW19981016.0000")).unlink()
    record, example, _ = read_records(tmp_path)
    assert (record.where, record.reason) == (str(first), "3 references; expected 4")
    assert len(example.references) == 4


def test_wrong_encoding_names_the_file(tmp_path):
    write_duc(tmp_path, 2004, 1)
    reference = next(tmp_path.rglob("D30001.P.10.T.B.*"))
    reference.write_bytes(b"caf\xe9")
    [record] = read_records(tmp_path)
    assert record.where == str(reference)
    assert "byte 0xe9" in record.reason


@pytest.mark.parametrize(
    ("subfolder", "message"),
    [
        ("DUC2004_Summarization_Documents", "no reference for the documents in .*docs; unpack"),
        ("duc2004_results", "references of DUC without their documents; unpack DUC2003"),
    ],
)
def test_missing_documents_or_references_are_reported(tmp_path, subfolder, message):
    write_duc(tmp_path, 2004)
    with pytest.raises(DataError, match=message):
        find_inputs([str(tmp_path / subfolder)], CorpusReadOptions())


def test_two_years_in_a_folder_are_reported(tmp_path):
    write_duc(tmp_path, 2003, 1)
    write_duc(tmp_path, 2004, 2)
    with pytest.raises(
        DataError, match="documents of DUC in .* and .*; give the folder of one year"
    ):
        read_records(tmp_path)


def test_data_set_of_a_disc_has_all_references(tmp_path):
    write_duc(tmp_path, 2004)
    data = read_dataset(tmp_path, CorpusReadOptions())
    assert (data.format, data.is_tokenized, data.are_references_tokenized) == (
        "duc-nist",
        True,
        False,
    )
    assert [len(row.references) for row in data.rows] == [4, 4, 4]
