"""Treebank tokens and their spans."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from readagain.text.tokenizer import token_spans, tokenize


@pytest.mark.parametrize(
    ("sentence", "words"),
    [
        ("He left.", "He left ."),
        ("now—or never…", "now—or never…"),
        ("It cost $3.5m, or 40% more.", "It cost $ 3.5m , or 40 % more ."),
        ("They didn't; we'll see.", "They did n't ; we 'll see ."),
        ("The U.S. Senate's vote", "The U.S. Senate 's vote"),
        ("1,000 men: 3:15 a.m., sharp", "1,000 men : 3:15 a.m. , sharp"),
        ('"Stop," she said.', "`` Stop , '' she said ."),
        ('He said "no."', "He said `` no . ''"),
        ('("Quoted")', "( `` Quoted '' )"),
        ("''Old'' style", "`` Old '' style"),
        ("the dogs' tails", "the dogs ' tails"),
        ("wait... what?!", "wait ... what ? !"),
        ("well....", "well ... ."),
        ("now--or never -- maybe", "now -- or never -- maybe"),
        ("a well-known mid-2010s act", "a well-known mid-2010s act"),
        ("I cannot; gonna, GIMME, wanna go", "I can not ; gon na , GIM ME , wan na go"),
        ("'Tis true; 'twas so", "'T is true ; 't was so"),
        ("more'n d'ye", "more 'n d 'ye"),
        ("AT&T and a@b.com #1", "AT & T and a @ b.com # 1"),
        ("see http://x.com/a?b=c.", "see http : //x.com/a ? b=c ."),
        ("[sic] {x} <y>", "[ sic ] { x } < y >"),
        ("the '90s and 'em", "the '90s and 'em"),
        ("they'd've", "they'd 've"),
        ("Tooth-and-nail; DON'T", "Tooth-and-nail ; DO N'T"),
    ],
)
def test_tokenize_follows_the_treebank(sentence, words):
    assert tokenize(sentence) == words.split()


@pytest.mark.parametrize(
    ("sentence", "words"),
    [
        ("now―or never", "now ― or never"),
        ("so⋯", "so ⋯"),
        ("the `big' one", "the ` big ' one"),
        ('He said\n"no"', "He said `` no ''"),
        ("the dog's\ttail", "the dog 's tail"),
        ("a,,b", "a , , b"),
        ("in the U.S.", "in the U.S."),
        ("(at 5 p.m.)", "( at 5 p.m. )"),
        ("晴れ。", "晴れ 。"),
    ],
)
def test_tokenize_differs_from_the_treebank_by_design(sentence, words):
    assert tokenize(sentence) == words.split()


def test_token_spans_delimit_the_tokens():
    text = "It's $3.5m."
    assert [text[start:end] for start, end in token_spans(text)] == ["It", "'s", "$", "3.5m", "."]


def test_empty_text_has_no_tokens():
    assert tokenize("") == token_spans(" \n\t ") == []


ANY_TEXT = st.text(alphabet=st.characters(), max_size=60)  # lone surrogates included
UNUSUAL_TEXT = st.text(
    alphabet="aAnNtT sS'\"`.,:;-—…()[]&$#%?! \n\t1é\u0301\u200d\ud800🙂م", max_size=40
)


@given(ANY_TEXT | UNUSUAL_TEXT)
def test_token_spans_cover_all_but_white_space(text):
    spans = token_spans(text)
    covered = [offset for start, end in spans for offset in range(start, end)]
    assert covered == [offset for offset, c in enumerate(text) if not c.isspace()]


@given(ANY_TEXT | UNUSUAL_TEXT)
def test_tokens_are_the_text_at_their_spans(text):
    surfaces = [text[start:end] for start, end in token_spans(text)]
    words = tokenize(text)
    assert len(words) == len(surfaces)
    for word, surface in zip(words, surfaces, strict=True):
        assert word == surface or (surface in ('"', "''") and word in ("``", "''"))


@given(UNUSUAL_TEXT)
def test_tokens_contain_no_white_space(text):
    assert not any(re.search(r"\s", word) for word in tokenize(text))
