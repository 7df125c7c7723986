"""An invented corpus, so that the whole chain can be tried anywhere in a minute or two."""

import json
import random
from pathlib import Path

from readagain.corpus.prepare import prepare
from readagain.corpus.readers.find import ReadOptions, find_sources
from readagain.corpus.settings import PrepareSettings
from readagain.corpus.shards import PreparedCorpus
from readagain.errors import ArtifactError

TRAIN_PAIRS, DEV_PAIRS, DUC_TEXTS = 240, 24, 8
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
_SECOND = (
    "The mayor of {town} called it a hard decision.",
    "Visitors from {town} had asked for it since {year}.",
    "It was built in {year} and cost the town a fortune.",
)


def invented_corpora(folder: Path) -> tuple[Path, dict[str, Path]]:
    """Return a corpus to train on, and dev sets by name, all made up here once."""
    main, duc = folder / "invented", folder / "invented-duc"
    draw = random.Random(1)
    folder.mkdir(parents=True, exist_ok=True)
    train = [_pair(draw) for _ in range(TRAIN_PAIRS)]
    dev = [_pair(draw) for _ in range(DEV_PAIRS)]
    several = [_pair(draw) for _ in range(DUC_TEXTS)]
    if not _is_there(main):
        files = {"train": _lines(folder / "train.jsonl", train), "dev": folder / "dev.jsonl"}
        _lines(files["dev"], dev)
        sources = find_sources([str(files["train"])], ReadOptions())
        held_out = find_sources([str(files["dev"])], ReadOptions(), split="dev")
        prepare([*sources, *held_out], main, PrepareSettings(), overwrite=True)
    if not _is_there(duc):
        raw = folder / "duc"
        raw.mkdir(exist_ok=True)
        texts = [str(pair["text"]) for pair in several]
        (raw / "input.txt").write_text("\n".join(texts) + "\n", encoding="utf-8")
        for number in range(_REFERENCES):
            lines = [" ".join(str(pair["headline"]).split()[: 4 - number % 2]) for pair in several]
            path = raw / f"task1_ref{number}.txt"
            path.write_text("\n".join(lines) + "\n", encoding="utf-8")
        sources = find_sources([str(raw / "input.txt")], ReadOptions(), split="dev")
        prepare(sources, duc, PrepareSettings(), overwrite=True)
    return main, {"invented-duc": duc}


def _is_there(folder: Path) -> bool:
    try:
        PreparedCorpus.open(folder)
    except ArtifactError:
        return False
    return True


def _lines(path: Path, pairs: list[dict[str, str]]) -> Path:
    path.write_text("".join(json.dumps(pair) + "\n" for pair in pairs), encoding="utf-8")
    return path


def _pair(draw: random.Random) -> dict[str, str]:
    """Invent a text of one to five sentences about a town whose name no vocabulary holds."""
    town = "".join(draw.choices(_SYLLABLES, k=3)).capitalize()
    thing, day = draw.choice(_THINGS), draw.choice(_DAYS)
    past, present, why = draw.choice(_EVENTS)
    old = f"{draw.randint(20, 400)}-year-old"
    first = f"The town of {town} {past} its {old} {thing} on {day} {why}, officials said."
    others = draw.choices(_SECOND, k=draw.choice((0, 1, 1, 2, 4)))
    year = str(draw.randint(1900, 2010))
    text = " ".join([first, *(other.format(town=town, year=year) for other in others)])
    return {"text": text, "headline": f"{town} {present} {old} {thing}"}
