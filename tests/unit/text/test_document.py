"""A text as sentences of words with places."""

from hypothesis import given
from hypothesis import strategies as st

from readagain.text.document import (
    Token,
    headline_words,
    read_document,
    read_tokenized,
    sentence_words,
)

ANY_TEXT = st.text(alphabet=st.characters(), max_size=60)
NEWS_LIKE = st.lists(
    st.sampled_from(
        ["Mr.", "U.S.", "“We", "won.”", "didn’t", "$3.5m.", "He", "left.", "\n\n", "caf\u00e9—now"]
    ),
    max_size=15,
).map(" ".join)


def test_each_word_has_its_form_and_its_place():
    document = read_document("He paid €5. (“Why?”)")
    assert [[word.form for word in sentence] for sentence in document.sentences] == [
        ["he", "paid", "€#", "."],
        ["-lrb-", "``", "why", "?", "''", "-rrb-"],
    ]
    assert [document.surface(word) for word in document.words] == (
        ["He", "paid", "€5", ".", "(", "“", "Why", "?", "”", ")"]
    )


@given(ANY_TEXT | NEWS_LIKE)
def test_the_fast_way_gives_the_same_forms(text):
    forms = [[word.form for word in sentence] for sentence in read_document(text).sentences]
    assert sentence_words(text) == forms


@given(ANY_TEXT | NEWS_LIKE, st.integers(0, 3))
def test_a_limit_keeps_the_first_sentences(text, limit):
    assert sentence_words(text, max_sentences=limit) == sentence_words(text)[:limit]
    kept = read_document(text, max_sentences=limit).sentences
    assert kept == read_document(text).sentences[:limit]


@given(ANY_TEXT | NEWS_LIKE)
def test_places_are_in_order_and_cover_the_text(text):
    words = read_document(text).words
    covered = [place for word in words for place in range(word.start, word.end)]
    assert covered == [place for place, c in enumerate(text) if not c.isspace()]


def test_dashes_and_dots_that_touch_their_words_stand_apart():
    assert sentence_words("He left—late… and") == [["he", "left", "--", "late", "...", "and"]]


def test_no_sentence_is_empty():
    assert sentence_words("") == sentence_words(" \n\n ") == []
    assert read_document("").words == ()


def test_a_headline_is_one_sentence_whatever_its_marks():
    assert headline_words("Who won? ‘Nobody’") == ["who", "won", "?", "`", "nobody", "'"]


def test_text_in_gigaword_form_is_only_cut_at_spaces():
    document = read_tokenized("the <unk> paid $ #.# m .\n\ncannot UNK\n")
    assert document.sentences[1] == (Token("cannot", 26, 32), Token("UNK", 33, 36))
    assert [document.surface(word) for word in document.words] == (
        ["the", "<unk>", "paid", "$", "#.#", "m", ".", "cannot", "UNK"]
    )
    assert document.is_tokenized
