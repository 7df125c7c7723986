"""Add style tokens to (text, headline) pairs: the first step of training a model with styles.

    python examples/style_pairs.py pairs.jsonl work/
    readagain prepare work/train.article.txt --tokenized --dev-pairs 500 --out data/styled
    readagain train news --data data/styled --out runs/styled
    readagain export runs/styled
    readagain summarize --model runs/styled --style faithful article.txt

A headline is faithful if it takes its words from the text, in the same order. The style of a pair
says how faithful its headline is. So the model learns from all pairs, and later writes in the style
that `--style` selects. The style token is the last word of the source, as with `--style`.
"""

import argparse
import json
from pathlib import Path

from readagain.rouge.stemmer import stem
from readagain.text.document import headline_tokens, sentence_norms
from readagain.text.normalization import normalize_tokens

NUM_SENTENCES = 2
MAX_SOURCE_WORDS = 72  # limit of the preset `news`, including the style token
# Minimum share of the headline's words that are in the text in the same order.
STYLES = {"faithful": 0.85, "close": 0.65, "loose": 0.45, "free": 0.0}


def longest_common_subsequence(first: list[str], second: list[str]) -> int:
    """Return the length of the longest common subsequence (LCS)."""
    # lengths[j] is the LCS of the words of `first` so far and the first j words of `second`.
    lengths = [0] * (len(second) + 1)
    for word in first:
        previous = 0  # lengths[j] before this word
        for j, other in enumerate(second):
            current = lengths[j + 1]
            lengths[j + 1] = previous + 1 if word == other else max(current, lengths[j])
            previous = current
    return lengths[-1]


def find_style(source: list[str], headline: list[str]) -> str:
    """Return the style of a headline by the share of its words that it takes from the source."""
    words = [stem(word) for word in headline if word[0].isalnum() or word[0] == "#"]
    num_shared = longest_common_subsequence(words, [stem(word) for word in source])
    share = num_shared / max(1, len(words))
    return next(style for style, minimum in STYLES.items() if share >= minimum)


def main() -> None:
    """Write the pairs of a JSONL file with style tokens, tokenized as in Gigaword."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("pairs", type=Path, help="JSON lines with 'text' and 'headline'")
    parser.add_argument("out", type=Path, help="folder for train.article.txt and train.title.txt")
    arguments = parser.parse_args()
    arguments.out.mkdir(parents=True, exist_ok=True)
    counts = dict.fromkeys(STYLES, 0)
    with (
        arguments.pairs.open(encoding="utf-8") as lines,
        (arguments.out / "train.article.txt").open("w", encoding="utf-8") as articles,
        (arguments.out / "train.title.txt").open("w", encoding="utf-8") as titles,
    ):
        for line in lines:
            pair = json.loads(line)
            sentences = sentence_norms(pair["text"], max_sentences=NUM_SENTENCES)
            source = [word for sentence in sentences for word in sentence][: MAX_SOURCE_WORDS - 1]
            headline = normalize_tokens(headline_tokens(pair["headline"]))
            if source and headline:
                style = find_style(source, headline)
                counts[style] += 1
                articles.write(" ".join([*source, f"<{style}>"]) + "\n")
                titles.write(" ".join(headline) + "\n")
    for style, count in counts.items():
        print(f"{style:<10}{count:>10,}")


if __name__ == "__main__":
    main()
