"""Tokens compared with NLTK's Treebank tokenizer."""

import importlib.util
from pathlib import Path

import pytest
from nltk.tokenize import TreebankWordTokenizer

from readagain.text.tokenizer import tokenize

REPOSITORY = Path(__file__).parents[2]
nltk_words = TreebankWordTokenizer().tokenize


def invented_sentences(count: int, seed: int) -> list[str]:
    """Take the benchmark's newswire, so that what is timed there is compared here."""
    spec = importlib.util.spec_from_file_location(
        "text_benchmark", REPOSITORY / "benchmarks" / "text.py"
    )
    benchmark = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(benchmark)
    return list(benchmark.invented_sentences(count, seed))


def test_tokenizer_equals_nltk_on_995_of_1000_sentences():
    sentences = invented_sentences(4000, seed=7)
    different = [s for s in sentences if tokenize(s) != nltk_words(s)]
    assert len(different) <= 0.005 * len(sentences), different[:5]


@pytest.mark.parametrize(
    "sentence",
    [
        "Mr. Smith of the U.S. Senate paid $3.5m.",
        "He lives in the U.S. now.",
        '"It\'s over," she said; "we can\'t win."',
        'He called it "a mistake."',
        "They've said (again) that it isn't so...",
        "Wait.... What?!",
        "It cost 1,234.50: no more, no less.",
        "At 3:15 a.m., 40% of AT&T's clients hadn't voted.",
        "The players' union's offer -- the best -- was 'too low'.",
        "I cannot, d'ye hear, gimme that; I'm gonna go 'cause I gotta.",
        "'Twas late, and 'tis later.",
        "See http://www.example.com/a.html?b=c&d=e or write to a@b.org.",
        "[Editor's note: {sic} <b>bold</b>]",
        "The ''old'' quotes and ``older'' ones",
        "A well-known, mid-2010s, so-called rock-'n'-roll act",
        "Naïve café owners in São Paulo; Łódź, too.",
        "It's #1 @ home, isn't it?",
        "dash---dash, dash----dash",
        "He said 'I won't.'",
        "(He left.)",
        "The '90s' best",
        "the dogs'.",
        "she's, he'd, they'll; we're: I've! you'd?",
        "Nothing",
        "...",
        ".",
        "",
        "   spaced    out   ",
        "DON'T SHOUT, IT'S LATE, THEY'RE ASLEEP",
        "The 6\" pipe and the 5' door",
        "x,y and 1,2 and a:b and 3:4",
        "他赢了",
        "🙂 smile 👨‍👩‍👧",
    ],
)
def test_tokenizer_equals_nltk_on_tricky_sentences(sentence):
    assert tokenize(sentence) == nltk_words(sentence)
