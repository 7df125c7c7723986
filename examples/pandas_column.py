"""Add a column of headlines to a table with pandas.

    python examples/pandas_column.py articles.csv with_headlines.csv

The input has a column `text`. The example needs pandas. For millions of rows use `readagain batch`.
"""

import argparse
from pathlib import Path

import pandas as pd

from readagain import Summarizer


def main() -> None:
    """Read a CSV file, add the columns `headline` and `confidence`, and write a new file."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("source", type=Path, help="CSV file with a column 'text'")
    parser.add_argument("target", type=Path, help="CSV file to write")
    arguments = parser.parse_args()
    frame = pd.read_csv(arguments.source)
    summaries = Summarizer.load("news").summarize(frame["text"].fillna(""), max_words=12)
    frame["headline"] = summaries
    frame["confidence"] = [summary.confidence for summary in summaries]
    frame.to_csv(arguments.target, index=False)
    print(frame["headline"].to_string(index=False))


if __name__ == "__main__":
    main()
