"""Small synthetic corpora and texts, so that all experiments run without licensed data."""

import json
import random
from collections.abc import Sequence
from itertools import product
from pathlib import Path

from readagain.corpus.prepare import prepare
from readagain.corpus.readers.find import CorpusReadOptions, find_inputs
from readagain.corpus.settings import PrepareSettings

_NUM_TRAIN_PAIRS, _NUM_DEV_PAIRS, _NUM_DUC_TEXTS = 240, 24, 8
_NUM_DUC_REFERENCES = 4

_SYLLABLES = ("ba", "dor", "el", "fen", "gri", "hal", "is", "kel", "lun", "mar", "nor", "os")
# Verb of the text, verb of the headline, circumstance.
_EVENTS = (
    ("closed", "closes", "after the flood"),
    ("opened", "opens", "for the summer"),
    ("sold", "sells", "to pay its debts"),
    ("rebuilt", "rebuilds", "with borrowed money"),
)
_THINGS = ("harbour", "library", "bridge", "museum", "station", "theatre")
_DAYS = ("Monday", "Tuesday", "Thursday", "Friday")
_FOLLOWING_SENTENCES = (
    "The mayor of {town} called it a hard decision.",
    "Visitors from {town} had asked for it since {year}.",
    "It was built in {year} and cost the town a fortune.",
)
_TIMING_BEGINNINGS = (
    "The harbour authority of a small northern port said on Tuesday that it would",
    "Officials in the coastal town of Ostham announced late on Monday that they will",
    "A committee of the regional parliament recommended after a heated debate to",
    "The country's second largest railway company told its 4,200 employees that it must",
    "Engineers at the Velden power station confirmed on Friday that they expect to",
    "The owners of a glass factory that employs 310 people said they intend to",
    "Farmers from nine villages along the river Ambel asked the government on Sunday to",
    "The national museum, closed since a fire in March, said its trustees agreed to",
)
_TIMING_ENDINGS = (
    "postpone the opening of a new bridge by 6 months because the steel was delivered late.",
    "spend another 75 million crowns on repairs after heavy rain damaged roofs, walls and cables.",
    "close two of its five sites next year, as fewer visitors came than had been hoped.",
    "accept an offer from a foreign investor, ending a dispute that has lasted for 12 years.",
)
TIMING_SENTENCES = [" ".join(halves) for halves in product(_TIMING_BEGINNINGS, _TIMING_ENDINGS)]
"""32 invented sentences of about 31 words, to measure the speed of models."""


def write_sample_corpora(directory: Path) -> tuple[Path, dict[str, Path]]:
    """Write the synthetic corpora unless they exist.

    Returns:
        The directory of the training corpus, and the directories of the test sets by name.
    """
    main, duc = directory / "invented", directory / "invented-duc"
    raw = directory / "raw"
    raw.mkdir(parents=True, exist_ok=True)
    rng = random.Random(1)
    num_pairs = _NUM_TRAIN_PAIRS + _NUM_DEV_PAIRS + _NUM_DUC_TEXTS
    pairs = [_make_pair(rng) for _ in range(num_pairs)]
    if not main.exists():
        train = _write_pairs(raw / "train.jsonl", pairs[:_NUM_TRAIN_PAIRS])
        dev = _write_pairs(raw / "dev.jsonl", pairs[_NUM_TRAIN_PAIRS:-_NUM_DUC_TEXTS])
        inputs = [
            *find_inputs([str(train)], CorpusReadOptions()),
            *find_inputs([str(dev)], CorpusReadOptions(), split="dev"),
        ]
        prepare(inputs, main, PrepareSettings())
    if not duc.exists():
        texts = _write_duc(raw, pairs[-_NUM_DUC_TEXTS:])
        inputs = find_inputs([str(texts)], CorpusReadOptions(), split="dev")
        prepare(inputs, duc, PrepareSettings())
    return main, {duc.name: duc}


def _write_pairs(path: Path, pairs: Sequence[dict[str, str]]) -> Path:
    path.write_text("".join(json.dumps(pair) + "\n" for pair in pairs), encoding="utf-8")
    return path


def _write_duc(directory: Path, pairs: Sequence[dict[str, str]]) -> Path:
    """Write texts and references in the DUC layout; return the file with the texts.

    The references of a text are the first four or three words of its headline.
    """
    for number in range(_NUM_DUC_REFERENCES):
        references = (pair["headline"].split()[: 4 - number % 2] for pair in pairs)
        lines = "".join(" ".join(words) + "\n" for words in references)
        (directory / f"task1_ref{number}.txt").write_text(lines, encoding="utf-8")
    texts = directory / "input.txt"
    texts.write_text("".join(pair["text"] + "\n" for pair in pairs), encoding="utf-8")
    return texts


def _make_pair(rng: random.Random) -> dict[str, str]:
    """Invent a text of one to five sentences about a town, and its headline."""
    town = "".join(rng.choices(_SYLLABLES, k=3)).capitalize()
    thing, day = rng.choice(_THINGS), rng.choice(_DAYS)
    text_verb, headline_verb, circumstance = rng.choice(_EVENTS)
    age = f"{rng.randint(20, 400)}-year-old"
    first = (
        f"The town of {town} {text_verb} its {age} {thing} on {day} {circumstance}, officials said."
    )
    others = rng.choices(_FOLLOWING_SENTENCES, k=rng.choice((0, 1, 1, 2, 4)))
    year = str(rng.randint(1900, 2010))
    text = " ".join([first, *(other.format(town=town, year=year) for other in others)])
    return {"text": text, "headline": f"{town} {headline_verb} {age} {thing}"}
