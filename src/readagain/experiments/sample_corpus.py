"""Small synthetic corpora. With them, all experiments run in minutes, without licensed data."""

import json
import random
from collections.abc import Sequence
from pathlib import Path

from readagain.corpus.prepare import prepare
from readagain.corpus.readers.find import CorpusReadOptions, find_inputs
from readagain.corpus.settings import PrepareSettings
from readagain.corpus.shards import PreparedCorpus
from readagain.errors import ArtifactError

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
    if not _is_corpus(main):
        train = _write_pairs(raw / "train.jsonl", pairs[:_NUM_TRAIN_PAIRS])
        dev = _write_pairs(raw / "dev.jsonl", pairs[_NUM_TRAIN_PAIRS:-_NUM_DUC_TEXTS])
        inputs = [
            *find_inputs([str(train)], CorpusReadOptions()),
            *find_inputs([str(dev)], CorpusReadOptions(), split="dev"),
        ]
        prepare(inputs, main, PrepareSettings(), overwrite=True)
    if not _is_corpus(duc):
        texts = _write_duc(raw, pairs[-_NUM_DUC_TEXTS:])
        inputs = find_inputs([str(texts)], CorpusReadOptions(), split="dev")
        prepare(inputs, duc, PrepareSettings(), overwrite=True)
    return main, {duc.name: duc}


def _is_corpus(directory: Path) -> bool:
    try:
        PreparedCorpus.open(directory)
    except ArtifactError:
        return False
    return True


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
