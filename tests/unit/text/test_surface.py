"""Summaries as people write them."""

from importlib.resources import files

import pytest
from hypothesis import given
from hypothesis import strategies as st

from readagain.errors import ShapeError
from readagain.text.document import Document, read_document, read_tokenized
from readagain.text.surface import SummaryToken, write_document, write_summary
from readagain.text.truecasing import Truecaser

SOURCE = read_document(
    "The U.S. Senate didn’t pass AT&T’s $3.5m (“big”) bill on Tuesday. "
    "Prices fell 12% in São Paulo after 35 days, and prices fell again. iPhone sales rose."
)
FORMS = [word.norm for word in SOURCE.words]


def copied(form: str, document: Document = SOURCE) -> SummaryToken:
    place = [word.norm for word in document.words].index(form)
    return SummaryToken(form, copied_from=place)


def generated(form: str, *looking_at: str) -> SummaryToken:
    return SummaryToken(form, attended=tuple(FORMS.index(other) for other in looking_at))


def written(*words: str, **options: str) -> str:
    """Write a summary of generated words, those in <angles> copied."""
    summary = [
        copied(word.strip("<>")) if word.startswith("<") else generated(word) for word in words
    ]
    return write_summary(summary, SOURCE, **options)


@given(st.text(alphabet=st.characters()) | st.text(alphabet="aé\u0301 .,'\"“’()$%&-—…\n\t1Aن🙂"))
def test_restoring_a_text_gives_back_its_words_spacing_and_accents(text):
    assert write_document(read_document(text)) == " ".join(text.split())


def test_a_copied_word_is_printed_as_it_stands_in_the_source():
    assert written("in", "<são>", "<paulo>") == "In São Paulo"


def test_a_generated_quote_is_like_the_copied_one_it_belongs_to():
    assert written("a", "<``>", "new", "''", "bill") == "A “new” bill"
    assert written("a", "``", "new", "<''>", "bill") == "A “new” bill"
    assert written("a", "``", "new", "''", "bill") == 'A "new" bill'
    source = read_document("a «new» bill")
    opens, closes = SummaryToken("``", 1), SummaryToken("''", 3)
    for pair in ((opens, SummaryToken("''")), (SummaryToken("``"), closes)):
        assert write_summary([pair[0], SummaryToken("new"), pair[1]], source) == "«New»"


def test_generated_quotes_and_apostrophes_are_like_those_of_copied_words():
    assert written("a", "``", "new", "''", "<``>", "<big>", "<''>") == "A “new” “big”"
    assert written("<t>", "<'s>", "`", "new", "'", "dogs", "'", "o'x") == "T’s ‘new’ dogs’ o’x"
    assert written("<senate>", "`", "new", "'") == "Senate 'new'"


def test_where_copied_words_have_both_kinds_of_quotes_generated_ones_stay():
    source = read_document("Ohio’s mayor 'left'.")
    words = [copied("'s", source), copied("left", source), copied("'", source), SummaryToken("'d")]
    assert write_summary(words, source) == "’s Left''d"


def test_a_headline_does_not_end_with_a_comma_or_with_dots_of_a_careless_text():
    assert written("a", "bill", ":", ",") == "A bill"
    assert written("a", "bill", "...") == "A bill..."
    assert written("a", "bill", ":", case="plain") == "a bill:"
    assert written("a", "bill", "..") == "A bill"
    assert written(":") == ""
    source = read_document("Ships left.. Others sail the U.S..")
    assert [word.norm for word in source.words][1::4] == ["left..", "u.s.."]
    assert write_summary([SummaryToken("ships"), SummaryToken("left..", 1)], source) == "Ships left"
    assert write_summary([SummaryToken("u.s..", 5)], source) == "U.S."
    assert write_summary([SummaryToken("left..", 1)], source, case="plain") == "left.."


def test_commas_stops_and_dollars_do_not_stand_apart_as_in_careless_texts():
    source = read_document("No ferry to Ostham , they said . It cost $ 5 million , or US$ 5 ?")
    copies = [SummaryToken(word.norm, place) for place, word in enumerate(source.words)]
    careful = "No ferry to Ostham, they said. It cost $5 million, or US$5 ?"
    assert write_summary(copies, source) == careful
    assert write_summary(copies, source, case="plain") == source.text


