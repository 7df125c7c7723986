"""The words of a text that a model reads, and their ids."""

import pytest

from readagain.config.override import override
from readagain.engine.source import SourceReader
from readagain.presets import PRESETS
from readagain.text.vocab import PAD, SPECIAL_TOKENS, UNK, Vocab

SOURCE_VOCAB = Vocab([*SPECIAL_TOKENS, "the", "old", "bridge", "opens", "."])
VOCAB = Vocab([*SPECIAL_TOKENS, "bridge", "opens", "."])
TEXT = "The old bridge opens. The Élan sails. It sank."


def reader(preset="read_again_lstm_copy_15k", **changes):
    """Return the reader of a preset with changed settings."""
    return SourceReader(override(PRESETS[preset], changes), SOURCE_VOCAB, VOCAB)


def norms(source):
    """Return the norms of each input sequence."""
    words = source.document.words
    return [[words[position].norm for position in sequence] for sequence in source.sequences]


def test_one_sentence_model_reads_the_first_sentence():
    source = reader().read(TEXT, tokenized=False)
    assert norms(source) == [["the", "old", "bridge", "opens", "."]]
    assert source.is_truncated


def test_two_sentence_model_reads_two_sequences():
    source = reader("two_sentences_option1_copy_15k").read(TEXT, tokenized=False)
    assert norms(source) == [["the", "old", "bridge", "opens", "."], ["the", "élan", "sails", "."]]


def test_joined_sentences_are_one_truncated_sequence():
    join = {"data.num_sentences": 2, "data.join_sentences": True, "data.max_source_words": 7}
    source = reader(**join).read(TEXT, tokenized=False)
    assert norms(source) == [["the", "old", "bridge", "opens", ".", "the", "élan"]]
    assert source.is_truncated
    alone = reader(**join).read("It sank.", tokenized=False)
    assert norms(alone) == [["it", "sank", "."]]


@pytest.mark.parametrize(
    ("text", "tokenized"),
    [
        ("It opens.\n\n***\n\nÉlan sails.\n\nIt sank.", False),
        ("it opens .\n***\nélan sails .", True),
    ],
)
def test_sentences_without_words_are_skipped(text, tokenized):
    source = reader("two_sentences_option1_copy_15k").read(text, tokenized=tokenized)
    assert norms(source) == [["it", "opens", "."], ["élan", "sails", "."]]
    assert source.document.is_tokenized == tokenized
    assert source.is_truncated == ("sank" in text)


def test_byline_and_date_are_not_read():
    text = "By Jo Roe, Editor\n16 November 2026\n\nThe bridge &amp; Élan opens. It sank."
    source = reader().read(text, tokenized=False)
    assert norms(source) == [["the", "bridge", "&", "élan", "opens", "."]]
    assert [text[word.start : word.end] for word in source.document.words][1:4] == (
        ["bridge", "&amp;", "Élan"]
    )
    assert source.is_truncated
    assert not reader().read("By Jo Roe\n\nIt sank.", tokenized=False).is_truncated


def test_scene_setting_sentence_is_not_read():
    text = "It was dark. The council of Norrvik will sell its ferry, the mayor said."
    source = reader().read(text, tokenized=False)
    assert norms(source)[0][:3] == ["the", "council", "of"]
    assert source.is_truncated
    assert source.read_share < 0.9


def test_line_without_punctuation_gets_a_full_stop():
    text = "Élan opens\nThe bridge"
    source = reader("two_sentences_option1_copy_15k").read(text, tokenized=False)
    assert norms(source) == [["élan", "opens", "."], ["the", "bridge"]]
    full_stop = source.document.words[2]
    assert (full_stop.start, full_stop.end) == (10, 10)
    assert source.document.surface(full_stop) == ""


def test_whole_text_is_not_truncated():
    whole = reader("two_sentences_option1_copy_15k").read("It sank.", tokenized=False)
    assert norms(whole) == [["it", "sank", "."]]
    assert not whole.is_truncated


def test_oov_words_get_their_first_position():
    two_sentences = reader("two_sentences_option1_copy_15k")
    texts = ["Élan opens. The Élan sails.", "opens."]
    batch = two_sentences.batch([two_sentences.read(text, tokenized=False) for text in texts])
    V, L = len(VOCAB), 4
    assert batch.lengths.tolist() == [[3, 4], [2, 0]]
    assert batch.source_ids[0].tolist() == [[UNK, 7, 8, PAD], [4, UNK, UNK, 8]]
    assert batch.source_ext_ids[0].tolist() == [V, 5, 6, PAD, V + L, V, V + L + 2, 6]
    assert batch.source_ext_ids[1].tolist() == [5, 6] + [PAD] * 6


def test_special_token_in_a_text_is_unk():
    plain = reader()
    batch = plain.batch([plain.read("</s> bridge <pad>", tokenized=True)])
    assert batch.source_ids.tolist() == [[[UNK, 6, UNK]]]
    assert batch.source_ext_ids.tolist() == [[UNK, 4, UNK]]


@pytest.mark.parametrize("text", ["", "!!!", "— “ ”"])
def test_text_without_words_is_empty(text):
    assert reader().read(text, tokenized=False).is_empty


STYLED_VOCAB = Vocab([*SPECIAL_TOKENS, "the", "old", "bridge", "opens", ".", "<loose>"])


def styled_reader(**changes):
    run = override(PRESETS["read_again_lstm_copy_15k"], changes)
    return SourceReader(run, STYLED_VOCAB, VOCAB)


def test_style_token_follows_the_words_of_each_source():
    reader = styled_reader()
    sources = [reader.read(text, tokenized=False) for text in ("It opens.", "The bridge opens.")]
    batch = reader.batch(sources, style="loose")
    style, opens, stop = STYLED_VOCAB.ids(["<loose>", "opens", "."])
    assert batch.source_ids[0, 0].tolist() == [UNK, opens, stop, style, PAD]
    assert batch.lengths.tolist() == [[4], [5]]
    assert batch.source_ext_ids[0].tolist()[3:] == [UNK, PAD]  # the style token is never copied


def test_style_token_counts_towards_max_source_words():
    source = styled_reader(**{"data.max_source_words": 4}).read(TEXT, tokenized=False)
    assert norms(source) == [["the", "old", "bridge"]]
    assert source.max_length == 4


def test_style_token_in_a_text_is_unk():
    reader = styled_reader()
    batch = reader.batch([reader.read("the <loose> bridge", tokenized=True)], style="loose")
    assert batch.source_ids[0, 0].tolist()[1] == UNK


def test_long_sentence_keeps_four_times_the_words_that_are_read():
    text = " ".join(f"word{number}" for number in range(1000))
    source = reader(**{"data.max_source_words": 20}).read(text, tokenized=False)
    assert [len(sequence) for sequence in source.sequences] == [20]
    assert len(source.document.words) == 80
    assert source.is_truncated
