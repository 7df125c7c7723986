"""Languages and their detection."""

import pytest

from readagain.errors import ConfigError
from readagain.text.language import LANGUAGES, UNDETERMINED, detect_language, find_language

SENTENCES = {
    "en": "The council raised the fee for the bins, and the mayor said it was too late.",
    "de": "Die Stadt erhöht die Gebühren für den Müll, und der Rat stimmt dem zu.",
    "fr": "La ville relève l'impôt sur les ordures et le maire n'a pas répondu.",
    "it": "La città aumenta la tassa sui rifiuti e il sindaco non ha risposto.",
    "es": "La ciudad sube la tasa de basuras y el alcalde no ha respondido.",
    "pt": "A cidade aumenta a taxa do lixo e o prefeito não respondeu às perguntas.",
    "nl": "De stad verhoogt de kosten van het afval en de burgemeester zwijgt.",
    "ru": "Город повышает плату за вывоз мусора, и мэр на вопросы не ответил.",
    "zh": "市政府提高了垃圾处理费，市长没有回答记者的问题。",
    "ja": "市はごみ処理の料金を引き上げ、市長は質問に答えなかった。",
    "ko": "시는 쓰레기 처리 요금을 올렸고 시장은 대답하지 않았다.",
    "ar": "رفعت المدينة رسوم النفايات ولم يجب رئيس البلدية عن الأسئلة.",
    "he": "העירייה העלתה את אגרת האשפה וראש העיר לא השיב.",
    "th": "เมืองขึ้นค่าธรรมเนียมขยะและนายกเทศมนตรีไม่ตอบคำถาม",
    "sv": "Staden höjer avgiften för sopor och borgmästaren har inte svarat på det.",
    "pl": "Miasto podnosi opłatę za śmieci, a burmistrz nie odpowiedział na to.",
    "uk": "Місто підвищує плату за вивіз сміття, і мер на це не відповів.",
}


@pytest.mark.parametrize("code", SENTENCES)
def test_detect_language_of_a_sentence(code: str) -> None:
    detected = detect_language(SENTENCES[code])
    assert detected is not None
    assert detected.code == code


@pytest.mark.parametrize(
    "text",
    [
        "",
        "123 !?",
        "Ostham",
        "Acme Widget Corp. Ostham 2026",
        "شهرداری هزینه زباله را افزایش داد و پاسخی نگفت.",  # Persian is not a known language
        "Ostham 市 Westham",
    ],
)
def test_detect_language_is_none_if_unsure(text: str) -> None:
    assert detect_language(text) is None


def test_detect_language_ignores_foreign_names() -> None:
    text = "The ferry from Übach to São Gonçalo was late, and the crew of the Черноморец waited."
    detected = detect_language(text)
    assert detected is not None
    assert detected.code == "en"


def test_find_language_names_the_nearest_code() -> None:
    assert find_language("de").name == "German"
    with pytest.raises(ConfigError, match="language is 'german'; did you mean 'de'"):
        find_language("german")
    with pytest.raises(ConfigError, match="use 'und' for any other"):
        find_language("xx-XX")


def test_languages_have_the_values_of_their_table() -> None:
    german = LANGUAGES["de"]
    assert german.quotes == ("„", "“")
    assert {"bzw", "Bzw", "Nr"} <= german.never_last
    assert "nr" not in german.never_last
    assert "mr" not in LANGUAGES["en"].never_last
    assert not LANGUAGES[UNDETERMINED].function_words
