"""View of an explanation."""

import json
from dataclasses import asdict, replace

import numpy as np
import pytest

from readagain.errors import DataError
from readagain.explain.view import explanation_view
from readagain.formats.jsonl import printable_json


def test_words_have_origin_and_source(view):
    assert [(word.surface, word.origin, word.source) for word in view.words] == [
        ("Ghent", "copied", 0),
        ("buys", "generated", None),
        ("12", "digits", 2),
        ("", "generated", None),
    ]


def test_probabilities_are_not_logarithms(view):
    assert view.words[0].probability == 0.5


def test_most_attended_words_come_first(view):
    assert view.words[1].most_attended(2) == [1, 0]


def test_shades_are_the_attention_of_the_headline(view):
    # The columns sum to 1.6, 1.35 and 1.05 without the last row, which is that of EOS.
    shades = [word.shade for word in view.source]
    assert shades == pytest.approx([1.0, 1.35 / 1.6, 1.05 / 1.6], abs=1e-4)
    assert [word.importance for word in view.source] == [0.25, -0.25, 0.75]
    assert [word.surface for word in view.most_attended(2)] == ["Ghent", "bought"]


def test_headline_without_attention_has_no_shade(summary):
    no_attention = replace(summary.explanation, attention=np.zeros((5, 3)))
    view = explanation_view(
        "Ghent bought 12", replace(summary, explanation=no_attention), model="toy"
    )
    assert [word.shade for word in view.source] == [0.0, 0.0, 0.0]


def test_one_pass_view_has_no_importance(summary):
    one_pass = replace(summary.explanation, importance=None, importance_kind=None)
    view = explanation_view("Ghent bought 12", replace(summary, explanation=one_pass), model="toy")
    assert [(word.importance, word.shade > 0) for word in view.source] == [(None, True)] * 3


def test_text_without_words_names_its_file(summary):
    empty = replace(summary, text="", words=(), explanation=None)
    with pytest.raises(
        DataError, match=r"news\.txt: no words to explain; expected a text with a letter"
    ):
        explanation_view("…", empty, model="toy", where="news.txt")


# All characters with the Unicode property Bidi_Control, then DEL, C1 and line separators.
BIDI_CONTROLS = "\u061c\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069"
OTHER_CONTROLS = "\x1b\x7f\x80\x9b\x9f\u2028\u2029\n"


@pytest.mark.parametrize("character", [*BIDI_CONTROLS, *OTHER_CONTROLS])
def test_json_escapes_control_characters(view, character):
    text = printable_json(asdict(replace(view, text=f"été\u00a0مدينة{character}🎉")))
    assert character not in text
    assert "été\u00a0مدينة" in text
    assert json.loads(text)["text"] == f"été\u00a0مدينة{character}🎉"


def test_json_has_all_fields(view):
    plain = json.loads(printable_json(asdict(view)))
    assert [*plain] == [
        "text",
        "summary",
        "model",
        "truncated",
        "read_share",
        "confidence",
        "warnings",
        "importance_kind",
        "source",
        "words",
    ]
    assert plain["source"][2] == {
        "surface": "12",
        "start": 13,
        "end": 15,
        "importance": 0.75,
        "shade": 0.6562,
    }
    assert plain["warnings"] == [{"code": "truncated", "message": "only 30% of the text was read"}]
    assert plain["words"][2] == {
        "surface": "12",
        "start": 11,
        "end": 13,
        "form": "##",
        "origin": "digits",
        "source": 2,
        "probability": 0.5,
        "attention": [0.0, 0.2, 0.8],
    }
