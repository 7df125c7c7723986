import errno
import json
import os
import signal
import sys
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from unittest.mock import Mock

import numpy as np
import pytest

from readagain.corpus import chunks, workers
from readagain.corpus.filters import FilterLimits
from readagain.corpus.inputs import CorpusInput
from readagain.corpus.manifest import unfinished_dir
from readagain.corpus.prepare import prepare
from readagain.corpus.readers.find import CorpusReadOptions, find_inputs
from readagain.corpus.settings import PrepareSettings, SplitSize
from readagain.corpus.shards import PreparedCorpus
from readagain.corpus.workers import chunk_folder
from readagain.errors import ArgumentError, ConfigError, DataError
from readagain.formats import lines
from readagain.storage.locks import locked_dir
from readagain.worker_pool import process_pool

NAMES = "ada bo cy dee eve fay gil hal ida jo kay lea"
MANY = [
    (f"The storm named {word} came to Tarn on day {n}. It left.", f"Storm {word} comes to Tarn")
    for n, word in enumerate(NAMES.split())
]


@pytest.fixture
def small_blocks(monkeypatch):
    """Set blocks of three lines, so that a dozen pairs have four chunks."""
    monkeypatch.setattr(lines, "BLOCK_RECORDS", 3)


def read_files(corpus):
    return {path.name: path.read_bytes() for path in corpus.folder.iterdir()}


def headlines(corpus, split):
    pairs = corpus.split(split)
    return [corpus.lexicon.decode(pairs[index][1]) for index in range(len(pairs))]


def test_manifest_lists_all_files_of_the_folder(tmp_path, jsonl, prepared):
    corpus = prepared(jsonl())
    assert {path.name for path in corpus.folder.iterdir()} == {
        "manifest.json",
        *corpus.manifest.files,
    }
    assert sorted(path.name for path in tmp_path.iterdir()) == ["out", "pairs.jsonl"]


def test_lexicon_is_sorted_by_train_count_then_spelling(jsonl, prepared):
    train = jsonl([("b b a the storm", "b c"), ("a calm day at sea", "a day")])
    dev = jsonl([("zebra a crossing", "zebra yard")], "dev.jsonl")
    lexicon = prepared(train, dev_files=[dev]).lexicon
    rows = list(zip(lexicon.words, lexicon.source_counts, lexicon.summary_counts, strict=True))
    assert rows[:4] == [("a", 2, 1), ("b", 2, 1), ("day", 1, 1), ("at", 1, 0)]
    assert rows[-3:] == [("crossing", 0, 0), ("yard", 0, 0), ("zebra", 0, 0)]


def test_lexicon_omits_words_of_dropped_pairs(jsonl, prepared):
    dev = jsonl(MANY[:1], "dev.jsonl")
    train = jsonl([*MANY[1:], ("zzz", "zz"), (MANY[0][0], "Yyy comes to Tarn")])
    corpus = prepared(train, dev_files=[dev])
    assert corpus.manifest.inputs[0]["dropped"] == {"length": 1, "text-in-dev": 1}
    assert {"zzz", "zz", "yyy"}.isdisjoint(corpus.lexicon.words)


def test_corpus_does_not_depend_on_chunk_size(jsonl, prepared, monkeypatch):
    path = jsonl([*MANY, *MANY[:4]])
    one_chunk = prepared(path, out="one_chunk")
    monkeypatch.setattr(lines, "BLOCK_RECORDS", 3)
    small_chunks = prepared(path, out="small_chunks")
    assert read_files(one_chunk) == read_files(small_chunks)


@pytest.mark.usefixtures("small_blocks")
def test_duplicates_are_dropped_across_inputs(jsonl, prepared):
    first = jsonl([*MANY, MANY[0]])
    second = jsonl([MANY[5], ("A storm came to Norrvik, too.", "Storm in Norrvik")], "b.jsonl")
    corpus = prepared(first, second)
    counts = [(entry["kept"], entry["dropped"]) for entry in corpus.manifest.inputs]
    assert counts == [(12, {"duplicate": 1}), (1, {"duplicate": 1})]
    assert headlines(corpus, "train")[-2:] == ["storm lea comes to tarn", "storm in norrvik"]


