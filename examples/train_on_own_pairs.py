"""From (text, headline) pairs to a model that writes headlines, in about half a minute on a CPU.

    pip install '.[train]'
    python examples/train_on_own_pairs.py work/

The pairs are invented here. For a model of your own, put your pairs into `pairs.jsonl` and choose a
larger preset. On the command line, the steps are `readagain prepare`, `train`, `export` and
`summarize`.
"""

import argparse
import json
import random
from pathlib import Path

import readagain

SYLLABLES = [
    *("ba", "dor", "el", "fen", "gri", "hal", "is", "kel", "lun", "mar"),
    *("nor", "os", "pel", "quin", "ra", "sten", "tor", "ul", "ves", "wick"),
]
# Verb of the text, verb of the headline, circumstance.
EVENTS = [
    ("closed", "closes", "after the flood"),
    ("opened", "opens", "for the summer"),
    ("sold", "sells", "to pay its debts"),
    ("rebuilt", "rebuilds", "with borrowed money"),
]
THINGS = ["harbour", "library", "bridge", "museum", "station", "theatre"]
TEXT = (
    "The town of Zyxwick sold its 212-year-old theatre on Friday to pay its debts, officials said."
)
DAYS = ["Monday", "Tuesday", "Thursday", "Friday"]


def invent_pairs(path: Path, count: int) -> None:
    """Write pairs about towns with rare names, which a model must copy."""
    rng = random.Random(1)
    with path.open("w", encoding="utf-8") as file:
        for _ in range(count):
            town = "".join(rng.choices(SYLLABLES, k=3)).capitalize()
            thing, day = rng.choice(THINGS), rng.choice(DAYS)
            text_verb, headline_verb, circumstance = rng.choice(EVENTS)
            age = f"{rng.randint(20, 400)}-year-old"
            event = f"{text_verb} its {age} {thing} on {day} {circumstance}"
            record = {
                "text": f"The town of {town} {event}, officials said.",
                "headline": f"{town} {headline_verb} {age} {thing}",
            }
            file.write(json.dumps(record) + "\n")


def main() -> None:
    """Prepare a corpus, train a model on it, export the model, and write a headline."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=Path, help="output folder, created if missing")
    folder: Path = parser.parse_args().folder
    folder.mkdir(parents=True, exist_ok=True)

    pairs, corpus, model = folder / "pairs.jsonl", folder / "prepared", folder / "model"
    invent_pairs(pairs, 1500)

    readagain.prepare(pairs, corpus, dev_pairs=100, workers=1, overwrite=True)

    # The same call resumes an interrupted training.
    changes = [
        "vocab_size=200",
        "train.batch_size=32",
        "train.epochs=16",
        "train.validate_every=240",
    ]
    readagain.train("tiny", data=corpus, out=model, changes=changes, device="cpu", threads=1)

    # The export fails if the headlines of the graphs differ from those of the network.
    readagain.export_model(model, check_on=corpus, check_texts=50, threads=1)

    summarizer = readagain.Summarizer.load(model, threads=1)
    print(summarizer.summarize(TEXT).text)


if __name__ == "__main__":
    main()
