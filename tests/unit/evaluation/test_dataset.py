"""Reading of data sets."""

import gzip
import shutil

import pytest

from readagain.cli.options import as_option
from readagain.corpus.prepare import prepare
from readagain.corpus.readers.find import CorpusReadOptions, find_inputs
from readagain.corpus.settings import PrepareSettings
from readagain.errors import ArgumentError, ArtifactError, ConfigError, DataError
from readagain.evaluation.dataset import PREPARED


def prepared(tmp_path, train, *dev):
    """Prepare a corpus from one training file and any number of dev files."""
    folder = tmp_path / "prepared"
    inputs = find_inputs([str(train)], CorpusReadOptions())
    for path in dev:
        inputs += find_inputs([str(path)], CorpusReadOptions(), split="dev")
    prepare(inputs, folder, PrepareSettings())
    return folder


def test_gigaword_layout_is_tokenized(read, gigaword):
    found = read(gigaword)
    assert found.format == "gigaword"
    assert found.is_tokenized
    assert [row.references for row in found.rows][1] == ("storm delays ferry",)
    assert [file.name for file in found.files] == ["dev.article.txt", "dev.title.txt"]


def test_duc_layout_has_raw_references(read, duc):
    found = read(duc)
    assert found.format == "duc"
    assert (found.is_tokenized, found.are_references_tokenized) == (True, False)
    assert found.rows[1].references == ("Storm at sea.", "Ferry late after storm")


def test_duc_layout_with_one_reference(read, duc):
    (duc / "task1_ref1.txt").unlink()
    assert read(duc).rows[0].references == ("12 people cross the bridge in Ghent",)


def test_jsonl_is_raw_by_default(read, jsonl):
    assert not read(jsonl).is_tokenized
    assert read(jsonl, is_tokenized=True).is_tokenized


def test_is_tokenized_overrides_detection(read, gigaword):
    assert not read(gigaword, is_tokenized=False).is_tokenized


def test_prepared_corpus_gives_its_dev_texts(read, tmp_path, gigaword, jsonl):
    corpus = prepared(tmp_path, gigaword / "dev.article.txt", jsonl)
    found = read(corpus)
    assert found.format == PREPARED
    assert not found.is_tokenized
    assert found.rows == read(jsonl).rows
    assert found.fingerprint == read(jsonl).fingerprint


def test_texts_file_is_a_split_of_its_prepared_corpus(read, tmp_path, gigaword, jsonl):
    corpus = prepared(tmp_path, jsonl, gigaword / "dev.article.txt")
    assert read(corpus / "dev.texts.jsonl") == read(corpus)
    assert read(corpus / "dev.texts.jsonl").is_tokenized


def test_prepared_corpus_records_tokenized_texts(read, tmp_path, gigaword, jsonl):
    found = read(prepared(tmp_path, jsonl, gigaword / "dev.article.txt"))
    assert found.is_tokenized
    assert found.are_references_tokenized


def test_prepared_split_of_both_forms_is_an_error(read, tmp_path, gigaword, jsonl):
    train = tmp_path / "train.jsonl"
    train.write_text('{"text": "Ships came at dawn.", "headline": "Ships come"}\n')
    corpus = prepared(tmp_path, train, gigaword / "dev.article.txt", jsonl)
    message = "only some inputs of its dev split are tokenized as in Gigaword; set {}"
    with pytest.raises(ArgumentError, match=message.format("is_tokenized")) as caught:
        read(corpus)
    shown = caught.value.format_message(as_option)
    assert shown.endswith(message.format("--tokenized or --raw"))
    assert len(read(corpus, is_tokenized=False).rows) == 5


@pytest.mark.parametrize(
    ("split", "message"),
    [
        ("dev", "its dev split has no pairs; choose another split, or prepare the"),
        (
            "train",
            r"train\.texts\.jsonl: missing, since raw texts are kept for dev and test splits only",
        ),
    ],
)
def test_split_without_texts_is_an_error(read, tmp_path, jsonl, split, message):
    corpus = prepared(tmp_path, jsonl)
    with pytest.raises((DataError, ArtifactError), match=message):
        read(corpus, split=split)


def test_unknown_split_is_an_error(read, gigaword):
    with pytest.raises(ConfigError, match="split is 'valid'; expected train, dev, test"):
        read(gigaword, split="valid")


def test_directory_of_several_sets_needs_a_split(read, gigaword):
    for name in ("article", "title"):
        shutil.copy(gigaword / f"dev.{name}.txt", gigaword / f"train.{name}.txt")
    message = (
        r"giga: 2 data sets in this folder: dev\.article\.txt, train\.article\.txt; give the path "
        r"of one, such as .*dev\.article\.txt, or the split train, dev or test"
    )
    with pytest.raises(DataError, match=message):
        read(gigaword)
    assert read(gigaword, split="dev").files[0].name == "dev.article.txt"
    assert read(gigaword / "train.article.txt").files[0].name == "train.article.txt"


def test_two_sets_of_one_split_need_a_path(read, gigaword, jsonl):
    shutil.copy(jsonl, gigaword / "valid.jsonl")
    with pytest.raises(
        DataError, match=r"2 data sets in this folder: dev\.art.*valid\.jsonl; give"
    ):
        read(gigaword, split="dev")


