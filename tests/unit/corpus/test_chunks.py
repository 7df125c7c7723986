import numpy as np
import pytest

from readagain.corpus.chunks import (
    LOWER_CASE,
    NO_CASE,
    UNKNOWN_WORD,
    Chunk,
    make_chunk,
    num_saved_records,
)  # fmt: skip
from readagain.corpus.inputs import CorpusInput
from readagain.corpus.readers.find import CorpusReadOptions, find_inputs
from readagain.corpus.readers.formats import FORMATS
from readagain.corpus.settings import PrepareSettings
from readagain.errors import ArtifactError, DataError
from readagain.formats.records import Block, InvalidRecord


def make_chunk_of_file(path, *, split="train", **settings):
    """Return the only chunk of a file."""
    (source,) = find_inputs([str(path)], CorpusReadOptions(), split=split)
    (block,) = FORMATS[source.format].read_blocks(source)
    return make_chunk(source, block, PrepareSettings(**settings))


def segment_texts(chunk):
    """Return the words of each sentence and headline, separated by spaces."""
    words = [chunk.words[id] for id in chunk.ids]
    ends = np.cumsum(chunk.segment_lengths)
    return [
        " ".join(words[end - n : end]) for n, end in zip(chunk.segment_lengths, ends, strict=True)
    ]


def test_chunk_has_sentences_then_headline(jsonl):
    chunk = make_chunk_of_file(jsonl())
    assert segment_texts(chunk)[:4] == [
        "the harbour of norrvik opened on monday .",
        "ships came at dawn .",
        "norrvik opens its harbour",
        "a storm closed ## schools in eastmoor , officials said .",
    ]
    assert chunk.pair_segments.tolist() == [3, 2, 2]
    assert chunk.records.tolist() == [0, 1, 2]


def test_surfaces_are_kept_where_case_is_informative(jsonl):
    text = "The little port of Norrvik opened on Monday, iCall said."
    chunk = make_chunk_of_file(jsonl([(text, "PORT OPENS")]))
    spellings = [
        {NO_CASE: "?", LOWER_CASE: chunk.words[id]}.get(surface_id)
        or chunk.surfaces[surface_id - 1]
        for id, surface_id in zip(chunk.ids.tolist(), chunk.surface_ids.tolist(), strict=True)
    ]
    assert " ".join(spellings) == "? little port of Norrvik opened on Monday ? iCall said ? ? ?"


def test_max_sentences_keeps_first_sentences(jsonl):
    assert make_chunk_of_file(jsonl(), max_sentences=1).pair_segments.tolist() == [2, 2, 2]


def test_dropped_pairs_are_counted_by_first_filter(jsonl):
    pairs = [
        ("", "No text"),
        ("No headline here, not one word.", "  "),
        ("Too short.", "Short"),
        ("Will the storm come to Tarn? Nobody knows.", "Storm: will it come?"),
        ("The storm came to Tarn after all.", "Storm comes to Tarn"),
    ]
    chunk = make_chunk_of_file(jsonl(pairs), filters=("length", "question", "colon"))
    assert chunk.dropped == {"empty": 2, "length": 1, "question": 1}
    assert chunk.records.tolist() == [4]
    assert chunk.num_records == 5


def test_dev_input_drops_only_empty_pairs(jsonl):
    pairs = [("Too short.", "Short?"), ("", "No text")]
    chunk = make_chunk_of_file(jsonl(pairs), split="dev", filters=("length", "question"))
    assert chunk.dropped == {"empty": 1}
    assert len(chunk.records) == 1


def test_invalid_record_raises_unless_skipped(tmp_path):
    path = tmp_path / "a.jsonl"
    good = '{"text": "The storm came to Tarn after all.", "headline": "Storm comes"}\n'
    path.write_text(good + "{broken\n" + good)
    with pytest.raises(
        DataError, match=r"a\.jsonl:2: not JSON: .* or skip such records with on_error=skip"
    ):
        make_chunk_of_file(path, on_error="stop")
    chunk = make_chunk_of_file(path)
    assert chunk.records.tolist() == [0, 2]
    assert [record.where for record in chunk.invalid] == [f"{path}:2"]


