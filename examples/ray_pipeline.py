"""Headlines as a step of a Ray Data pipeline.

    pip install '.[ray,data]'
    python examples/ray_pipeline.py articles.jsonl headlines/

Each line of the input is a JSON object with the key `text`. Without a cluster, Ray starts on this
machine. The command `readagain batch --engine ray` also resumes after an interruption and reports
invalid rows.
"""

import argparse
from pathlib import Path

import ray

from readagain import Summarizer


class HeadlineWriter:
    """Ray actor that loads the model once and then summarizes batches of rows."""

    def __init__(self) -> None:
        self.summarizer = Summarizer.load("news", threads=1)

    def __call__(self, batch: dict[str, list[str]]) -> dict[str, list[str]]:
        """Return the rows with a column `headline`."""
        texts = [str(text) for text in batch["text"]]
        summaries = self.summarizer.summarize(texts, max_words=12)
        return {**batch, "headline": [summary.text for summary in summaries]}


def main() -> None:
    """Read rows, summarize them and write them with headlines."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("source", type=Path, help="JSONL file or folder")
    parser.add_argument("target", type=Path, help="folder for the JSONL files with headlines")
    parser.add_argument("--workers", type=int, default=2, help="number of actors")
    arguments = parser.parse_args()
    rows = ray.data.read_json(str(arguments.source.resolve()), lines=True)
    rows = rows.map_batches(
        HeadlineWriter,
        batch_size=64,
        num_cpus=1,
        compute=ray.data.ActorPoolStrategy(size=arguments.workers),
    )
    rows.write_json(str(arguments.target.resolve()))
    print(f"{arguments.target}: {sum(1 for _ in arguments.target.iterdir())} files")


if __name__ == "__main__":
    main()
