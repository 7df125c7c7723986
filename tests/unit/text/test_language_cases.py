"""Sentence splitting and tokenization of other languages, on hand-made cases."""

from pathlib import Path

import pytest

from readagain.text.document import headline_tokens, sentence_tokens
from readagain.text.language import find_language
from readagain.text.sentences import sentence_spans

CASES = Path(__file__).parents[2] / "assets" / "languages"
CODES = ("de", "fr", "it", "es")


def read_cases(code: str) -> list[str]:
    """Return the cases of a language: sentences joined by " ‖ ", or "text → tokens"."""
    lines = (CASES / f"{code}.txt").read_text(encoding="utf-8").split("\n")
    return [line for line in lines if line and not line.startswith("# ")]


def is_correct(case: str, code: str) -> bool:
    """Return whether the text of a case is split as expected."""
    language = find_language(code)
    if " → " in case:
        text, tokens = case.split(" → ")
        return headline_tokens(text, language) == tokens.split()
    text = case.replace(" ‖ ", " ")
    spans = sentence_spans(text, language=language)
    return [text[start:end] for start, end in spans] == case.split(" ‖ ")


@pytest.mark.parametrize("code", CODES)
def test_at_least_98_percent_of_300_cases_are_correct(code):
    cases = read_cases(code)
    assert len(set(cases)) == len(cases) >= 300
    wrong = [case for case in cases if not is_correct(case, code)]
    assert len(wrong) <= 0.02 * len(cases), f"{len(wrong)} of {len(cases)} wrong: {wrong}"


@pytest.mark.parametrize(
    ("code", "text", "expected"),
    [
        ("de", "Am 3. Oktober ist frei.", ["Am 3. Oktober ist frei ."]),
        ("de", "Der 1. FC Köln siegt. Alle feiern.", ["Der 1. FC Köln siegt .", "Alle feiern ."]),
        ("es", "EE. UU. firma. ¿Quién no?", ["EE. UU. firma .", "¿ Quién no ?"]),
        ("fr", "L'impôt, « dit-il », monte.", ["L' impôt , `` dit-il '' , monte ."]),
        (
            "pt",
            "O Sr. Silva bebeu d'água. Ninguém viu.",
            ["O Sr. Silva bebeu d' água .", "Ninguém viu ."],
        ),
        (
            "nl",
            "'s Avonds komt dhr. Jansen met foto's.",
            ["'s Avonds komt dhr. Jansen met foto's ."],
        ),
        (
            "ru",
            "Он живёт на ул. Мира. В г. Остхам холодно.",
            ["Он живёт на ул. Мира .", "В г. Остхам холодно ."],
        ),
        ("zh", "市长说：“好。”居民高兴。", ["市 长 说 ： `` 好 。 ''", "居 民 高 兴 。"]),
        (
            "ja",
            "市は「はい」と答えた。Aさんは笑った。",
            ["市 は 「 は い 」 と 答 え た 。", "A さ ん は 笑 っ た 。"],
        ),
        ("th", "ที่นี่ 5 คน", ["ที่ นี่ 5 ค น"]),
        ("ko", "시장은 답하지 않았다. 왜일까?", ["시장은 답하지 않았다 .", "왜일까 ?"]),
        (
            "ar",
            "رفعت المدينة الرسوم، ولم يجب. هل وافق؟",
            ["رفعت المدينة الرسوم ، ولم يجب .", "هل وافق ؟"],
        ),
        ("he", 'העירייה העלתה את האגרה. צה"ל שתק.', ["העירייה העלתה את האגרה .", 'צה"ל שתק .']),
        (
            "pl",
            "Miasto podnosi opłatę. „Nie” – mówi rada.",
            ["Miasto podnosi opłatę .", "`` Nie '' – mówi rada ."],
        ),
    ],
)
def test_sentences_and_words_follow_the_language(code, text, expected):
    sentences = sentence_tokens(text, language=find_language(code))
    assert [" ".join(tokens) for tokens in sentences] == expected


def test_unknown_language_is_split_like_english():
    text = "Mr. Smith can't pay $5. He left."
    assert sentence_tokens(text, language=find_language("und")) == sentence_tokens(text)
