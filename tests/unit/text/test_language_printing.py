"""Printed summaries in languages other than English."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from printing import detokenize

from readagain.text.casing import capitalize
from readagain.text.detokenization import SummaryToken, write_copied
from readagain.text.document import read_document
from readagain.text.language import ENGLISH, LANGUAGES, find_language
from readagain.text.truecasing import Truecaser, has_informative_case

CODES = ("de", "fr", "it", "es", "nl", "ru", "zh", "ja", "th", "ko", "ar", "he")


def summary(code, text, norms, *, case="sentence", spellings=()):
    """Return the printed summary of a text, in which all words are generated."""
    language = find_language(code)
    return detokenize(
        [SummaryToken(norm) for norm in norms.split()],
        read_document(text, language=language),
        case=case,
        truecaser=Truecaser(spellings),
        language=language,
    )


@pytest.mark.parametrize(
    ("code", "text", "norms", "printed"),
    [
        ("zh", "市长周一说话。", "市 长 说 ： `` 好 ''", "市长说：“好”"),
        ("zh", "市长周一说话。", "abc 公 司 和 def ghi", "Abc公司和def ghi"),
        ("ja", "市は答えた。", "市 が 「 は い 」 と 回 答", "市が「はい」と回答"),
        ("th", "เมืองขึ้นค่า", "ขึ้ น ค่ า", "ขึ้นค่า"),
        ("ko", "시장은 답했다.", "시장은 답했다", "시장은 답했다"),
        ("ar", "رفعت المدينة الرسوم.", "المدينة ترفع الرسوم ؟", "المدينة ترفع الرسوم؟"),
        ("he", "העירייה העלתה.", "העירייה -lrb- העלתה -rrb-", "העירייה (העלתה)"),
        ("es", "La ciudad sube la tasa.", "¿ quién paga ?", "¿Quién paga?"),
        ("fr", "L'impôt monte.", "l' impôt d' eau monte", "L'impôt d'eau monte"),
        ("fr", "L'impôt monte.", "impôt : qui paie ?", "Impôt : qui paie ?"),
        ("fr", "L’impôt monte.", "le maire dit `` non ''", "Le maire dit «Non»"),
        ("it", "L'acqua manca.", "un po' d' acqua", "Un po' d'acqua"),
        ("ru", "Мэр ушёл.", "мэр сказал `` нет ''", "Мэр сказал «Нет»"),
    ],
)
def test_summary_is_printed_as_the_language_is_written(code, text, norms, printed):
    assert summary(code, text, norms) == printed


def test_german_nouns_keep_their_capitals():
    text = "Der Rat von Übach erhöht die Gebühren."
    norms = "übach erhöht müllgebühren : die bürger klagen"
    spellings = ["Müllgebühren", "Bürger", "klagen"]
    assert summary("de", text, norms, spellings=spellings) == (
        "Übach erhöht Müllgebühren: Die Bürger klagen"
    )


def test_german_adjective_at_a_sentence_start_loses_its_capital():
    language = find_language("de")
    document = read_document("Neue Gebühren gelten.", language=language)
    tokens = [SummaryToken("ab"), SummaryToken("heute"), SummaryToken("neue", 0)]
    truecaser = Truecaser(["neue"])
    printed = detokenize(tokens, document, truecaser=truecaser, language=language)
    assert printed == "Ab heute neue"


def test_word_after_a_dateline_loses_its_capital():
    language = find_language("de")
    document = read_document("Bern (ABC) – Der Rat der Stadt zahlt.", language=language)
    position = [word.norm for word in document.words].index("der")
    tokens = [SummaryToken("index"), SummaryToken("der", position), SummaryToken("stadt")]
    truecaser = Truecaser(["Index", "Stadt"])
    printed = detokenize(tokens, document, truecaser=truecaser, language=language)
    assert printed == "Index der Stadt"


def test_headline_case_is_sentence_case_in_german():
    text = "Die Bürgermeisterin von Übach erhöht die Gebühren."
    norms = "bürgermeisterin von übach erhöht"
    assert summary("de", text, norms, case="headline") == "Bürgermeisterin von Übach erhöht"
    words = ["mayor", "of", "ostham", "raises"]
    assert capitalize(words, words, "headline", ENGLISH) == ["Mayor", "of", "Ostham", "Raises"]


@pytest.mark.parametrize(
    ("words", "norms", "expected"),
    [
        ("' why ? ' asks mayor", "` why ? ' asks mayor", "' Why ? ' asks mayor"),
        ('" why ! " asks mayor', "`` why ! '' asks mayor", '" Why ! " asks mayor'),
        ("' ferry sinks", "' ferry sinks", "' Ferry sinks"),
        ("why ? mayor asks", "why ? mayor asks", "Why ? Mayor asks"),
    ],
)
def test_word_after_a_quoted_question_has_no_capital(words, norms, expected):
    written = capitalize(words.split(), norms.split(), "sentence", ENGLISH)
    assert written == expected.split()


def test_english_spellings_are_not_used_in_other_languages():
    # English has "us" as "US" and "mark" as "Mark" in headlines; German does not.
    assert summary("de", "Es regnet.", "die mark fällt") == "Die mark fällt"


def test_german_headline_with_many_nouns_is_informative():
    tokens = ["Neue", "Gebühren", "für", "Abfall", "und", "Wasser", "in", "Übach"]
    ids, lengths = np.arange(len(tokens)), np.array([len(tokens)])
    assert not has_informative_case(tokens, ids, lengths).any()
    informative = has_informative_case(tokens, ids, lengths, has_headline_case=False)
    assert informative.tolist() == [False] + [True] * 7


@pytest.mark.parametrize("code", CODES)
@given(text=st.text(st.characters(codec="utf-8", exclude_characters="&")))
def test_copied_text_is_unchanged(code, text):
    language = LANGUAGES[code]
    document = read_document(text, language=language)
    assert write_copied(document, language) == " ".join(text.split())


@pytest.mark.parametrize("code", ["ar", "he"])
def test_right_to_left_text_is_unchanged(code):
    text = 'קרא: "שלום (2026)" \u200fABC 5% رفعت\u200c المدينة، "نعم".'
    language = LANGUAGES[code]
    assert write_copied(read_document(text, language=language), language) == text