def test_gigaword_unknown_words_stay_unknown():
    source = CorpusInput(
        format="gigaword",
        paths=("a", "b"),
        origin="a",
        is_text_tokenized=True,
        is_headline_tokenized=True,
    )
    text = b"the <unk> said UNK had 12 ships -lrb- unk -rrb- ."
    block = Block(first=1, payload=[[text], [b"<unk> ships"]], position=0)
    chunk = make_chunk(source, block, PrepareSettings())
    assert segment_texts(chunk) == ["the  said  had ## ships -lrb-  -rrb- .", " ships"]
    assert chunk.words.count(UNKNOWN_WORD) == 1


def test_hashes_are_equal_for_equal_words_only(jsonl):
    text = "The storm closed 12 schools. It was big."
    pairs = [
        (text, "Storm closes 12"),
        (text.upper(), "storm closes 12"),
        (text, "Storm comes"),
        ("The storm closed 12 schools. It was a big one.", "Storm closes 12"),
    ]
    chunk = make_chunk_of_file(jsonl(pairs))
    texts, pairs = chunk.text_hashes.tolist(), chunk.pair_hashes.tolist()
    assert texts[0] == texts[1] == texts[2] != texts[3]
    assert pairs[0] == pairs[1]
    assert len(set(pairs)) == 3


def test_pair_hash_compares_digits(jsonl):
    pairs = [
        ("The storm closed 12 schools.", "Storm closes 12 schools"),
        ("The storm closed 34 schools.", "Storm closes 34 schools"),
    ]
    chunk = make_chunk_of_file(jsonl(pairs))
    assert len(set(chunk.pair_hashes.tolist())) == 2
    # The texts must be in the same split, because models do not see digits.
    assert len(set(chunk.text_hashes.tolist())) == 1


def test_chunk_save_and_load_round_trip(tmp_path, jsonl):
    chunk = make_chunk_of_file(jsonl())
    chunk.save(tmp_path / "0.npz")
    loaded = Chunk.load(tmp_path / "0.npz")
    assert (loaded.words, loaded.surfaces) == (chunk.words, chunk.surfaces)
    for name in (
        "ids",
        "surface_ids",
        "segment_lengths",
        "pair_segments",
        "records",
        "text_hashes",
    ):
        np.testing.assert_array_equal(getattr(loaded, name), getattr(chunk, name))
    assert num_saved_records(tmp_path / "0.npz") == 3
    assert sorted(path.name for path in tmp_path.glob("0.*")) == ["0.npz"]


def test_invalid_records_survive_saving(tmp_path):
    path = tmp_path / "a.jsonl"
    path.write_text('{"text": "x", "headline": "y"}\nbroken\n')
    make_chunk_of_file(path).save(tmp_path / "0.npz")
    (record,) = Chunk.load(tmp_path / "0.npz").invalid
    assert record == InvalidRecord(
        f"{path}:2", "not JSON: Expecting value at column 1; expected one object per line", "broken"
    )


def test_truncated_chunk_is_rejected(tmp_path, jsonl):
    path = tmp_path / "0.npz"
    assert num_saved_records(path) is None
    make_chunk_of_file(jsonl()).save(path)
    path.write_bytes(path.read_bytes()[:-50])
    assert num_saved_records(path) is None


def test_changed_or_moved_chunk_is_rejected(tmp_path, jsonl):
    path = tmp_path / "0.npz"
    make_chunk_of_file(jsonl()).save(path)
    content = path.read_bytes()
    (tmp_path / "1.npz").write_bytes(content)
    assert num_saved_records(tmp_path / "1.npz") is None
    for index in range(0, len(content), 97):
        path.write_bytes(content[:index] + bytes([content[index] ^ 1]) + content[index + 1 :])
        assert num_saved_records(path) is None
    with pytest.raises(ArtifactError, match=r"0\.npz: changed since it was written; remove it"):
        Chunk.load(path)