@pytest.mark.parametrize(
    ("word", "text"),
    [("anti-EU", "Anti-EU"), ("t-SNE", "t-SNE"), ("iPhone-maker", "iPhone-maker"), ("A-b", "A-b")],
)
def test_a_word_with_a_name_behind_its_hyphen_may_begin_a_headline(word, text):
    source = read_document(f"The {word} bloc won")
    copies = [SummaryToken(word.lower(), 1), SummaryToken("wins")]
    assert write_summary(copies, source) == f"{text} wins"
    assert write_summary([SummaryToken("the"), *copies], source) == f"The {word} wins"
    assert (
        write_summary([SummaryToken("the"), *copies], source, case="headline") == f"The {text} Wins"
    )


@pytest.mark.parametrize(
    ("word", "text"),
    [("ﬁre", "Fire"), ("ǆungla", "ǅungla"), ("ßahn", "Ssahn"), ("ბათუმი", "ბათუმი")],
)
def test_a_letter_that_stands_for_two_gives_only_the_first_a_capital(word, text):
    source = read_document(f"the {word} is out")
    copies = [SummaryToken(source.words[1].norm, 1), SummaryToken("is", 2)]
    assert write_summary(copies, source) == f"{text} is"


def test_neighbours_in_the_source_keep_their_spacing():
    assert written("<at>", "<&>", "<t>", "<'s>", "bill") == "AT&T’s bill"
    assert written("it", "<did>", "<n't>", "<pass>") == "It didn’t pass"


@pytest.mark.parametrize(
    ("words", "text"),
    [
        ("he left , then came back .", "He left, then came back."),
        ("`` no '' -lrb- yes -rrb- : why ?", '"No" (yes): why?'),
        ("they ca n't ; she 's out", "They can’t; she’s out"),
        ("the dogs ' tails", "The dogs' tails"),
        ("a ` good ' deal", "A 'good' deal"),
        ("rates up % again -- sources", "Rates up% again – sources"),
        ("it can not", "It cannot"),
        ("pay $ more ...", "Pay $more..."),
        ("won . who ? me", "Won. Who? Me"),
        ("-lsb- x -rsb- -lcb- y -rcb-", "[X] {y}"),
    ],
)
def test_generated_words_are_spaced_as_a_person_would(words, text):
    assert written(*words.split()) == text


def test_a_generated_word_takes_the_capitals_it_has_in_the_source():
    assert written("the", "u.s.", "senate", "on", "iphone") == "The U.S. Senate on iPhone"


def test_a_generated_name_that_the_source_lacks_has_its_usual_capital():
    assert written("votes", "in", "london", "on", "monday", "i", "say") == (
        "Votes in London on Monday I say"
    )


def test_a_capital_that_only_begins_a_sentence_is_not_kept_inside_one():
    assert written("why", "<the>", "bill", "fails") == "Why the bill fails"
    assert written("how", "<prices>", "fell") == "How prices fell"
    assert written("how", "<iphone>", "sells") == "How iPhone sells"


def test_letters_that_are_all_capital_are_no_start_of_a_sentence():
    source = read_document("IT firms rose. He said it fell.")
    assert write_summary([SummaryToken("why"), copied("it", source)], source) == "Why IT"


def test_a_stretch_copied_across_a_paragraph_keeps_its_capitals():
    source = read_document("Storm nears\n\nThe coast waits")
    copies = [SummaryToken(word.norm, place) for place, word in enumerate(source.words)]
    assert write_summary(copies, source) == "Storm nears The coast waits"


def test_a_brand_at_the_start_keeps_its_small_letter():
    assert written("<iphone>", "sales") == "iPhone sales"


def test_headline_case_leaves_small_words_small():
    text = written("<prices>", "fall", "in", "the", "city", "of", "angels", "and", case="headline")
    assert text == "Prices Fall in the City of Angels And"


def test_headline_case_leaves_short_forms_alone():
    assert written("they", "ca", "n't", "say", "it", "'s", case="headline") == "They Can’t Say It’s"


def test_plain_case_changes_nothing():
    assert written("why", "<the>", "bill", case="plain") == "why The bill"