def test_shards_have_origin_of_each_pair(jsonl, prepared):
    one, two = jsonl(MANY[:4]), jsonl(MANY[4:9], "b.jsonl")
    corpus = prepared(one, two)
    assert corpus.manifest.origins == [str(one), str(two)]
    (shard,) = corpus.split("train").shards
    assert np.bincount(shard.origins).tolist() == [4, 5]


def test_texts_of_dev_input_are_dropped_from_train(jsonl, prepared):
    dev = jsonl([(MANY[3][0], "Another headline of the same text")], "dev.jsonl")
    corpus = prepared(jsonl(MANY), dev_files=[dev])
    assert corpus.manifest.inputs[0]["dropped"] == {"text-in-dev": 1}
    assert len(corpus.split("train")) == 11
    assert headlines(corpus, "dev") == ["another headline of the same text"]


@pytest.mark.usefixtures("small_blocks")
def test_split_off_pairs_keep_raw_texts(jsonl, prepared):
    corpus = prepared(jsonl(MANY), dev=SplitSize(pairs=4), test=SplitSize(share=0.3))
    by_text = dict(MANY)
    for split in ("dev", "test"):
        texts = list(corpus.texts(split))
        assert texts
        assert [by_text[pair.text] for pair in texts] == [pair.headline for pair in texts]
        assert [pair.headline.lower() for pair in texts] == headlines(corpus, split)
    assert len(corpus.split("dev")) == 4


def test_raw_texts_keep_references(tmp_path, prepared):
    (tmp_path / "input.txt").write_text("a storm came to tarn .\n")
    for number in range(4):
        (tmp_path / f"task1_ref{number}.txt").write_text(f"Storm {number}\n")
    (pair,) = prepared(dev_files=[tmp_path / "input.txt"]).texts("dev")
    assert pair.references == ("Storm 0", "Storm 1", "Storm 2", "Storm 3")


def test_empty_inputs_are_rejected(tmp_path, prepared):
    path = tmp_path / "a.csv"
    path.write_text("text,headline\n")
    with pytest.raises(DataError, match=r"a\.csv: no record in any input"):
        prepared(path)


def test_too_small_split_is_rejected(jsonl, prepared):
    with pytest.raises(ConfigError, match="no text falls into the test split; increase test_pairs"):
        prepared(jsonl(MANY), test=SplitSize(share=1e-9))


def test_empty_train_split_error_lists_reasons(jsonl, prepared):
    with pytest.raises(DataError, match=r"no pair is left for train \(dropped: length 12\)"):
        prepared(jsonl(MANY), limits=FilterLimits(max_text_words=3))
    with pytest.raises(DataError, match="no pair is left to train on .* reduce the dev"):
        prepared(jsonl(MANY), dev=SplitSize(pairs=12))


def test_skipped_records_are_counted_and_listed(tmp_path, jsonl, prepared):
    path = jsonl(MANY)
    path.write_text(path.read_text() + "{broken\n")
    with pytest.raises(DataError, match=r"pairs\.jsonl:13: not JSON"):
        prepared(path, on_error="stop")
    corpus = prepared(path)
    assert corpus.manifest.inputs[0]["dropped"] == {"bad": 1}
    listed = (corpus.folder / "skipped.jsonl").read_text().splitlines()
    (row,) = map(json.loads, listed)
    assert (row["file"], row["row"], row["content"]) == (str(path), 13, "{broken")


@pytest.fixture
def lazy_pool(monkeypatch):
    """Replace the process pool by one that runs a task when its result is read."""

    @contextmanager
    def open_pool(num_workers):
        yield lambda function, *task: Mock(result=partial(function, *task))

    monkeypatch.setattr(workers, "_open_pool", open_pool)


