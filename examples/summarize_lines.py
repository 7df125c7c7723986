"""Write a headline for each line of a file, and mark the words that were copied from the text.

    python examples/summarize_lines.py                              # two invented texts
    python examples/summarize_lines.py articles.txt                 # a file with one text per line
    python examples/summarize_lines.py articles.txt --model runs/mine

The default model is the bundled `news`. The base install is enough.
"""

import argparse
from pathlib import Path

from readagain import Summarizer

TEXTS = """\
The council of Ostwick said on Monday that the old harbour bridge will close for 18 months.
A storm named Zyx left 2,400 homes without power on Friday, the grid operator said.
"""


def main() -> None:
    """Print a headline for each line, and below it the same words with copied ones in brackets."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("file", nargs="?", type=Path, help="file with one text per line")
    parser.add_argument("--model", default="news", help="a bundled model or a model folder")
    options = parser.parse_args()

    lines = (options.file.read_text(encoding="utf-8") if options.file else TEXTS).splitlines()
    summarizer = Summarizer.load(options.model, threads=1)
    # `summarize` returns a list for a list, and an iterator for an iterator, such as a stream.
    for line, summary in zip(lines, summarizer.summarize(lines, max_words=12), strict=True):
        print(summary.text)
        marked_words = [
            f"[{line[word.source.start : word.source.end]}]"
            if word.origin == "copied"
            else word.norm
            for word in summary.words
        ]
        print("   ", *marked_words)


if __name__ == "__main__":
    main()
