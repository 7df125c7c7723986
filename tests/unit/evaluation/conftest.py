"""Fixtures: invented data in the layouts of data sets, and the toy model of tests/assets."""

import json
from pathlib import Path

import pytest

from readagain.corpus.readers.find import CorpusReadOptions
from readagain.evaluation.dataset import read_dataset
from readagain.evaluation.evaluate import evaluate
from readagain.evaluation.systems import load_system

TOY = Path(__file__).parents[2] / "assets" / "models" / "toy"

ARTICLES = [
    "police in ghent said on monday that ## people crossed the old bridge .",
    "a storm hit the harbour , and the ferry was late by ## percent .",
    "the UNK museum , which opened in #### , closes for good on friday .",
]
TITLES = ["police count ## people on bridge", "storm delays ferry", "UNK museum closes for good"]
RAW = [
    ("Police in Ghent said that 12 people crossed the bridge. It held.", "12 people cross bridge"),
    ("A storm hit the harbour, and the ferry “Élan” was late.", "Storm delays the ferry “Élan”"),
]


@pytest.fixture
def parallel(tmp_path):
    """Return a function that writes texts and headlines in the Gigaword layout."""

    def write(articles, titles):
        folder = tmp_path / "giga"
        folder.mkdir(exist_ok=True)
        write_lines(folder / "dev.article.txt", articles)
        write_lines(folder / "dev.title.txt", titles)
        return folder

    return write


@pytest.fixture
def gigaword(parallel):
    return parallel(ARTICLES, TITLES)


@pytest.fixture
def duc(tmp_path):
    """Write a data set in the DUC layout: tokenized texts with real digits, raw references."""
    folder = tmp_path / "duc"
    folder.mkdir()
    texts = [article.replace("####", "1904").replace("##", "12") for article in ARTICLES[:2]]
    write_lines(folder / "input.txt", texts)
    write_lines(folder / "task1_ref0.txt", ["12 people cross the bridge in Ghent", "Storm at sea."])
    write_lines(folder / "task1_ref1.txt", ["Old bridge is crossed", "Ferry late after storm"])
    return folder


@pytest.fixture
def jsonl(tmp_path):
    path = tmp_path / "pairs.jsonl"
    records = [json.dumps({"text": text, "headline": headline}) for text, headline in RAW]
    write_lines(path, records)
    return path


@pytest.fixture
def read():
    def read(path, *, split=None, on_error="stop", **options):
        return read_dataset(path, CorpusReadOptions(**options), split=split, on_error=on_error)

    return read


@pytest.fixture
def evaluated(read):
    """Return a function that evaluates a model on a path, as `readagain evaluate` does."""

    def run(model, path, protocol, *, decoding=None, **options):
        settings = {} if model in ("prefix", "lead") else {"threads": 1}
        system = load_system(str(model), protocol, decoding=decoding, **settings)
        return evaluate(system, read(path, **options), protocol)

    return run


@pytest.fixture(scope="session")
def toy():
    return TOY


def write_lines(path, lines):
    path.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