@pytest.mark.usefixtures("lazy_pool")
def test_earliest_error_is_raised_first(tmp_path, monkeypatch, prepared):
    monkeypatch.setattr(lines, "BLOCK_RECORDS", 8)
    (tmp_path / "texts.txt").write_bytes(b"caf\xe9\n" + b"fine\n" * 9)
    (tmp_path / "heads.txt").write_bytes(b"head\n" * 9)
    with pytest.raises(DataError, match=r"texts\.txt:1: byte 0xe9"):
        prepared(
            tmp_path / "texts.txt",
            read={"headlines": tmp_path / "heads.txt"},
            on_error="stop",
        )


@pytest.mark.usefixtures("lazy_pool", "small_blocks")
def test_earliest_invalid_record_is_raised_first(jsonl, prepared):
    path = jsonl(MANY)
    path.write_text("{broken\n" * 9 + path.read_text())
    with pytest.raises(DataError, match=r"pairs\.jsonl:1: not JSON"):
        prepared(path, on_error="stop")


def test_corpus_does_not_depend_on_workers(jsonl, prepared, small_blocks):
    path = jsonl(MANY)
    expected = read_files(prepared(path, out="one_worker", num_workers=1))
    assert read_files(prepared(path, out="two_workers", num_workers=2)) == expected


def test_killed_worker_error_has_advice(jsonl, prepared, small_blocks, monkeypatch):
    @contextmanager
    def broken_pool(num_workers):
        with process_pool(num_workers) as pool:
            pool.submit(signal.raise_signal, signal.SIGKILL).exception()
            yield Mock(submit=lambda *task: pool.submit(print))

    monkeypatch.setattr(workers, "process_pool", broken_pool)
    with pytest.raises(DataError, match="a worker process was killed, perhaps because memory"):
        prepared(jsonl(MANY), num_workers=2)


@pytest.mark.usefixtures("small_blocks")
class TestInterruptedRun:
    def interrupt(self, prepared, path, monkeypatch):
        """Start a preparation that is interrupted after two chunks; return their paths."""
        saved = []

        def save_two_chunks(source, block, settings, chunk_path):
            if len(saved) == 2:
                raise KeyboardInterrupt
            saved.append(chunk_path)
            return chunks.save_chunk(source, block, settings, chunk_path)

        with monkeypatch.context() as patch:
            patch.setattr(workers, "save_chunk", save_two_chunks)
            with pytest.raises(KeyboardInterrupt):
                prepared(path)
        return saved

    def record_saved(self, monkeypatch):
        """Return a list to which the path of each chunk is added when it is saved."""
        saved = []

        def save(source, block, settings, path):
            saved.append(path)
            return chunks.save_chunk(source, block, settings, path)

        monkeypatch.setattr(workers, "save_chunk", save)
        return saved

    def test_resumed_run_writes_the_same_corpus(self, jsonl, prepared, monkeypatch):
        path = jsonl(MANY)
        expected = read_files(prepared(path, out="uninterrupted"))
        self.interrupt(prepared, path, monkeypatch)
        saved = self.record_saved(monkeypatch)
        assert read_files(prepared(path)) == expected
        assert len(saved) == 2

    def test_interrupted_run_leaves_no_output_folder(self, tmp_path, jsonl, prepared, monkeypatch):
        self.interrupt(prepared, jsonl(MANY), monkeypatch)
        assert not (tmp_path / "out").exists()
        assert unfinished_dir(tmp_path / "out").exists()

    def test_damaged_chunk_is_created_again(self, jsonl, prepared, monkeypatch):
        path = jsonl(MANY)
        first, _ = self.interrupt(prepared, path, monkeypatch)
        first.write_bytes(first.read_bytes()[:100])
        saved = self.record_saved(monkeypatch)
        prepared(path)
        assert len(saved) == 3

    def test_swapped_chunks_are_created_again(self, jsonl, prepared, monkeypatch):
        path = jsonl(MANY)
        expected = read_files(prepared(path, out="uninterrupted"))
        first, second = self.interrupt(prepared, path, monkeypatch)
        swapped = second.read_bytes(), first.read_bytes()
        first.write_bytes(swapped[0])
        second.write_bytes(swapped[1])
        assert read_files(prepared(path)) == expected

    def test_changed_input_is_read_again(self, jsonl, prepared, monkeypatch):
        path = jsonl(MANY)
        self.interrupt(prepared, path, monkeypatch)
        jsonl(MANY[1:])
        saved = self.record_saved(monkeypatch)
        assert len(prepared(path).split("train")) == 11
        assert len(saved) == 4

    def test_changed_input_of_same_size_is_read_again(self, jsonl, prepared, monkeypatch):
        path = jsonl(MANY)
        self.interrupt(prepared, path, monkeypatch)
        path.write_text(path.read_text().replace("Tarn", "Ford"))
        changed_ns = path.stat().st_mtime_ns + 10**9
        os.utime(path, ns=(changed_ns, changed_ns))
        assert headlines(prepared(path), "train")[0] == "storm ada comes to ford"

    def test_changed_setting_creates_chunks_again(self, jsonl, prepared, monkeypatch):
        path = jsonl(MANY)
        self.interrupt(prepared, path, monkeypatch)
        saved = self.record_saved(monkeypatch)
        prepared(path, max_sentences=1)
        assert len(saved) == 4

    def test_changed_split_size_keeps_chunks(self, jsonl, prepared, monkeypatch):
        path = jsonl(MANY)
        self.interrupt(prepared, path, monkeypatch)
        saved = self.record_saved(monkeypatch)
        prepared(path, filters=("length",))
        assert len(saved) == 2


