"""The floor of every table."""

from hypothesis import given
from hypothesis import strategies as st

from readagain.evaluation.systems import Lead, Prefix

LONG = "alpha bravo charlie delta echo foxtrot golf hotel india juliett kilo lima mike november"


def texts_of(system, texts, is_tokenized=False):
    return [written.text for written in system.summarize(texts, is_tokenized=is_tokenized)]


def test_a_protocol_with_a_byte_limit_gets_exactly_the_first_75_bytes():
    [prefix] = texts_of(Prefix(max_bytes=75, cuts_words=True), [LONG])
    assert prefix == LONG[:75]


def test_otherwise_only_whole_words_are_taken():
    [prefix] = texts_of(Prefix(max_bytes=75, cuts_words=False), [LONG])
    assert LONG.startswith(f"{prefix} ")
    assert len(prefix) <= 75 < len(f"{prefix} november")


def test_a_limit_that_falls_on_the_end_of_a_word_keeps_it():
    text = "a" * 70 + " bcde f"
    assert texts_of(Prefix(max_bytes=75, cuts_words=False), [text]) == ["a" * 70 + " bcde"]


def test_a_first_word_beyond_the_limit_leaves_nothing_whole():
    assert texts_of(Prefix(max_bytes=75, cuts_words=False), ["x" * 80]) == [""]


@given(st.lists(st.text("abcé", min_size=1, max_size=9), max_size=9), st.integers(0, 40))
def test_one_more_word_would_pass_the_limit(words, max_bytes):
    text = " ".join(words)
    [taken] = texts_of(Prefix(max_bytes=max_bytes, cuts_words=False), [text])
    assert len(taken.encode()) <= max_bytes
    assert text.startswith(taken)
    rest = text[len(taken) :].split()
    if rest:
        assert len(" ".join([*taken.split(), rest[0]]).encode()) > max_bytes


def test_no_half_character_is_taken():
    assert texts_of(Prefix(max_bytes=75, cuts_words=True), ["a" * 74 + "é"]) == ["a" * 74]


def test_lines_and_spaces_become_single_spaces():
    assert texts_of(Prefix(max_bytes=75, cuts_words=True), [" one\n two "]) == ["one two"]


def test_lead_takes_the_first_sentence():
    text = "The ferry was late. Nobody minded."
    assert texts_of(Lead(), [text]) == ["The ferry was late."]


def test_lead_takes_so_many_words_where_it_is_told_to():
    text = "It did. Nobody minded."
    assert texts_of(Lead(max_words=4), [text]) == ["It did. Nobody"]
    assert texts_of(Lead(max_words=4), ["it did .\nso they said ."], is_tokenized=True) == [
        "it did . so"
    ]


def test_in_gigaword_form_a_line_is_a_sentence_and_stays_as_it_is():
    text = "it did n't open . so -lrb- they said -rrb- .\nnobody came ."
    assert texts_of(Lead(), [text], is_tokenized=True) == [text.split("\n")[0]]


def test_every_word_counts_as_copied():
    [written] = Lead().summarize(["It did."], is_tokenized=False)
    assert [word.norm for word in written.words] == ["it", "did", "."]
    assert written.is_copied == (True, True, True)


def test_an_empty_text_has_an_empty_summary():
    assert texts_of(Lead(), [""]) == texts_of(Prefix(max_bytes=75, cuts_words=True), [""]) == [""]
    assert texts_of(Lead(), [""], is_tokenized=True) == [""]
