"""The page of an explanation: complete, escaped, without external resources."""

import json
import re
from base64 import b64encode
from dataclasses import asdict, replace
from hashlib import sha256

import pytest

from readagain.explain.page import explanation_page

MARKUP = [
    "<script>alert(1)</script>",
    '"><img src=x onerror=alert(1)>',
    "</style></title></script>",
    "<!--<script>",
]


def data_of(page):
    (data,) = re.findall('<script id="data" type="application/json">(.*?)</script>', page)
    return json.loads(data)


def script_of(page):
    (script,) = re.findall('<script type="module">(.*?)</script>', page, flags=re.DOTALL)
    return script


def test_page_has_all_data(view):
    page = explanation_page(view)
    assert data_of(page) == json.loads(json.dumps(asdict(view)))
    assert "<title>Ghent buys 12</title>" in page
    assert "Headline by the model toy" in page


def test_script_has_no_modules_to_load(view):
    script = script_of(explanation_page(view))
    assert not re.search("^(import|export) ", script, flags=re.M)
    assert "function showExplanation(explanation)" in script


@pytest.mark.parametrize("word", MARKUP)
def test_text_is_escaped(view, word):
    with_markup = replace(
        view,
        text=view.text + word,
        summary=word,
        model=word,
        words=tuple(replace(each, surface=word, form=word) for each in view.words),
    )
    page, plain = explanation_page(with_markup), explanation_page(view)
    assert page.count("<") == plain.count("<")
    assert data_of(page)["summary"] == word


def test_policy_allows_only_the_script_of_the_page(view):
    page = explanation_page(view)
    digest = b64encode(sha256(script_of(page).encode()).digest()).decode()
    assert f"default-src 'none'; style-src 'unsafe-inline'; script-src 'sha256-{digest}'" in page


def test_page_has_no_external_resources(view):
    page = explanation_page(view)
    assert not re.search(r'https?:|url\(|@import| (src|href)="', page)


def test_long_unread_text_is_truncated(view):
    page = explanation_page(replace(view, text=view.text + " etc" * 100_000))
    assert len(page) < 60_000
