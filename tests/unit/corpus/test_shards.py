import json
import os
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from readagain.corpus.inputs import Example
from readagain.corpus.lexicon import UNKNOWN_ID
from readagain.corpus.manifest import FORMAT_VERSION
from readagain.corpus.settings import SplitSize
from readagain.corpus.shards import CorpusShard, CorpusSplit, PreparedCorpus
from readagain.corpus.write import ShardWriter
from readagain.errors import ArtifactError

SEGMENT = st.lists(st.integers(UNKNOWN_ID, 10**6), min_size=1, max_size=6)
PAIR_IDS = st.tuples(st.lists(SEGMENT, min_size=1, max_size=4), SEGMENT)


def make_shard(pairs):
    segments = [segment for sentences, summary in pairs for segment in (*sentences, summary)]
    return CorpusShard.from_lengths(
        words=np.array([id for segment in segments for id in segment], np.int32),
        segment_lengths=np.array([len(segment) for segment in segments], np.int32),
        pair_segments=np.array([len(sentences) + 1 for sentences, _ in pairs], np.int32),
        origins=np.arange(len(pairs)).astype(np.uint16),
    )


@settings(deadline=None)  # the disk may be slow
@given(
    batches=st.lists(st.lists(PAIR_IDS, max_size=9), min_size=1, max_size=5),
    shard_pairs=st.integers(1, 7),
)
def test_shards_of_any_size_round_trip(batches, shard_pairs):
    pairs = [pair for batch in batches for pair in batch]
    with TemporaryDirectory() as folder:
        writer = ShardWriter(Path(folder), "train", shard_pairs)
        for batch in batches:
            writer.add(make_shard(batch))
        writer.flush()
        shards = [
            CorpusShard.open(Path(folder), "train", n) for n in range(writer.counts["shards"])
        ]
        split = CorpusSplit("train", tuple(shards))
        read_pairs = [
            ([sentence.tolist() for sentence in sentences], summary.tolist())
            for sentences, summary in map(split.__getitem__, range(len(split)))
        ]
        assert read_pairs == pairs
        assert all(len(shard) == shard_pairs for shard in shards[:-1])
        assert writer.counts["pairs"] == len(pairs)
        del split, shards  # unmaps the files before the folder is removed


def test_split_item_has_sentences_and_summary(jsonl, prepared):
    corpus = prepared(jsonl())
    sentences, summary = corpus.split("train")[0]
    assert [corpus.lexicon.decode(sentence) for sentence in sentences] == [
        "the harbour of norrvik opened on monday .",
        "ships came at dawn .",
    ]
    assert corpus.lexicon.decode(summary) == "norrvik opens its harbour"
    assert corpus.lexicon.words[:2] == [".", "of"]


def test_split_index_is_checked_and_may_be_negative(jsonl, prepared):
    split = prepared(jsonl()).split("train")
    assert split[-1][1].tolist() == split[2][1].tolist()
    with pytest.raises(IndexError, match="pair 3 of a train split of 3 pairs"):
        split[3]


def test_raw_texts_of_dev_are_in_order(jsonl, prepared):
    dev = jsonl([("Rain fell on Tarn.", "Rain in Tarn"), ("Snow, too.", "Snow")], "dev.jsonl")
    corpus = prepared(jsonl(), dev_files=[dev])
    assert list(corpus.texts("dev")) == [
        Example("Rain fell on Tarn.", "Rain in Tarn"),
        Example("Snow, too.", "Snow"),
    ]
    with pytest.raises(ArtifactError, match="raw texts are kept for dev and test splits only"):
        list(corpus.texts("train"))


def test_empty_split_opens_and_unknown_split_is_rejected(jsonl, prepared):
    corpus = prepared(jsonl())
    assert len(corpus.split("dev")) == 0
    with pytest.raises(ArtifactError, match="no split 'dav'; expected one of train, dev, test"):
        corpus.split("dav")


