import pytest
from corpus_records import read_records

from readagain.corpus.inputs import Example
from readagain.corpus.readers.find import CorpusReadOptions, find_inputs
from readagain.errors import DataError
from readagain.formats import lines
from readagain.formats.records import InvalidRecord


@pytest.fixture
def write(tmp_path):
    """Function that writes files; __ in a keyword stands for a dot in the name."""

    def write_files(**files):
        for name, content in files.items():
            (tmp_path / name.replace("__", ".")).write_text(content)
        return tmp_path

    return write_files


def test_parallel_lines_are_paired(write):
    folder = write(texts__txt="One storm.\nTwo storms.\n", heads__txt="one\ntwo\n")
    pairs = read_records(folder / "texts.txt", headlines=folder / "heads.txt")
    assert pairs == [Example("One storm.", "one"), Example("Two storms.", "two")]


def test_blocks_of_parallel_files_stay_aligned(write, monkeypatch):
    monkeypatch.setattr(lines, "BLOCK_RECORDS", 3)
    folder = write(
        texts__txt="".join(f"text {n}\n" for n in range(8)),
        heads__txt="".join(f"head {n}\n" for n in range(8)),
    )
    pairs = read_records(folder / "texts.txt", headlines=folder / "heads.txt")
    assert pairs == [Example(f"text {n}", f"head {n}") for n in range(8)]


@pytest.mark.parametrize(
    ("heads", "message"),
    [
        ("one\n", r"heads\.txt: ends before line 2 of texts\.txt"),
        ("one\ntwo\nthree\n", r"heads\.txt: has more lines than texts\.txt"),
        ("one\ntwo\n\nthree\n", r"heads\.txt: has more lines than texts\.txt"),
    ],
)
def test_files_of_different_length_are_rejected(write, heads, message):
    folder = write(texts__txt="One storm.\nTwo storms.\n", heads__txt=heads)
    with pytest.raises(DataError, match=message):
        read_records(folder / "texts.txt", headlines=folder / "heads.txt")


def test_invalid_byte_error_has_file_and_line(write):
    folder = write(texts__txt="One.\nTwo.\n")
    (folder / "heads.txt").write_bytes(b"one\n\xff\n")
    pairs = read_records(folder / "texts.txt", headlines=folder / "heads.txt")
    assert pairs[0] == Example("One.", "one")
    assert isinstance(pairs[1], InvalidRecord)
    assert pairs[1].where == f"{folder / 'heads.txt'}:2"


def test_gigaword_layout_is_detected(write):
    folder = write(
        train__article__txt="a storm closed ## schools .\n", train__title__txt="storm UNK ##\n"
    )
    assert read_records(folder) == [Example("a storm closed ## schools .", "storm UNK ##")]


@pytest.mark.parametrize(
    ("texts", "heads"),
    [("valid.article.filter.txt", "valid.title.filter.txt"), ("train.src.txt", "train.tgt.txt")],
)
def test_other_gigaword_file_names_are_detected(tmp_path, texts, heads):
    (tmp_path / texts).write_text("a storm .\n")
    (tmp_path / heads).write_text("storm\n")
    assert read_records(tmp_path / texts) == [Example("a storm .", "storm")]


def test_duc_layout_has_all_references(write):
    folder = write(
        input__txt="a storm came .\n",
        task1_ref0__txt="Storm comes.\n",
        task1_ref1__txt="Wind, rain\n",
        task1_ref2__txt="It storms.\n",
        task1_ref3__txt="Bad weather.\n",
    )
    references = ("Storm comes.", "Wind, rain", "It storms.", "Bad weather.")
    assert read_records(folder) == [Example("a storm came .", "Storm comes.", references)]


def test_single_reference_is_gigaword_layout(write):
    folder = write(input__txt="a storm came .\n", task1_ref0__txt="storm\n")
    assert read_records(folder) == [Example("a storm came .", "storm")]


def test_tokenization_is_detected_per_file(write):
    folder = write(
        input__txt="a storm , he said , closed ## schools .\n" * 30 + "gone &amp;c\n",
        task1_ref0__txt="Storm closes schools.\n" * 31,
        task1_ref1__txt="Schools closed.\n" * 31,
    )
    (source,) = find_inputs([str(folder)], CorpusReadOptions())
    assert (source.is_text_tokenized, source.is_headline_tokenized) == (True, False)
    (source,) = find_inputs([str(folder)], CorpusReadOptions(is_tokenized=False))
    assert not source.is_text_tokenized


def test_headlines_file_as_input_is_rejected(write):
    folder = write(train__article__txt="a storm .\n", train__title__txt="storm\n")
    with pytest.raises(DataError, match="a file of headlines; give the file of texts beside it"):
        read_records(folder / "train.title.txt")


def test_text_file_without_headlines_is_rejected(write):
    folder = write(notes__txt="a storm .\n")
    with pytest.raises(DataError, match=r"notes\.txt: a text file without .* set the file"):
        read_records(folder / "notes.txt")
    with pytest.raises(DataError, match=r"absent\.txt: no such file of headlines"):
        read_records(folder / "notes.txt", headlines=folder / "absent.txt")
    with pytest.raises(DataError, match="no headline file beside it for the format gigaword"):
        read_records(folder / "notes.txt", format="gigaword")
