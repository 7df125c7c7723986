"""Fixtures: invented results, and a small reproduction on invented data."""

import gzip
import json

import numpy as np
import pytest
from rich.console import Console

from readagain.experiments.options import ReproduceOptions
from readagain.experiments.reproduce import run_experiments
from readagain.experiments.results import DatasetResult, ExperimentResult, pack_scores
from readagain.rouge.options import MEASURES

ITEMS = 200
UNKNOWN = {"words": 10, "in_source": 8, "written": 4, "summary_words": 5, "wrong": 1}


def made_up_set(mean, *, figure="f1", spread=0.1, seed=0, unknown=None, fingerprint="texts"):
    """Return random scores around `mean`; the same seed gives the same scores."""
    noise = np.random.default_rng(seed).uniform(-spread, spread, (ITEMS, 1))
    items = np.clip(mean + noise, 0, 1).repeat(len(MEASURES), axis=1)
    return DatasetResult(
        protocol="gigaword" if figure == "f1" else "duc2003",
        figure=figure,
        fingerprint=fingerprint,
        rouge={measure: [mean, mean - 0.01, mean + 0.01] for measure in MEASURES},
        item_scores=pack_scores(items),
        habits={"words": 8.25},
        unknown={"common": {**UNKNOWN, **(unknown or {})}},
        seconds=1.0,
    )


def made_up(row, mean=0.3, *, recipe="modern", seed=1, sets=None, importance=None, scale="paper"):
    """Return a result with the score `mean`."""
    return ExperimentResult(
        row=row,
        recipe=recipe,
        seed=seed,
        scale=scale,
        run={"title": row},
        corpus={"name": "news", "fingerprint": "f" * 64, "train_pairs": 1000},
        parameters=1_000_000,
        training={"minutes": 1.5, "updates": 10, "best": None},
        machine={
            "device_type": "cuda",
            "device": "a GPU",
            "torch": "2",
            "readagain": "0",
        },
        seconds=60.0,
        sets=sets or {"news": made_up_set(mean)},
        importance=importance,
    )


@pytest.fixture
def result():
    return made_up


@pytest.fixture
def scored():
    return made_up_set


@pytest.fixture
def read_summaries():
    """Return a function that reads a file of summaries by data set."""

    def read(path):
        summaries = {}
        for record in map(json.loads, gzip.decompress(path.read_bytes()).splitlines()):
            summaries.setdefault(record["set"], []).append(record["summary"])
        return summaries

    return read


@pytest.fixture
def silent():
    return Console(quiet=True)


@pytest.fixture
def small(tmp_path):
    """Return a function that makes the options of a small reproduction."""

    def make_options(*names, **options):
        defaults = {"out": tmp_path / "out", "scale": "small", "device_name": "cpu", "epochs": 1}
        return ReproduceOptions(names=names, **{**defaults, **options})

    return make_options


@pytest.fixture(scope="session")
def reproduced(tmp_path_factory):
    """Run an experiment of each kind; return the directory and the result."""
    out = tmp_path_factory.mktemp("reproduced") / "out"
    names = (
        "prefix",
        "read_again_lstm_copy_15k",
        "read_again_lstm_15k",
        "read_again_gru_15k",
        "two_sentences_option2_copy_15k",
    )
    options = ReproduceOptions(names=names, out=out, scale="small", device_name="cpu")
    return out, run_experiments(options, Console(quiet=True))