def fail_with_full_disk(*arguments, **options):
    raise OSError(errno.ENOSPC, "No space left on device")


@pytest.mark.parametrize(
    ("module", "function"),
    [("readagain.corpus.chunks.np", "savez"), ("readagain.corpus.shards.np", "save")],
)
def test_full_disk_error_leaves_no_output(tmp_path, jsonl, prepared, monkeypatch, module, function):
    path = jsonl(MANY)
    expected = read_files(prepared(path, out="expected"))
    with monkeypatch.context() as patch:
        patch.setattr(f"{module}.{function}", fail_with_full_disk)
        with pytest.raises(
            DataError, match="out: cannot be written: No space left on device; free"
        ):
            prepared(path)
    assert not (tmp_path / "out").exists()
    assert not list(tmp_path.rglob("*.part"))
    assert read_files(prepared(path)) == expected


@pytest.mark.parametrize(("names", "path"), [((), "out"), (("/a/chunk",), "/a/chunk")])
def test_other_os_errors_have_path_and_reason(jsonl, prepared, monkeypatch, names, path):
    def fail(*arguments, **options):
        raise PermissionError(errno.EACCES, "Permission denied", *names)

    monkeypatch.setattr("readagain.corpus.chunks.np.savez", fail)
    with pytest.raises(DataError, match=f"{path}: cannot be written: Permission denied; fix"):
        prepared(jsonl(MANY))


def test_second_process_on_same_folder_is_rejected(tmp_path, jsonl, prepared):
    with (
        locked_dir(unfinished_dir(tmp_path / "out"), action="preparing into"),
        pytest.raises(
            ConfigError, match=r"out\.unfinished: another process is preparing into this folder"
        ),
    ):
        prepared(jsonl(MANY))
    prepared(jsonl(MANY))


def test_corpus_that_another_process_finished_is_kept(tmp_path, jsonl, prepared, monkeypatch):
    corpus = prepared(jsonl(MANY), out="other")

    def lock_after_other(path, *, action):
        corpus.folder.rename(tmp_path / "out")
        return locked_dir(path, action=action)

    monkeypatch.setattr("readagain.corpus.prepare.locked_dir", lock_after_other)
    with pytest.raises(ArgumentError, match="out: contains a prepared corpus"):
        prepared(jsonl(MANY[:6]))
    assert len(PreparedCorpus.open(tmp_path / "out").split("train")) == len(MANY)


def test_chunks_of_next_process_are_kept(tmp_path, jsonl, prepared, monkeypatch):
    chunk = unfinished_dir(tmp_path / "out") / "chunks" / "00000.npz"

    @contextmanager
    def start_next_process_at_the_end(path, *, action):
        with locked_dir(path, action=action):
            yield
        chunk.parent.mkdir(parents=True)
        chunk.write_bytes(b"x")

    monkeypatch.setattr("readagain.corpus.prepare.locked_dir", start_next_process_at_the_end)
    prepared(jsonl(MANY))
    assert chunk.read_bytes() == b"x"


