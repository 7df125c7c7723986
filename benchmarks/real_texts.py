"""Milliseconds per text of a bundled model on real texts, and of T5-small with the same lengths.

    python benchmarks/real_texts.py texts.jsonl --threads 1 --clock processor

The model summarizes with all its settings, warnings and confidence included. T5-small has random
weights, the same beam, and 1.3 tokens for each word that our model reads or writes. Both are timed
in turns, and the best time counts. T5-small is installed under build/ (`peers/environments.py`).
"""

import argparse
import json
import lzma
from pathlib import Path

from peers.environments import PEERS
from peers.timing import CLOCKS

from readagain import Summarizer
from readagain.engine.source import SourceReader
from readagain.model_dir import ModelDir
from readagain.storage.bundled import find_model

BATCH_SIZES = (1, 16, 32)
TOKENS_PER_WORD = 1.3
TURNS = 2


def read_texts(path: Path, count: int) -> list[str]:
    """Return values of the field `text` of a .jsonl or .jsonl.xz file, at equal distances."""
    opened = lzma.open if path.suffix == ".xz" else open
    with opened(path, "rt", encoding="utf-8") as file:
        texts = [json.loads(line)["text"] for line in file]
    return texts[:: max(1, len(texts) // count)][:count]


def main() -> None:
    """Print a table."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("texts", type=Path, help="JSON lines with the field 'text'")
    parser.add_argument("--model", default="news")
    parser.add_argument("--count", type=int, default=200, help="number of texts")
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--clock", choices=CLOCKS, default="processor")
    arguments = parser.parse_args()
    clock = CLOCKS[arguments.clock]
    texts = read_texts(arguments.texts, arguments.count)
    summarizer = Summarizer.load(arguments.model, threads=arguments.threads)
    summaries = summarizer.summarize(texts)  # warms up
    model_dir = ModelDir.open(find_model(arguments.model))
    reader = SourceReader(model_dir.run, model_dir.source_vocab, model_dir.vocab)
    num_read = sum(len(reader.read(text, tokenized=False).read_words) for text in texts) / len(
        texts
    )
    num_written = sum(len(summary.words) for summary in summaries) / len(texts)
    settings = {
        "source-tokens": round(TOKENS_PER_WORD * num_read),
        "summary-tokens": round(TOKENS_PER_WORD * num_written),
        "beam": summarizer.run.decode.beam_size,
        "threads": arguments.threads,
        "repeat": 2,
        "clock": arguments.clock,
    }
    print(f"{len(texts)} texts of {num_read:.0f} words, headlines of {num_written:.1f}; {settings}")
    ours: dict[int, list[float]] = {size: [] for size in BATCH_SIZES}
    theirs: dict[int, list[float]] = {size: [] for size in BATCH_SIZES}
    for _ in range(TURNS):
        for size in BATCH_SIZES:
            start = clock()
            for first in range(0, len(texts), size):
                summarizer.summarize(texts[first : first + size])
            ours[size].append((clock() - start) / len(texts))
        for size, seconds in PEERS["T5-small, transformers"].time(settings, BATCH_SIZES).items():
            theirs[size].append(seconds)
    print("| ms per text | " + " | ".join(f"{size} together" for size in BATCH_SIZES) + " |")
    print("|---" * (len(BATCH_SIZES) + 1) + "|")
    for name, times in ((arguments.model, ours), ("T5-small", theirs)):
        cells = (f"{1e3 * min(times[size]):.1f}" for size in BATCH_SIZES)
        print(f"| {name} | " + " | ".join(cells) + " |")
    ratios = (f"{min(theirs[size]) / min(ours[size]):.1f}" for size in BATCH_SIZES)
    print("| times as fast | " + " | ".join(ratios) + " |")


if __name__ == "__main__":
    main()
