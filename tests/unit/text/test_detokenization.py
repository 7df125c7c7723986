"""Detokenization of summaries."""

from importlib.resources import files

import pytest
from hypothesis import given
from hypothesis import strategies as st
from printing import detokenize

from readagain.text.detokenization import SummaryToken, write_copied
from readagain.text.document import Document, read_document, read_tokenized
from readagain.text.truecasing import Truecaser

SOURCE = read_document(
    "The U.S. Senate didn’t pass AT&T’s $3.5m (“big”) bill on Tuesday. "
    "Prices fell 12% in São Paulo after 35 days, and prices fell again. iPhone sales rose."
)
NORMS = [word.norm for word in SOURCE.words]


def copied(norm: str, document: Document = SOURCE) -> SummaryToken:
    """Return a token that copies the first word of a document with this norm."""
    position = [word.norm for word in document.words].index(norm)
    return SummaryToken(norm, copied_from=position)


def generated(norm: str, *attended_words: str) -> SummaryToken:
    """Return a generated token that attends to words of `SOURCE`."""
    return SummaryToken(norm, attended=tuple(NORMS.index(other) for other in attended_words))


def write(*words: str, **options: str) -> str:
    """Return the printed summary of norms; those in <angle brackets> are copied from `SOURCE`."""
    summary = [
        copied(word.strip("<>")) if word.startswith("<") else generated(word) for word in words
    ]
    return detokenize(summary, SOURCE, **options)


@given(st.text(alphabet=st.characters()) | st.text(alphabet="aé\u0301 .,'\"“’()$%&-—…\n\t1Aن🙂"))
def test_write_copied_restores_words_spacing_and_accents(text):
    assert write_copied(read_document(text)) == " ".join(text.split())


def test_copied_word_is_printed_as_in_source():
    assert write("in", "<são>", "<paulo>") == "In São Paulo"


def test_generated_quote_matches_its_copied_partner():
    assert write("a", "<``>", "new", "''", "bill") == "A “new” bill"
    assert write("a", "``", "new", "<''>", "bill") == "A “new” bill"
    assert write("a", "``", "new", "''", "bill") == 'A "new" bill'
    source = read_document("a «new» bill")
    opens, closes = SummaryToken("``", 1), SummaryToken("''", 3)
    for pair in ((opens, SummaryToken("''")), (SummaryToken("``"), closes)):
        assert detokenize([pair[0], SummaryToken("new"), pair[1]], source) == "«New»"


def test_generated_quotes_match_quotes_in_copied_words():
    assert write("a", "``", "new", "''", "<``>", "<big>", "<''>") == "A “new” “big”"
    assert write("<t>", "<'s>", "`", "new", "'", "dogs", "'", "o'x") == "T’s ‘new’ dogs’ o’x"
    assert write("<senate>", "`", "new", "'") == "Senate 'new'"


def test_generated_quotes_stay_if_copied_quotes_differ():
    source = read_document("Ohio’s mayor 'left'.")
    words = [copied("'s", source), copied("left", source), copied("'", source), SummaryToken("'d")]
    assert detokenize(words, source) == "’s Left''d"


def test_comma_and_repeated_dots_are_trimmed_at_end():
    assert write("a", "bill", ":", ",") == "A bill"
    assert write("a", "bill", "...") == "A bill..."
    assert write("a", "bill", ":", case="plain") == "a bill:"
    assert write("a", "bill", "..") == "A bill"
    assert write(":") == ""
    source = read_document("Ships left.. Others sail the U.S..")
    assert [word.norm for word in source.words][1::4] == ["left..", "u.s.."]
    assert detokenize([SummaryToken("ships"), SummaryToken("left..", 1)], source) == "Ships left"
    assert detokenize([SummaryToken("u.s..", 5)], source) == "U.S."
    assert detokenize([SummaryToken("left..", 1)], source, case="plain") == "left.."


def test_stray_spaces_around_punctuation_are_removed():
    source = read_document("No ferry to Ostham , they said . It cost $ 5 million , or US$ 5 ?")
    copies = [SummaryToken(word.norm, position) for position, word in enumerate(source.words)]
    expected = "No ferry to Ostham, they said. It cost $5 million, or US$5 ?"
    assert detokenize(copies, source) == expected
    assert detokenize(copies, source, case="plain") == source.text