def test_link_without_target_is_rejected_at_once(tmp_path, jsonl, prepared):
    (tmp_path / "out").symlink_to("nowhere")
    with pytest.raises(DataError, match="/out: is a link without a target; choose another folder"):
        prepared(jsonl(MANY))


@pytest.mark.parametrize("out", [".", "/"])
def test_folder_without_name_is_rejected(out):
    with pytest.raises(DataError, match=f"^[{out}]: cannot be replaced by a corpus; choose a new"):
        prepare([], Path(out), PrepareSettings())


def test_linked_working_directory_is_rejected(tmp_path, jsonl, prepared):
    other = tmp_path / "other"
    other.mkdir()
    unfinished_dir(tmp_path / "out").symlink_to(other)
    with pytest.raises(DataError, match=r"out\.unfinished: is a symbolic link, which is not"):
        prepared(jsonl(MANY))
    assert list(other.iterdir()) == []


def test_foreign_folder_is_rejected(tmp_path, jsonl, prepared):
    (tmp_path / "out").mkdir()
    prepared(jsonl(MANY))  # an empty folder is not rejected
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "letter.txt").write_text("dear")
    for overwrite in (False, True):
        with pytest.raises(DataError, match="mine: not empty and not a prepared corpus"):
            prepared(jsonl(MANY), out="mine", overwrite=overwrite)
    (tmp_path / "file").write_text("x")
    with pytest.raises(DataError, match="file: is a file; choose another"):
        prepared(jsonl(MANY), out="file")


def test_prepared_corpus_needs_overwrite(jsonl, prepared):
    prepared(jsonl(MANY))
    with pytest.raises(ConfigError, match="contains a prepared corpus"):
        prepared(jsonl(MANY[:5]))
    assert len(prepared(jsonl(MANY[:5]), overwrite=True).split("train")) == 5


def rewrite(path, content):
    """Replace the content of a file and keep its time."""
    before = path.stat()
    path.write_text(content)
    os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))


@pytest.mark.parametrize(
    "change",
    [
        lambda path: path.write_text(path.read_text() * 2),
        lambda path: path.write_text(""),
        lambda path: rewrite(path, path.read_text().replace("Tarn", "Ford")),
    ],
    ids=["longer", "empty", "same size and time"],
)
def test_input_changed_while_read_is_rejected(tmp_path, jsonl, change):
    path = jsonl()

    def on_progress(progress):
        if progress.stage == "writing":
            change(path)

    sources = find_inputs([str(path)], CorpusReadOptions())
    settings = PrepareSettings(dev=SplitSize(pairs=1))
    with pytest.raises(DataError, match=r"pairs\.jsonl: changed while it was read"):
        prepare(sources, tmp_path / "out", settings, on_progress=on_progress)
    assert not (tmp_path / "out").exists()


@pytest.mark.skipif(sys.platform != "linux", reason="file names are bytes on Linux only")
def test_file_name_that_is_not_utf8_is_prepared(jsonl, prepared):
    path = jsonl(name=os.fsdecode(b"caf\xe9.jsonl"))
    corpus = prepared(path)
    assert corpus.manifest.inputs[0]["paths"] == [str(path)]


def test_replaced_input_of_equal_size_and_time_has_other_chunks(tmp_path, jsonl):
    path = jsonl(MANY)
    source = CorpusInput(format="jsonl", paths=(path,), origin=str(path))
    settings = PrepareSettings()
    before = path.stat()
    folder = chunk_folder(tmp_path, source, settings)
    assert chunk_folder(tmp_path, source, settings) == folder
    while path.stat().st_ctime_ns == before.st_ctime_ns:  # until the clock of the files advances
        path.write_bytes(path.read_bytes().replace(b"a", b"b"))
        os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))
    assert path.stat().st_mtime_ns == before.st_mtime_ns
    assert chunk_folder(tmp_path, source, settings) != folder