def test_masked_digits_come_from_the_number_that_was_looked_at():
    place = [SOURCE.surface(word) for word in SOURCE.words].index("35")
    assert write_summary([SummaryToken("##", attended=(0, place))], SOURCE) == "35"
    assert write_summary([SummaryToken("##", attended=(0,))], SOURCE) == "12"


def test_two_masked_numbers_do_not_take_the_same_digits():
    assert written("from", "##", "to", "##") == "From 12 to 35"


def test_a_masked_number_inside_a_word_is_filled_in():
    assert written("##-day-long", "talks") == "12-day-long talks"


def test_a_plain_number_of_another_shape_is_left_out_whatever_was_looked_at():
    assert write_summary([generated("#,###", "#.#m"), generated("lost")], SOURCE) == "Lost"


def test_digits_of_another_shape_are_never_mixed_into_a_word():
    source = read_document("It cost 3.5.")
    looking_at_it = SummaryToken("##-day", attended=(2,))
    assert source.surface(source.words[2]) == "3.5"
    assert write_summary([looking_at_it, SummaryToken("talks")], source) == "Talks"


def test_a_number_without_any_source_is_left_out():
    assert write_summary([SummaryToken("##"), SummaryToken("dead")], read_document("No.")) == "Dead"


def test_spacing_of_a_text_in_gigaword_form_says_nothing():
    source = read_tokenized("the u.s. senate 's bill did n't pass , -lrb- ap -rrb-")
    summary = [SummaryToken(word.norm, place) for place, word in enumerate(source.words)]
    assert write_summary(summary, source) == "The U.S. Senate's bill didn't pass, (AP)"


def test_an_empty_summary_is_an_empty_text():
    assert write_summary([], SOURCE) == ""


def test_a_place_outside_the_source_is_refused():
    with pytest.raises(ShapeError, match="copied_from is 9 in a source of 2 words; .* 0 to 1"):
        write_summary([SummaryToken("x", copied_from=9)], read_document("Hi there"))


def test_a_generated_word_is_spelled_as_is_usual():
    assert written("in", "china", "nato", "buys", "iphone") == "In China NATO buys iPhone"


def test_a_model_may_know_how_its_words_are_written():
    cases = Truecaser(["NASA", "Brill", "monday", "White House"])
    forms = ["nasa", "and", "brill", "at", "white", "house", "on", "monday", "in", "senate"]
    summary = [SummaryToken(form) for form in forms]
    source = read_document("The brill was caught. The SENATE sat.")
    assert write_summary(summary, source, cases=cases) == (
        "NASA and brill at White House on monday in SENATE"  # what the source says goes first
    )


def test_a_word_beside_another_is_written_as_the_two_are_together():
    cases = Truecaser(["us", "the US", "tell us", "US Open"])

    def written_so(*forms):
        return write_summary([SummaryToken(form) for form in forms], SOURCE, cases=cases)

    assert written_so("in", "the", "us") == "In the US"
    assert written_so("please", "tell", "us") == "Please tell us"
    assert written_so("tell", "us", "open") == "Tell US Open"  # what follows says more


def test_a_sentence_with_capitals_everywhere_shows_no_common_word():
    source = read_document("How To Build Bridges Over Water. Zyxcorp Sells Bridges.")
    forms = ["they", "build", "bridges", "with", "zyxcorp"]
    text = write_summary([SummaryToken(form) for form in forms], source)
    assert text == "They build bridges with Zyxcorp"


def test_a_copied_word_leaves_the_capital_of_its_sentence_behind():
    source = read_document(
        "Shares in the bank fell. Zyxcorp rose. Apple did, too. May Day is near. Banks met."
    )
    words = [word.norm for word in source.words]

    def after_bank(form):
        summary = [SummaryToken("bank"), SummaryToken(form, copied_from=words.index(form))]
        return write_summary(summary, source)

    assert after_bank("shares") == "Bank shares"
    assert after_bank("banks") == "Bank banks"
    assert after_bank("zyxcorp") == "Bank Zyxcorp"
    assert after_bank("apple") == "Bank Apple"
    assert after_bank("may") == "Bank May"  # it stands before a capital


def test_each_usual_spelling_is_listed_once_and_in_order():
    listed = files("readagain.text").joinpath("spellings.txt").read_text().split()
    forms = [word.lower() for word in listed]
    assert forms == sorted(set(forms))
    assert len(listed) > 10_000