@pytest.mark.parametrize(
    ("word", "text"),
    [("anti-EU", "Anti-EU"), ("t-SNE", "t-SNE"), ("iPhone-maker", "iPhone-maker"), ("A-b", "A-b")],
)
def test_hyphenated_word_with_name_is_capitalized(word, text):
    source = read_document(f"The {word} bloc won")
    copies = [SummaryToken(word.lower(), 1), SummaryToken("wins")]
    assert detokenize(copies, source) == f"{text} wins"
    assert detokenize([SummaryToken("the"), *copies], source) == f"The {word} wins"
    assert detokenize([SummaryToken("the"), *copies], source, case="headline") == f"The {text} Wins"


@pytest.mark.parametrize(
    ("word", "text"),
    [("ﬁre", "Fire"), ("ǆungla", "ǅungla"), ("ßahn", "Ssahn"), ("ბათუმი", "ბათუმი")],
)
def test_ligature_capitalizes_first_letter_only(word, text):
    source = read_document(f"the {word} is out")
    copies = [SummaryToken(source.words[1].norm, 1), SummaryToken("is", 2)]
    assert detokenize(copies, source) == f"{text} is"


def test_source_neighbours_keep_spacing():
    assert write("<at>", "<&>", "<t>", "<'s>", "bill") == "AT&T’s bill"
    assert write("it", "<did>", "<n't>", "<pass>") == "It didn’t pass"


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
def test_generated_words_follow_spacing_rules(words, text):
    assert write(*words.split()) == text


def test_generated_word_takes_case_from_source():
    assert write("the", "u.s.", "senate", "on", "iphone") == "The U.S. Senate on iPhone"


def test_generated_initials_of_a_name_are_in_capitals():
    source = read_document("The National Assembly met the Board of Trade of Upper Severn in May.")
    summary = [SummaryToken(norm) for norm in ["na", "met", "bt", "with", "us", "and", "nm"]]
    expected = "NA met BT with us and nm"
    assert detokenize(summary, source, truecaser=Truecaser()) == expected


@pytest.mark.parametrize(
    ("summary", "expected"),
    [
        ("who warns of flu", "WHO warns of flu"),
        ("who chief resigns", "WHO chief resigns"),
        ("who is at risk", "Who is at risk"),
        ("who killed her", "Who killed her"),
        ("who 'd kill her", "Who'd kill her"),
        ("who really knows", "Who really knows"),
        ("people who warn", "People who warn"),
        ("who", "Who"),
    ],
)
def test_who_is_an_acronym_only_before_its_verb(summary, expected):
    source = read_document("The World Health Organization warned of the flu on Tuesday.")
    tokens = [SummaryToken(norm) for norm in summary.split()]
    assert detokenize(tokens, source, truecaser=Truecaser()) == expected


def test_generated_name_outside_source_is_capitalized():
    assert write("votes", "in", "london", "on", "monday", "i", "say") == (
        "Votes in London on Monday I say"
    )


@pytest.mark.parametrize(
    ("text", "summary", "expected"),
    [
        ("Hundreds of people marched to the port.", "people march", "People march"),
        ("Hundreds of people walked to the port.", "people march", "People March"),
        ("The council used two ports.", "ports of us", "Ports of US"),
    ],
)
def test_generated_verb_is_not_spelled_like_a_name(text, summary, expected):
    tokens = [SummaryToken(norm) for norm in summary.split()]
    truecaser = Truecaser(["March", "US"])
    assert detokenize(tokens, read_document(text), truecaser=truecaser) == expected


def test_sentence_start_capital_is_lowered_inside_summary():
    assert write("why", "<the>", "bill", "fails") == "Why the bill fails"
    assert write("how", "<prices>", "fell") == "How prices fell"
    assert write("how", "<iphone>", "sells") == "How iPhone sells"


def test_acronym_at_sentence_start_keeps_capitals():
    source = read_document("IT firms rose. He said it fell.")
    assert detokenize([SummaryToken("why"), copied("it", source)], source) == "Why IT"


def test_words_copied_across_paragraphs_keep_capitals():
    source = read_document("Storm nears\n\nThe coast waits")
    copies = [SummaryToken(word.norm, position) for position, word in enumerate(source.words)]
    assert detokenize(copies, source) == "Storm nears The coast waits"


def test_brand_at_start_keeps_lower_case():
    assert write("<iphone>", "sales") == "iPhone sales"


