"""Small synthetic corpora, with which all experiments run in minutes without licensed data."""

import json
import random
from collections.abc import Sequence
from pathlib import Path

from readagain.corpus.prepare import prepare
from readagain.corpus.readers.find import CorpusReadOptions, find_inputs
from readagain.corpus.settings import PrepareSettings
from readagain.corpus.shards import PreparedCorpus
from readagain.errors import ArtifactError

_TRAIN_PAIRS, _DEV_PAIRS, _DUC_TEXTS = 240, 24, 8
_REFERENCES = 4

_SYLLABLES = ("ba", "dor", "el", "fen", "gri", "hal", "is", "kel", "lun", "mar", "nor", "os")
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


def write_sample_corpora(directory: Path) -> tuple[Path, dict[str, Path]]:
    """Write the synthetic corpora unless they exist.

    Returns:
        The directory of the training corpus, and the directories of the test sets by name.
    """
    main, duc = directory / "invented", directory / "invented-duc"
    raw = directory / "raw"
    raw.mkdir(parents=True, exist_ok=True)
    rng = random.Random(1)
    pairs = [_make_pair(rng) for _ in range(_TRAIN_PAIRS + _DEV_PAIRS + _DUC_TEXTS)]
    if not _exists(main):
        train = _write_pairs(raw / "train.jsonl", pairs[:_TRAIN_PAIRS])
        dev = _write_pairs(raw / "dev.jsonl", pairs[_TRAIN_PAIRS:-_DUC_TEXTS])
        sources = [
            *find_inputs([str(train)], CorpusReadOptions()),
            *find_inputs([str(dev)], CorpusReadOptions(), split="dev"),
        ]
        prepare(sources, main, PrepareSettings(), overwrite=True)
    if not _exists(duc):
        texts = _write_references(raw, pairs[-_DUC_TEXTS:])
        sources = find_inputs([str(texts)], CorpusReadOptions(), split="dev")
        prepare(sources, duc, PrepareSettings(), overwrite=True)
    return main, {duc.name: duc}


def _exists(directory: Path) -> bool:
    try:
        PreparedCorpus.open(directory)
    except ArtifactError:
        return False
    return True


def _write_pairs(path: Path, pairs: Sequence[dict[str, str]]) -> Path:
    path.write_text("".join(json.dumps(pair) + "\n" for pair in pairs), encoding="utf-8")
    return path


def _write_references(directory: Path, pairs: Sequence[dict[str, str]]) -> Path:
    """Write texts in the DUC layout with four references each, some of them shorter."""
    for number in range(_REFERENCES):
        shortened = (pair["headline"].split()[: 4 - number % 2] for pair in pairs)
        lines = "".join(" ".join(words) + "\n" for words in shortened)
        (directory / f"task1_ref{number}.txt").write_text(lines, encoding="utf-8")
    texts = directory / "input.txt"
    texts.write_text("".join(pair["text"] + "\n" for pair in pairs), encoding="utf-8")
    return texts


def _make_pair(rng: random.Random) -> dict[str, str]:
    """Return a pair about a town with a new name; the text has one to five sentences."""
    town = "".join(rng.choices(_SYLLABLES, k=3)).capitalize()
    thing, day = rng.choice(_THINGS), rng.choice(_DAYS)
    past, present, why = rng.choice(_EVENTS)
    old = f"{rng.randint(20, 400)}-year-old"
    first = f"The town of {town} {past} its {old} {thing} on {day} {why}, officials said."
    others = rng.choices(_FOLLOWING_SENTENCES, k=rng.choice((0, 1, 1, 2, 4)))
    year = str(rng.randint(1900, 2010))
    text = " ".join([first, *(other.format(town=town, year=year) for other in others)])
    return {"text": text, "headline": f"{town} {present} {old} {thing}"}
