"""Which set is read, in which form, and what is said when none or several can be meant."""

import gzip
import shutil

import pytest

from readagain.corpus.prepare import prepare
from readagain.corpus.readers.find import CorpusReadOptions, find_inputs
from readagain.corpus.settings import PrepareSettings
from readagain.errors import ArtifactError, ConfigError, DataError
from readagain.evaluation.dataset import PREPARED


def prepared(tmp_path, train, *dev):
    folder = tmp_path / "prepared"
    sources = find_inputs([str(train)], CorpusReadOptions())
    for path in dev:
        sources += find_inputs([str(path)], CorpusReadOptions(), split="dev")
    prepare(sources, folder, PrepareSettings())
    return folder


def test_the_gigaword_layout_is_read_and_recognised_as_tokenized(read, gigaword):
    found = read(gigaword)
    assert found.format == "gigaword"
    assert found.is_tokenized
    assert [row.references for row in found.rows][1] == ("storm delays ferry",)
    assert [file.name for file in found.files] == ["dev.article.txt", "dev.title.txt"]


def test_the_duc_layout_has_all_its_references_which_are_not_tokenized(read, duc):
    found = read(duc)
    assert found.format == "duc"
    assert (found.is_tokenized, found.are_references_tokenized) == (True, False)
    assert found.rows[1].references == ("Storm at sea.", "Ferry late after storm")


def test_one_reference_beside_an_input_is_enough(read, duc):
    (duc / "task1_ref1.txt").unlink()
    assert read(duc).rows[0].references == ("12 people cross the bridge in Ghent",)


def test_jsonl_is_raw_unless_said_otherwise(read, jsonl):
    assert not read(jsonl).is_tokenized
    assert read(jsonl, is_tokenized=True).is_tokenized


def test_what_the_data_seems_can_be_overruled(read, gigaword):
    assert not read(gigaword, is_tokenized=False).is_tokenized


def test_a_prepared_corpus_gives_its_dev_texts(read, tmp_path, gigaword, jsonl):
    corpus = prepared(tmp_path, gigaword / "dev.article.txt", jsonl)
    found = read(corpus)
    assert found.format == PREPARED
    assert not found.is_tokenized
    assert found.rows == read(jsonl).rows
    assert found.fingerprint == read(jsonl).fingerprint


def test_a_prepared_corpus_knows_that_its_texts_were_tokenized(read, tmp_path, gigaword, jsonl):
    found = read(prepared(tmp_path, jsonl, gigaword / "dev.article.txt"))
    assert found.is_tokenized
    assert found.are_references_tokenized


def test_inputs_of_both_forms_in_one_split_must_be_told_apart(read, tmp_path, gigaword, jsonl):
    train = tmp_path / "train.jsonl"
    train.write_text('{"text": "Ships came at dawn.", "headline": "Ships come"}\n')
    corpus = prepared(tmp_path, train, gigaword / "dev.article.txt", jsonl)
    with pytest.raises(DataError, match="only some inputs of its dev split are in Gigaword"):
        read(corpus)
    assert len(read(corpus, is_tokenized=False).rows) == 5


@pytest.mark.parametrize(
    ("split", "message"),
    [
        ("dev", "its dev split has no pairs; choose another split, or prepare the"),
        (
            "train",
            r"train\.texts\.jsonl: raw texts are kept for dev and test splits only; name the f",
        ),
    ],
)
def test_a_split_without_texts_is_refused(read, tmp_path, jsonl, split, message):
    corpus = prepared(tmp_path, jsonl)
    with pytest.raises((DataError, ArtifactError), match=message):
        read(corpus, split=split)


def test_a_split_that_does_not_exist_is_refused(read, gigaword):
    with pytest.raises(ConfigError, match="split is 'valid'; expected train, dev, test"):
        read(gigaword, split="valid")


def test_a_folder_of_several_sets_says_how_to_choose(read, gigaword):
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