def test_headline_case_keeps_minor_words_lower():
    text = write("<prices>", "fall", "in", "the", "city", "of", "angels", "and", case="headline")
    assert text == "Prices Fall in the City of Angels And"


def test_headline_case_keeps_clitics_lower():
    assert write("they", "ca", "n't", "say", "it", "'s", case="headline") == "They Can’t Say It’s"


def test_plain_case_changes_nothing():
    assert write("why", "<the>", "bill", case="plain") == "why The bill"


def test_masked_digits_come_from_attended_number():
    position = [SOURCE.surface(word) for word in SOURCE.words].index("35")
    assert detokenize([SummaryToken("##", attended=(0, position))], SOURCE) == "35"
    assert detokenize([SummaryToken("##", attended=(0,))], SOURCE) == "12"


def test_two_masked_numbers_take_different_digits():
    assert write("from", "##", "to", "##") == "From 12 to 35"


def test_masked_number_inside_word_is_filled():
    assert write("##-day-long", "talks") == "12-day-long talks"


def test_number_without_fitting_digits_is_left_out():
    assert detokenize([generated("#,###", "#.#m"), generated("lost")], SOURCE) == "Lost"


def test_attended_number_must_fit_the_word():
    source = read_document("It cost 3.5.")
    attending_to_number = SummaryToken("##-day", attended=(2,))
    assert source.surface(source.words[2]) == "3.5"
    assert detokenize([attending_to_number, SummaryToken("talks")], source) == "Talks"


def test_number_is_left_out_if_source_has_none():
    assert detokenize([SummaryToken("##"), SummaryToken("dead")], read_document("No.")) == "Dead"


def test_tokenized_source_is_detokenized():
    source = read_tokenized("the u.s. senate 's bill did n't pass , -lrb- ap -rrb-")
    summary = [SummaryToken(word.norm, position) for position, word in enumerate(source.words)]
    assert detokenize(summary, source) == "The U.S. Senate's bill didn't pass, (AP)"


def test_empty_summary_is_empty_text():
    assert detokenize([], SOURCE) == ""


def test_generated_word_has_default_spelling():
    assert write("in", "china", "nato", "buys", "iphone") == "In China NATO buys iPhone"


def test_truecaser_of_model_spells_generated_words():
    truecaser = Truecaser(["NASA", "Brill", "monday", "White House"])
    norms = ["nasa", "and", "brill", "at", "white", "house", "on", "monday", "in", "senate"]
    summary = [SummaryToken(norm) for norm in norms]
    source = read_document("The brill was caught. The SENATE sat.")
    # The spelling of the source has priority.
    expected = "NASA and brill at White House on monday in SENATE"
    assert detokenize(summary, source, truecaser=truecaser) == expected


def test_word_pairs_decide_spelling_in_context():
    truecaser = Truecaser(["us", "the US", "tell us", "US Open"])

    def write_generated(*norms):
        return detokenize([SummaryToken(norm) for norm in norms], SOURCE, truecaser=truecaser)

    assert write_generated("in", "the", "us") == "In the US"
    assert write_generated("please", "tell", "us") == "Please tell us"
    # The pair with the next word has priority.
    assert write_generated("tell", "us", "open") == "Tell US Open"


def test_title_case_sentence_does_not_decide_case():
    source = read_document("How To Build Bridges Over Water. Zyxcorp Sells Bridges.")
    norms = ["they", "build", "bridges", "with", "zyxcorp"]
    text = detokenize([SummaryToken(norm) for norm in norms], source)
    assert text == "They build bridges with Zyxcorp"


def test_copied_word_loses_sentence_start_capital():
    source = read_document(
        "Shares in the bank fell. Zyxcorp rose. Apple did, too. May Day is near. Banks met."
    )
    words = [word.norm for word in source.words]

    def after_bank(norm):
        summary = [SummaryToken("bank"), SummaryToken(norm, copied_from=words.index(norm))]
        return detokenize(summary, source)

    assert after_bank("shares") == "Bank shares"
    assert after_bank("banks") == "Bank banks"
    assert after_bank("zyxcorp") == "Bank Zyxcorp"
    assert after_bank("apple") == "Bank Apple"
    assert after_bank("may") == "Bank May"  # the next word has a capital


def test_default_spellings_are_sorted_and_unique():
    spellings = files("readagain.text").joinpath("spellings.txt").read_text().split()
    norms = [word.lower() for word in spellings]
    assert norms == sorted(set(norms))
    assert len(spellings) > 10_000