def test_truncated_shard_error_has_file_name(jsonl, prepared):
    folder = prepared(jsonl()).folder
    path = folder / "train-00000.words.npy"
    content = path.read_bytes()
    path.write_bytes(content[:-4])
    with pytest.raises(
        ArtifactError,
        match=rf"train-00000\.words\.npy: {len(content) - 4} bytes, manifest\.json lists "
        rf"{len(content)}; truncated or changed",
    ):
        PreparedCorpus.open(folder)
    path.unlink()
    with pytest.raises(ArtifactError, match=r"train-00000\.words\.npy: missing"):
        PreparedCorpus.open(folder)


def test_unreadable_shard_error_has_file_name(tmp_path):
    for part in ("words", "segments", "pairs", "origins"):
        (tmp_path / f"dev-00000.{part}.npy").write_bytes(b"\x93NUMPY\x01")
    with pytest.raises(ArtifactError, match=r"dev-00000\.words\.npy: cannot be mapped"):
        CorpusShard.open(tmp_path, "dev", 0)


def test_changed_shard_fails_checksum(jsonl, prepared):
    folder = prepared(jsonl()).folder
    path = folder / "lexicon.txt"
    path.write_text(path.read_text().replace("harbour", "rabbits"))
    PreparedCorpus.open(folder)
    with pytest.raises(ArtifactError, match=r"lexicon\.txt: content does not match manifest"):
        PreparedCorpus.open(folder, checksums=True)


@pytest.mark.parametrize(
    ("version", "message"),
    [
        (FORMAT_VERSION + 1, "written in format 2 by readagain .* upgrade"),
        (0, r"no format_version; it was not written by readagain"),
        (None, "no format_version; it was not"),
    ],
)
def test_manifest_of_other_format_is_rejected(jsonl, prepared, version, message):
    folder = prepared(jsonl()).folder
    path = folder / "manifest.json"
    path.write_text(json.dumps({**json.loads(path.read_text()), "format_version": version}))
    with pytest.raises(ArtifactError, match=message):
        PreparedCorpus.open(folder)


def test_missing_corpus_error_explains_folder(tmp_path, jsonl, prepared):
    with pytest.raises(ArtifactError, match="absent: no such folder; create it with"):
        PreparedCorpus.open(tmp_path / "absent")
    (tmp_path / "begun.unfinished").mkdir()
    with pytest.raises(ArtifactError, match="its preparation was interrupted or failed; run"):
        PreparedCorpus.open(tmp_path / "begun")
    with pytest.raises(ArtifactError, match=r"not a prepared corpus \(no manifest\.json\)"):
        PreparedCorpus.open(tmp_path)
    manifest = prepared(jsonl()).folder / "manifest.json"
    manifest.write_text(json.dumps({"format_version": FORMAT_VERSION}))
    with pytest.raises(ArtifactError, match=r"manifest\.json: incomplete; was it edited by hand"):
        PreparedCorpus.open(manifest.parent)
    manifest.write_text("{half")
    with pytest.raises(ArtifactError, match=r"manifest\.json: not JSON; was it edited"):
        PreparedCorpus.open(manifest.parent)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"files": {"../secret": {"bytes": 1, "sha256": ""}}}, "lists '../secret', which is not"),
        ({"files": {"a\nb": {"bytes": 1, "sha256": ""}}}, r"lists 'a\\nb', which is not a file"),
        ({"files": {"a": {"bytes": "1", "sha256": ""}}}, "incomplete; was it edited"),
        ({"files": {"a": {"sha256": ""}}}, r"incomplete; was it edited"),
        ({"files": {"a": {"bytes": 1, "sha256": "\ud800"}}}, "incomplete; was it edited"),
        ({"files": []}, "incomplete"),
        ({"splits": {}}, r"incomplete \('train'\)"),
        ({"num_words": None}, "the number of words is None"),
        ({"fingerprint": "0"}, "the fingerprint does not match the listed files"),
    ],
)
def test_invalid_manifest_is_rejected(jsonl, prepared, change, message):
    folder = prepared(jsonl()).folder
    path = folder / "manifest.json"
    path.write_text(json.dumps({**json.loads(path.read_text()), **change}))
    with pytest.raises(ArtifactError, match=message):
        PreparedCorpus.open(folder)


