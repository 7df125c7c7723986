"""Checks of headlines against their texts; all texts are invented."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from readagain.engine.checks import CHECKS, CheckedWord, align
from readagain.text.document import read_document


def words(text):
    """Return the words of a text or headline."""
    document = read_document(text)
    return [CheckedWord(word.norm, document.surface(word)) for word in document.words]


def failed_checks(headline, text):
    """Return the codes of the checks that a headline fails."""
    source = words(text)
    aligned = align(words(headline), source)
    return {code for code, check in CHECKS.items() if check(aligned, source)}


RESULTS = "Revenue rose 12% to $4.5bn. Profit fell 3% to 40 million crowns."


@pytest.mark.parametrize(
    ("code", "headline", "text"),
    [
        ("numbers", "Fire kills 14 in Norrvik", "A fire in Norrvik killed 12 people."),
        ("numbers", "Two die in Norrvik fire", "Three people died in a fire in Norrvik."),
        ("numbers", "Net profit up 12% to $4.5bn", "Revenue up 12% to $4.5bn. Profit down 3%."),
        ("numbers", "Profit rises 3%", RESULTS),
        ("negation", "Council sells ferry", "The council will not sell the ferry."),
        ("negation", "Ferry used", "The ferry was never used in the war."),
        ("negation", "Council will not sell ferry", "The council will sell the ferry."),
        ("modality", "Norrvik to close schools", "Norrvik may close schools next year."),
        ("modality", "Man stole ferry", "The man allegedly stole the ferry."),
        ("modality", "Norrvik closes schools", "Norrvik plans to close two schools."),
        ("cut_off", "Council votes for the", "The council votes for the ferry."),
        ("cut_off", "Tool is not used in a way", "The tool is not used in a way that harms."),
        ("cut_off", "Mayor lives in", "The mayor lives in Norrvik."),
        ("cut_off", "Mayor opens new", "The mayor opens new schools."),
        ("repetition", "Ferry ferry sinks", "The ferry sinks."),
        ("repetition", "Storm sinks ferry in storm", "A storm sank a ferry off Eltor."),
        ("restriction", "Minister dies", "The former minister dies at home."),
        ("restriction", "Norrvik closes schools", "Norrvik closes two of its nine schools."),
        ("subject", "Navy steps down", "The head of the navy steps down."),
        ("agreement", "Three men appears in court", "Three men appeared in court."),
    ],
)
def test_check_finds_a_fault(code, headline, text):
    assert code in failed_checks(headline, text)


@pytest.mark.parametrize(
    ("headline", "text"),
    [
        ("Fire kills 12 in Norrvik", "A fire in Norrvik killed 12 people."),
        ("2 die in Norrvik fire", "Two people died in a fire in Norrvik."),
        ("12,000 people flee", "The flood made 12000 people flee."),
        ("Revenue rises 12% to $4.5bn", RESULTS),
        ("Profit falls 3%", RESULTS),
        ("Council will not sell ferry", "The council said it would not sell the ferry."),
        ("Council refuses to sell ferry", "The council will not sell the ferry."),
        ("Ferry opens", "The ferry opens on Monday. It does not run at night."),
        ("Norrvik may close schools", "Norrvik may close schools next year."),
        ("Could Norrvik close schools?", "Norrvik might close schools next year."),
        ("Norrvik closes schools", "Norrvik closes schools in May this year."),
        ("Norrvik to close two schools", "Norrvik plans to close two schools."),
        ("Norrvik closes two of its nine schools", "Norrvik closes two of its nine schools."),
        ("Former minister dies", "The former minister dies at home."),
        ("Head of navy steps down", "The head of the navy steps down."),
        ("Norrvik closes schools", "The government of Norrvik closes schools."),
        ("Three men appear in court", "Three men appeared in court."),
        ("Minister steps in", "The minister steps in. It rains."),
        ("New York, New York", "In New York the musical New York, New York opens."),
        ("Ferry sinks", "The ferry sinks."),
    ],
)
def test_checks_pass_a_faithful_headline(headline, text):
    assert failed_checks(headline, text) == set()


def test_words_are_aligned_with_the_nearest_same_word():
    source = words("The ferry of Eltor hit a ferry of Norrvik.")
    aligned = align(words("Norrvik ferry hits island"), source)
    assert [word.position for word in aligned] == [8, 6, 4, None]


def test_existing_positions_stay():
    source = words("The ferry hit a ferry.")
    assert align([CheckedWord("ferry", "ferry", 4)], source)[0].position == 4


def test_numbers_are_aligned_by_their_digits():
    aligned = align(words("14 die"), words("Of 12 men 14 die."))
    assert aligned[0].position == 3


CHECKED_WORDS = [
    *["Two", "of", "its", "12", "ferries", "may", "not", "sink", "."],
    *["The", "former", "up", "in"],
]
TEXTS = st.lists(st.sampled_from(CHECKED_WORDS) | st.text(max_size=5), max_size=12).map(" ".join)


@given(TEXTS, TEXTS)
def test_checks_accept_any_text(headline, text):
    assert failed_checks(headline, text) <= CHECKS.keys()
