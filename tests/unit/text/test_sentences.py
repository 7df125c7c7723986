"""Sentence splitting."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from readagain.text.sentences import sentence_spans

CASES = Path(__file__).parents[2] / "assets" / "sentences"


def read_cases(name: str) -> list[tuple[str, list[str]]]:
    """Return the text and the sentences of each case; ‖ separates sentences, ⏎ is a line break."""
    lines = (CASES / name).read_text(encoding="utf-8").split("\n")
    cases = [line.replace("⏎", "\n") for line in lines if line and not line.startswith("# ")]
    return [
        (
            case.replace(" ‖ ", " ").replace("‖", ""),
            [sentence.strip() for sentence in case.split("‖")],
        )
        for case in cases
    ]


def split(text: str) -> list[str]:
    return [text[start:end] for start, end in sentence_spans(text)]


def test_sentence_cases_number_at_least_200():
    assert len(read_cases("tricky.txt")) >= 200


@pytest.mark.parametrize("name", ["tricky.txt", "unseen.txt"])
def test_sentence_cases_are_97_percent_correct(name):
    cases = read_cases(name)
    wrong = [(text, split(text)) for text, sentences in cases if split(text) != sentences]
    assert len(wrong) <= 0.03 * len(cases), wrong


def test_sentences_with_abbreviations_are_split():
    text = "Mr. Smith of the U.S. Senate paid $3.5m. He left."
    assert split(text) == ["Mr. Smith of the U.S. Senate paid $3.5m.", "He left."]


def test_sentence_spans_exclude_white_space():
    assert split("  He left. \n\n She stayed.\t ") == ["He left.", "She stayed."]


def test_max_sentences_returns_the_first_ones():
    text = "He left. She stayed. They slept."
    assert sentence_spans(text, max_sentences=2) == sentence_spans(text)[:2]
    assert sentence_spans(text, max_sentences=0) == []


PIECES = st.sampled_from(
    [
        "Mr.",
        "U.S.",
        "He",
        "left.",
        '"No."',
        "(Yes!)",
        "...",
        "…",
        "\n",
        "\n\n",
        " ",
        "1.",
        "- ",
        "。",
    ]
)


@given(st.text(alphabet=st.characters()) | st.lists(PIECES).map(" ".join))
def test_sentence_spans_cover_the_text_in_order(text):
    spans = sentence_spans(text)
    covered = "".join(text[start:end] for start, end in spans)
    assert "".join(covered.split()) == "".join(text.split())
    for start, end in spans:
        assert text[start:end].strip() == text[start:end] != ""
    assert spans == sorted(spans)
