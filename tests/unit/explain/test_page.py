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


def test_page_has_headline_and_text(view):
    said = "".join(Outline(explanation_page(view)).said)
    assert "Ghent buys 12" in said
    assert "Ghent bought 12 <b>ferries</b> & trams." in said
    assert "The model did not read the end of the text." in said


def test_headline_words_have_origin_and_attention(view):
    ghent, buys, number = Outline(explanation_page(view)).all("button")
    assert [each["class"] for each in (ghent, buys, number)] == ["copied", "generated", "digits"]
    assert [each["data-source"] for each in (ghent, buys, number)] == ["0", "", "2"]
    assert buys["data-attention"] == "[0.1, 0.9, 0.0]"
    said = buys["data-description"].replace("\u2068", "[").replace("\u2069", "]")
    assert said == "“[buys]”: generated; most attention to [bought] 90 %, [Ghent] 10 %, [12] 0 %."


def test_source_words_are_shaded_by_importance(view):
    words = [
        each for each in Outline(explanation_page(view)).all("span") if each.get("class") == "word"
    ]
    assert [each["style"] for each in words] == ["--i:0.500", "--i:0.000", "--i:1.000"]


def test_attention_table_has_row_and_column_headers(view):
    page = Outline(explanation_page(view))
    scopes = [each["scope"] for each in page.all("th")]
    assert scopes.count("row") == len(view.words) + len(view.source)
    kinds = [each.get("class") for each in page.all("td")]
    assert kinds.count("number taken") == 2
    assert kinds.count("number weight") == len(view.source)
    assert "× 50" in "".join(page.said)


def test_unprinted_number_is_shown(view):
    page = explanation_page(view)
    assert "<s>#-#</s>" in page
    assert "no such number, so it is left out" in page


def test_page_of_a_one_pass_model_has_no_shades(summary):
    once = replace(summary.explanation, importance=None, importance_kind=None)
    page = explanation_page(
        explanation_view("Ghent bought 12", replace(summary, explanation=once), model="toy")
    )
    assert "This model has no second pass, so no word is shaded." in page
    assert ">importance<" not in page


HOSTILE = [
    "<script>alert(1)</script>",
    '"><img src=x onerror=alert(1)>',
    "</style></title></script>",
    "' onmouseover='alert(1)",
]


@pytest.mark.parametrize("word", HOSTILE)
def test_text_is_escaped(view, word):
    hostile = replace(
        view,
        text=word + view.text + word,
        summary=word,
        model=word,
        source=tuple(
            replace(each, surface=word, start=each.start + len(word), end=each.end + len(word))
            for each in view.source
        ),
        words=tuple(replace(each, surface=each.surface and word, form=word) for each in view.words),
    )
    plain, outline = Outline(explanation_page(view)), Outline(explanation_page(hostile))
    assert len(outline.all("script")) == 1
    assert outline.all("img") == []
    assert {name for name, _ in outline.elements} <= {name for name, _ in plain.elements}
    names = {name for _, attributes in outline.elements for name in attributes}
    assert not [name for name in names if name.startswith("on")]


def test_policy_allows_only_the_own_script(view):
    page = explanation_page(view)
    (script,) = re.findall("<script>(.*?)</script>", page, flags=re.DOTALL)
    digest = b64encode(sha256(script.encode()).digest()).decode()
    assert f"default-src 'none'; style-src 'unsafe-inline'; script-src 'sha256-{digest}'" in page


def test_page_has_no_external_resources(view):
    page = explanation_page(view)
    assert "http:" not in page
    assert "https:" not in page
    loading = {"src", "href", "srcset", "action", "data"}
    assert not [
        attributes for _, attributes in Outline(page).elements if loading & attributes.keys()
    ]
    assert "url(" not in page
    assert "@import" not in page


@pytest.mark.parametrize("word", ["مدينة", "שלום", "🎉👩‍🚀", "漢字"])
def test_other_scripts_keep_their_direction(view, word):
    page = explanation_page(
        replace(view, words=(replace(view.words[0], surface=word), *view.words[1:]))
    )
    assert f"<bdi>{word}</bdi>" in page
    assert '<h1 dir="auto">' in page


def test_unread_text_is_cut(view):
    page = explanation_page(replace(view, text=view.text + " etc" * 100_000))
    assert len(page) < 60_000
    assert "…</span>" in page


def test_long_words_are_cut_in_tables_only(view):
    address = "https://example.org/" + "a" * 80
    source = (replace(view.source[0], surface=address), *view.source[1:])
    page = explanation_page(replace(view, source=source))
    assert '<th scope="row"><bdi>https://example.org/aaa…</bdi></th>' in page
    assert f">{address}</span>" in page
