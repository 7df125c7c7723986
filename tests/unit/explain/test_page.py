"""The page: whole, escaped, readable without colours, and loading nothing."""

import re
from base64 import b64encode
from dataclasses import replace
from hashlib import sha256
from html.parser import HTMLParser

import pytest

from readagain.explain.page import explanation_page
from readagain.explain.view import explanation_view

VOID = {"meta", "br"}


class Outline(HTMLParser):
    """Collects elements and text, and checks that what is opened is closed."""

    def __init__(self, page):
        super().__init__()
        self.elements, self.open, self.said = [], [], []
        self.feed(page)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag, attrs):
        self.elements.append((tag, dict(attrs)))
        if tag not in VOID:
            self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        if self.open and self.open[-1] not in ("script", "style"):
            self.said.append(data)

    def all(self, tag):
        return [attrs for name, attrs in self.elements if name == tag]


def test_the_headline_and_the_text_stand_there_as_they_are(story):
    said = "".join(Outline(explanation_page(story)).said)
    assert "Ghent buys 12" in said
    assert "Ghent bought 12 <b>ferries</b> & trams." in said
    assert "The model did not read the end of the text." in said


def test_words_of_the_headline_carry_origin_source_and_attention(story):
    ghent, buys, number = Outline(explanation_page(story)).all("button")
    assert [each["class"] for each in (ghent, buys, number)] == ["copied", "generated", "digits"]
    assert [each["data-source"] for each in (ghent, buys, number)] == ["0", "", "2"]
    assert buys["data-attention"] == "[0.1, 0.9, 0.0]"
    said = buys["data-said"].replace("\u2068", "[").replace("\u2069", "]")
    assert said == "“[buys]”: generated; looked most at [bought] 90 %, [Ghent] 10 %, [12] 0 %."


def test_source_words_are_shaded_by_importance(story):
    words = [
        each for each in Outline(explanation_page(story)).all("span") if each.get("class") == "word"
    ]
    assert [each["style"] for each in words] == ["--i:0.500", "--i:0.000", "--i:1.000"]


def test_attention_is_a_table_with_headers_for_both_directions(story):
    page = Outline(explanation_page(story))
    scopes = [each["scope"] for each in page.all("th")]
    assert scopes.count("row") == len(story.words) + len(story.source)
    kinds = [each.get("class") for each in page.all("td")]
    assert kinds.count("number taken") == 2
    assert kinds.count("number weight") == len(story.source)
    assert "× 50" in "".join(page.said)


def test_a_number_that_was_left_out_is_named(story):
    page = explanation_page(story)
    assert "<s>#-#</s>" in page
    assert "no such number, so it is left out" in page


def test_a_model_that_reads_once_says_so(summary):
    once = replace(summary.explanation, importance=None, importance_kind=None)
    page = explanation_page(
        explanation_view("Ghent bought 12", replace(summary, explanation=once), model="toy")
    )
    assert "This model reads once, so no word is shaded." in page
    assert ">importance<" not in page


HOSTILE = [
    "<script>alert(1)</script>",
    '"><img src=x onerror=alert(1)>',
    "</style></title></script>",
    "' onmouseover='alert(1)",
]


@pytest.mark.parametrize("word", HOSTILE)
def test_nothing_of_the_text_becomes_markup(story, word):
    hostile = replace(
        story,
        text=word + story.text + word,
        summary=word,
        model=word,
        source=tuple(
            replace(each, surface=word, start=each.start + len(word), end=each.end + len(word))
            for each in story.source
        ),
        words=tuple(
            replace(each, surface=each.surface and word, form=word) for each in story.words
        ),
    )
    plain, outline = Outline(explanation_page(story)), Outline(explanation_page(hostile))
    assert len(outline.all("script")) == 1
    assert outline.all("img") == []
    assert {name for name, _ in outline.elements} <= {name for name, _ in plain.elements}
    names = {name for _, attributes in outline.elements for name in attributes}
    assert not [name for name in names if name.startswith("on")]


def test_only_the_page_s_own_script_may_run(story):
    page = explanation_page(story)
    (script,) = re.findall("<script>(.*?)</script>", page, flags=re.DOTALL)
    digest = b64encode(sha256(script.encode()).digest()).decode()
    assert f"default-src 'none'; style-src 'unsafe-inline'; script-src 'sha256-{digest}'" in page


def test_nothing_is_loaded_from_elsewhere(story):
    page = explanation_page(story)
    assert "http:" not in page
    assert "https:" not in page
    loading = {"src", "href", "srcset", "action", "data"}
    assert not [
        attributes for _, attributes in Outline(page).elements if loading & attributes.keys()
    ]
    assert "url(" not in page
    assert "@import" not in page


@pytest.mark.parametrize("word", ["مدينة", "שלום", "🎉👩‍🚀", "漢字"])
def test_other_scripts_stand_as_they_are_with_their_own_direction(story, word):
    page = explanation_page(
        replace(story, words=(replace(story.words[0], surface=word), *story.words[1:]))
    )
    assert f"<bdi>{word}</bdi>" in page
    assert '<h1 dir="auto">' in page


def test_the_rest_of_a_long_text_is_cut(story):
    page = explanation_page(replace(story, text=story.text + " etc" * 100_000))
    assert len(page) < 60_000
    assert "…</span>" in page


def test_an_address_on_the_web_is_cut_in_the_tables_and_whole_in_the_text(story):
    address = "https://example.org/" + "a" * 80
    source = (replace(story.source[0], surface=address), *story.source[1:])
    page = explanation_page(replace(story, source=source))
    assert '<th scope="row"><bdi>https://example.org/aaa…</bdi></th>' in page
    assert f">{address}</span>" in page