def test_manifest_with_wrong_counts_is_rejected(jsonl, prepared):
    corpus = prepared(jsonl())
    for name, count, message in (
        ("pairs", 9, "3 pairs for train, the manifest lists 9"),
        ("pairs", -1, "the split train has -1 pairs"),
    ):
        path = corpus.folder / "manifest.json"
        content = json.loads(path.read_text())
        content["splits"]["train"][name] = count
        path.write_text(json.dumps(content))
        with pytest.raises(ArtifactError, match=message):
            PreparedCorpus.open(corpus.folder).split("train")
    object.__setattr__(corpus.manifest, "num_words", 2)
    with pytest.raises(ArtifactError, match=r"lexicon\.txt: \d+ words, the manifest lists 2"):
        assert corpus.lexicon
    with pytest.raises(ArtifactError, match=r"words\.npy: contains words that are not in"):
        corpus.split("train")


@pytest.mark.parametrize(
    ("part", "array", "message"),
    [
        ("words", np.zeros(3, np.float32), "an array of float32 with 1 dimensions; expected"),
        ("words", np.zeros((3, 1), np.int32), "an array of int32 with 2 dimensions"),
        ("segments", np.array([0, 9]), "does not match the other arrays"),
        ("segments", np.array([0, 5, 2]), "does not match the other arrays"),
        ("pairs", np.array([1, 2]), "does not match the other arrays"),
        ("pairs", np.zeros(0, np.int64), "does not match the other arrays"),
        ("origins", np.zeros(2, np.uint16), "does not match the other arrays"),
    ],
)
def test_inconsistent_arrays_are_rejected(tmp_path, part, array, message):
    arrays = {
        "words": np.zeros(2, np.int32),
        "segments": np.array([0, 1, 2]),
        "pairs": np.array([0, 2]),
        "origins": np.zeros(1, np.uint16),
    }
    CorpusShard(**{**arrays, part: array}).save(tmp_path, "train", 0)
    with pytest.raises(ArtifactError, match=message):
        CorpusShard.open(tmp_path, "train", 0)


@pytest.mark.parametrize("header", [b"{'descr': ", b"{", b"\x00", b"('a", b"{{}: 1}"])
def test_invalid_array_header_is_rejected(tmp_path, header):
    CorpusShard(
        words=np.zeros(2, np.int32),
        segments=np.array([0, 1, 2]),
        pairs=np.array([0, 2]),
        origins=np.zeros(1, np.uint16),
    ).save(tmp_path, "train", 0)
    path = tmp_path / "train-00000.words.npy"
    content = path.read_bytes()
    path.write_bytes(content[:10] + header.ljust(118, b" ")[:117] + b"\n" + content[128:])
    with pytest.raises(ArtifactError, match=r"words\.npy: cannot be mapped"):
        CorpusShard.open(tmp_path, "train", 0)


def test_invalid_raw_text_error_has_line_number(jsonl, prepared):
    corpus = prepared(jsonl(), dev=SplitSize(pairs=1))
    path = corpus.folder / "dev.texts.jsonl"
    path.write_text("[]\n")
    with pytest.raises(ArtifactError, match=r"dev\.texts\.jsonl:1: no text and headline in this"):
        list(corpus.texts("dev"))


def test_named_pipe_as_shard_is_rejected(tmp_path, jsonl, prepared):
    corpus = prepared(jsonl())
    words = corpus.folder / "train-00000.words.npy"
    words.unlink()
    os.mkfifo(words)
    with pytest.raises(ArtifactError, match=r"words\.npy: missing"):
        PreparedCorpus.open(corpus.folder, checksums=True)
    with pytest.raises(ArtifactError, match=r"words\.npy: cannot be mapped \(not a regular file"):
        corpus.split("train")


@pytest.mark.parametrize("pairs", [[0, 0, 2], [0, 1, 2]])
def test_pair_without_text_or_summary_is_rejected(tmp_path, pairs):
    shard = CorpusShard(
        words=np.zeros(2, np.int32),
        segments=np.array([0, 1, 2]),
        pairs=np.array(pairs),
        origins=np.zeros(2, np.uint16),
    )
    shard.save(tmp_path, "train", 0)
    with pytest.raises(ArtifactError, match=r"pairs\.npy: does not match the other arrays"):
        CorpusShard.open(tmp_path, "train", 0)