def test_two_sets_of_the_same_split_are_told_apart_by_name_only(read, gigaword, jsonl):
    shutil.copy(jsonl, gigaword / "valid.jsonl")
    with pytest.raises(
        DataError, match=r"2 data sets in this folder: dev\.art.*valid\.jsonl; give"
    ):
        read(gigaword, split="dev")


def test_a_name_that_only_begins_like_a_split_is_of_none(read, gigaword, jsonl):
    shutil.copy(jsonl, gigaword / "devices.jsonl")
    assert read(gigaword, split="dev").files[0].name == "dev.article.txt"


def test_a_split_that_a_folder_lacks_is_refused(read, gigaword):
    with pytest.raises(DataError, match=r"no test set in this folder; found dev\.article\.txt"):
        read(gigaword, split="test")


@pytest.mark.parametrize("name", ["train.jsonl", "news.jsonl"])
def test_a_file_is_not_taken_for_a_split_that_its_name_does_not_say(read, tmp_path, jsonl, name):
    file = shutil.copyfile(jsonl, tmp_path / name)
    with pytest.raises(
        ConfigError, match=rf"split is 'dev': .*{name} is one data set without this"
    ):
        read(file, split="dev")


def test_a_file_may_be_named_with_the_split_that_it_is(read, tmp_path, jsonl):
    file = shutil.copyfile(jsonl, tmp_path / "valid.jsonl")
    assert read(file, split="dev").files == (file,)


def test_a_folder_of_no_known_layout_says_what_would_be_one(read, tmp_path):
    (tmp_path / "notes.txt").write_text("nothing\n")
    with pytest.raises(DataError, match=r"no data set in this folder; expected X\.article\.txt"):
        read(tmp_path)


def test_a_missing_path_is_named(read, tmp_path):
    with pytest.raises(DataError, match="absent: no such file or folder"):
        read(tmp_path / "absent")


def test_unequal_files_are_named_with_their_counts(read, duc):
    (duc / "task1_ref1.txt").write_text("only one\n")
    message = r"line counts differ: .*input\.txt has 2, .*ref0\.txt has 2, .*ref1\.txt has 1; exp"
    with pytest.raises(DataError, match=message):
        read(duc)


def test_an_empty_reference_is_named_by_file_and_line(read, duc):
    (duc / "task1_ref1.txt").write_text("fine\n  \n")
    with pytest.raises(DataError, match=r"task1_ref1\.txt:2: empty reference; add it"):
        read(duc)


def test_an_empty_headline_in_jsonl_is_named_by_its_pair(read, tmp_path):
    path = tmp_path / "a.jsonl"
    path.write_text('{"text": "x", "headline": "y"}\n{"text": "x", "headline": ""}\n')
    with pytest.raises(DataError, match=r"a\.jsonl: pair 2: empty reference"):
        read(path)


def test_another_encoding_is_refused_unless_named(read, gigaword):
    (gigaword / "dev.title.txt").write_bytes(b"a\ncaf\xe9\nb\n")
    with pytest.raises(DataError, match=r"dev\.title\.txt:2: byte 0xe9 at column 4 is not utf-8"):
        read(gigaword)
    assert read(gigaword, encoding="latin-1").rows[1].references == ("café",)


def test_a_file_without_a_pair_is_refused(read, tmp_path):
    path = tmp_path / "a.csv"
    path.write_text("text,headline\n")
    with pytest.raises(DataError, match=r"a\.csv: no pairs; expected"):
        read(path)


def test_compressed_files_are_read(read, jsonl):
    packed = jsonl.with_name("packed.jsonl.gz")
    packed.write_bytes(gzip.compress(jsonl.read_bytes()))
    assert read(packed).rows == read(jsonl).rows


def test_a_reference_of_several_lines_is_read_as_one(read, tmp_path):
    path = tmp_path / "a.jsonl"
    path.write_text('{"text": "x", "headline": "a\\n b"}\n')
    assert read(path).rows[0].references == ("a b",)


def test_a_limit_keeps_the_first_rows_and_changes_the_fingerprint(read, gigaword):
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
