"""Ids of one example's unknown words."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from readagain.errors import ShapeError
from readagain.text.extended import extended_source_ids, extended_summary_ids, extended_word
from readagain.text.vocab import PAD, SPECIAL_TOKENS, UNK, Vocab

VOCAB = Vocab((*SPECIAL_TOKENS, "the", "court"))
V = len(VOCAB)


def test_an_unknown_word_is_known_by_its_first_place():
    source = ["the", "zagreb", "court", "zagreb", "ruled"]
    assert extended_source_ids(source, VOCAB) == [4, V + 1, 5, V + 1, V + 4]


def test_a_known_word_keeps_its_id_wherever_it_stands():
    assert extended_source_ids(["court", "the", "court"], VOCAB) == [5, 4, 5]


def test_padding_between_sentences_counts_as_places():
    assert extended_source_ids(["the", "<pad>", "zagreb"], VOCAB) == [4, PAD, V + 2]


def test_an_unknown_mark_in_the_source_cannot_be_copied():
    assert extended_source_ids(["<unk>", "zagreb"], VOCAB) == [UNK, V + 1]


def test_summary_words_in_neither_are_unknown():
    source = ["the", "zagreb", "court"]
    assert extended_summary_ids(["zagreb", "court", "sits"], source, VOCAB) == [V + 1, 5, UNK]


def test_an_id_beyond_the_source_is_refused():
    with pytest.raises(ShapeError, match="id 9 points at place 3 of a source of 1 words; .* 7"):
        extended_word(9, ["zagreb"], VOCAB)


@given(st.lists(st.sampled_from(["the", "court", "zagreb", "ruled", "x"])))
def test_ids_give_back_the_source(source):
    ids = extended_source_ids(source, VOCAB)
    assert [extended_word(id, source, VOCAB) for id in ids] == source