def test_split_name_is_matched_as_a_word(read, gigaword, jsonl):
    shutil.copy(jsonl, gigaword / "devices.jsonl")
    assert read(gigaword, split="dev").files[0].name == "dev.article.txt"


def test_missing_split_is_an_error(read, gigaword):
    with pytest.raises(DataError, match=r"no test set in this folder; found dev\.article\.txt"):
        read(gigaword, split="test")


@pytest.mark.parametrize("name", ["train.jsonl", "news.jsonl"])
def test_split_of_a_file_must_match_its_name(read, tmp_path, jsonl, name):
    file = shutil.copyfile(jsonl, tmp_path / name)
    with pytest.raises(ConfigError, match=rf"split is 'dev', but .*{name} is not named after it"):
        read(file, split="dev")


def test_split_of_a_file_may_match_its_name(read, tmp_path, jsonl):
    file = shutil.copyfile(jsonl, tmp_path / "valid.jsonl")
    assert read(file, split="dev").files == (file,)


def test_directory_without_data_is_an_error(read, tmp_path):
    (tmp_path / "notes.txt").write_text("nothing\n")
    with pytest.raises(DataError, match=r"no data set in this folder; expected X\.article\.txt"):
        read(tmp_path)


def test_missing_path_is_an_error(read, tmp_path):
    with pytest.raises(DataError, match="absent: no such file or folder"):
        read(tmp_path / "absent")


def test_unequal_line_counts_are_an_error(read, duc):
    (duc / "task1_ref1.txt").write_text("only one\n")
    message = r"line counts differ: .*input\.txt has 2, .*ref0\.txt has 2, .*ref1\.txt has 1; exp"
    with pytest.raises(DataError, match=message):
        read(duc)


def test_empty_reference_is_reported_with_its_line(read, duc):
    (duc / "task1_ref1.txt").write_text("fine\n  \n")
    with pytest.raises(DataError, match=r"task1_ref1\.txt:2: empty reference; add it"):
        read(duc)


def test_empty_headline_is_reported_with_its_pair(read, tmp_path):
    path = tmp_path / "a.jsonl"
    path.write_text('{"text": "x", "headline": "y"}\n{"text": "x", "headline": ""}\n')
    with pytest.raises(DataError, match=r"a\.jsonl: pair 2: empty reference"):
        read(path)


def test_wrong_encoding_is_an_error(read, gigaword):
    (gigaword / "dev.title.txt").write_bytes(b"a\ncaf\xe9\nb\n")
    with pytest.raises(DataError, match=r"dev\.title\.txt:2: byte 0xe9 at column 4 is not utf-8"):
        read(gigaword)
    assert read(gigaword, encoding="latin-1").rows[1].references == ("café",)


def test_invalid_records_can_be_skipped(read, jsonl):
    rows = read(jsonl).rows
    empty = '{"text": "A ferry was late.", "headline": ""}\n'
    jsonl.write_text("broken\n" + empty + jsonl.read_text())
    with pytest.raises(DataError, match=r":1: not JSON.*; or skip such records with on_error=skip"):
        read(jsonl)
    found = read(jsonl, on_error="skip")
    assert found.rows == rows
    assert [record.where for record in found.skipped] == [f"{jsonl}:1", f"{jsonl}: pair 2"]
    assert found.skipped[1].reason.startswith("empty reference")


def test_file_without_valid_pairs_has_the_first_reason(read, jsonl):
    jsonl.write_text('{"text": 3, "headline": "x"}\n')
    with pytest.raises(
        DataError, match=r":1: a whole number under 'text'.*; the data has no valid pairs"
    ):
        read(jsonl, on_error="skip")


def test_file_without_pairs_is_an_error(read, tmp_path):
    path = tmp_path / "a.csv"
    path.write_text("text,headline\n")
    with pytest.raises(DataError, match=r"a\.csv: no valid pairs; expected"):
        read(path)


def test_compressed_file_is_read(read, jsonl):
    packed = jsonl.with_name("packed.jsonl.gz")
    packed.write_bytes(gzip.compress(jsonl.read_bytes()))
    assert read(packed).rows == read(jsonl).rows


def test_reference_is_joined_on_one_line(read, tmp_path):
    path = tmp_path / "a.jsonl"
    path.write_text('{"text": "x", "headline": "a\\n b"}\n')
    assert read(path).rows[0].references == ("a b",)


def test_limit_keeps_the_first_rows(read, gigaword):
    whole = read(gigaword)
    assert whole.first(2).rows == whole.rows[:2]
    assert whole.first(2).fingerprint != whole.fingerprint
    assert whole.first(None) is whole
    with pytest.raises(ConfigError, match="limit is 0; expected 1 or more"):
        whole.first(0)


def test_sample_is_random_ordered_and_repeatable(read, parallel):
    whole = read(parallel([f"text {n}" for n in range(50)], ["title"] * 50))
    sample = whole.sample(10, seed=3)
    positions = [whole.rows.index(row) for row in sample.rows]
    assert positions == sorted(set(positions))
    assert len(positions) == 10
    assert positions != list(range(10))
    assert sample == whole.sample(10, seed=3) != whole.sample(10, seed=4)
    assert sample.selection == "a random sample with seed 3"
    assert whole.sample(50) is whole.sample(None) is whole
    with pytest.raises(ConfigError, match="sample is 0; expected 1 or more"):
        whole.sample(0)
