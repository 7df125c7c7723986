"""Speed of the tokenizer compared with NLTK, and the share of equal sentences.

    python benchmarks/text.py                    # on invented newswire
    python benchmarks/text.py FILE [FILE ...]    # on your texts: one per line, or JSONL

The tokenizers are timed in turns on a thousand sentences each.
"""

import argparse
import json
import lzma
import os
import platform
import random
import time
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from itertools import islice
from pathlib import Path

from readagain.text.detokenization import write_copied
from readagain.text.document import headline_tokens, read_document, sentence_norms
from readagain.text.sentences import sentence_spans
from readagain.text.tokenizer import token_spans, tokenize

SUBJECTS = """
The minister|Police|U.S. officials|Mr. Smith|Shares in Acme Corp.|A spokesman for the U.N.
Analysts at AT&T|The state's governor|J. R. R. Tolkien's heirs|The company's workers|They
Prices|Dr. Johnson's readers|The São Paulo court|Investors|The 35-year-old driver|She
Some 1,500 protesters|Café owners|The country's well-known orchestra|Nobody|EU ministers
"""
VERBS = """
said on Monday that|didn't say whether|won't agree that|told reporters that|denied that
couldn't confirm that|warned again that|aren't sure that|expect that|argued -- in vain -- that
"""
CLAUSES = """
prices had risen 3.5% to $1,234.50|the firm would cut 2,000 jobs (a third of its staff)
it cannot pay the £4.5m fine|the '90s deal was "a mistake"|they'll meet at 5:30 p.m. there
the so-called "peace plan" was dead|No. 1 seed and No. 4 seed would play; others won't
readers should visit http://www.example.com/news?id=7 or write to press@example.org
it was over ... for now|the U.S. and the U.K. would sign|he'd seen the players' union's offer
the index [of 30 stocks] fell 12.5 points|we're gonna win|the war was lost|'tis the season
the résumé was naïve|sales -- up 4% in Q1 -- would slow|oil, gas & coal cost more
they've got 50% more @ home|the mid-term vote is #1 on its list|its owner's cat didn't eat
growth in 2010-12 was 'too slow'|the river rose; roads closed: nobody drove|it's 'over'
the “cold war” – or what’s left of it – was ‘over’|roads would close — and soon
"""
OPENERS = """
However, |On Jan. 5, |In Washington, D.C., |LONDON (Reuters) - |Meanwhile: |At 3:15 a.m., |
According to Inc. magazine, |"Yes," he said, and |Well... |(Corrected) |||||
"""
ENDINGS = """
.|.|.|.|.|.|?|!|...|.)|, he said.|," he said.|."|?"|
"""


def _split_choices(table: str) -> list[str]:
    return table.strip("\n").replace("\n", "|").split("|")


def invented_sentences(count: int, seed: int = 0) -> Iterator[str]:
    """Yield newswire-like sentences with quotes, abbreviations and other hard cases."""
    rng = random.Random(seed)
    openers, subjects, verbs, clauses, endings = map(
        _split_choices, (OPENERS, SUBJECTS, VERBS, CLAUSES, ENDINGS)
    )
    for _ in range(count):
        ending = rng.choice(endings)
        quote = '"' if '"' in ending else ""
        bracket = "(" if ")" in ending else ""
        clause = " and ".join(rng.sample(clauses, rng.choice((1, 1, 2))))
        yield (
            f"{rng.choice(openers)}{bracket}{quote}"
            f"{rng.choice(subjects)} {rng.choice(verbs)} {clause}{ending}"
        )


def invented_pairs(count: int, seed: int = 0) -> Iterator[tuple[str, str]]:
    """Yield `count` texts of one to three sentences, each with a headline."""
    rng = random.Random(seed)
    sentences = invented_sentences(3 * count, seed)
    for _ in range(count):
        text = " ".join(islice(sentences, rng.choice((1, 1, 2, 3))))
        headline = f"{rng.choice(_split_choices(SUBJECTS))}: {rng.choice(_split_choices(CLAUSES))}"
        yield text, headline


def read_pairs(path: Path) -> Iterator[tuple[str, str]]:
    """Yield the text and headline of each JSON line; a line of a text file has no headline."""
    with lzma.open(path, "rt") if path.suffix == ".xz" else path.open(encoding="utf-8") as lines:
        for line in lines:
            if ".jsonl" in path.name:
                record = json.loads(line)
                yield record["text"], record["headline"]
            else:
                yield line.rstrip("\n"), ""


def time_call(function: Callable[[], object]) -> float:
    """Return the processor time of a function call in seconds."""
    start = time.process_time()
    function()
    return time.process_time() - start


def compare_with_nltk(sentences: Sequence[str], sentences_per_turn: int = 1_000) -> None:
    """Print the share of equal sentences and the ratio of speeds."""
    from nltk.tokenize import TreebankWordTokenizer

    nltk_tokenize = TreebankWordTokenizer().tokenize
    nltk_s = words_s = spans_s = 0.0
    for start in range(0, len(sentences), sentences_per_turn):
        chunk = sentences[start : start + sentences_per_turn]
        nltk_s += time_call(lambda chunk=chunk: list(map(nltk_tokenize, chunk)))
        words_s += time_call(lambda chunk=chunk: list(map(tokenize, chunk)))
        spans_s += time_call(lambda chunk=chunk: list(map(token_spans, chunk)))
    total = len(sentences)
    num_equal = sum(tokenize(sentence) == nltk_tokenize(sentence) for sentence in sentences)
    print(f"equal to NLTK's Treebank  {num_equal / total:9.3%} of {total:,} sentences")
    print(f"NLTK's Treebank           {total / nltk_s:9,.0f} sentences/s   1.0")
    print(
        f"our words                 {total / words_s:9,.0f} sentences/s "
        f"{nltk_s / words_s:5.1f} times"
    )
    print(
        f"our words with spans     {total / spans_s:9,.0f} sentences/s "
        f"{nltk_s / spans_s:5.1f} times"
    )


def measure_documents(pairs: Sequence[tuple[str, str]]) -> None:
    """Print the speed of the sentence splitter, of corpus preparation, and of documents."""
    texts = [text for text, _ in pairs]
    num_sentences = sum(len(sentence_spans(text)) for text in texts)
    split_s = time_call(lambda: [sentence_spans(text) for text in texts])
    print(f"sentence ends             {num_sentences / split_s:9,.0f} sentences/s")
    num_words = sum(
        len(sentence)
        for text, headline in pairs
        for sentence in sentence_norms(f"{text} {headline}")
    )
    pairs_s = time_call(
        lambda: [(sentence_norms(text), headline_tokens(headline)) for text, headline in pairs]
    )
    size = f"{num_words / len(pairs):.0f} words each"
    print(f"(text, headline) pairs    {len(pairs) / pairs_s:9,.0f} pairs/s, {size}")
    read_s = time_call(lambda: [read_document(text) for text in texts])
    restore_s = time_call(lambda: [write_copied(read_document(text)) for text in texts])
    print(f"texts with spans         {len(texts) / read_s:9,.0f} texts/s")
    print(f"the same and restored     {len(texts) / restore_s:9,.0f} texts/s")


def measure_growth() -> None:
    """Print the time ratio for a text four times as long: 4 is linear, 16 is quadratic."""
    ratios = {}
    for unit in ("a", "a ", ".", ". ", "'", "'s ", "n't", '"', "-", "\n", "U.S. ", "e\u0301", "[1"):
        short_s, long_s = (
            min(time_call(partial(sentence_norms, unit * (size // len(unit)))) for _ in range(3))
            for size in (50_000, 200_000)
        )
        ratios[unit] = long_s / short_s
    worst = max(ratios, key=ratios.__getitem__)
    print(f"four times the text takes {ratios[worst]:9.1f} times as long, at worst ({worst!r})")


def main() -> None:
    """Measure on the files named on the command line, or on invented newswire."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("files", nargs="*", type=Path, help="text, one per line, or .jsonl(.xz)")
    parser.add_argument("--limit", type=int, default=20_000, help="maximum pairs of each file")
    arguments = parser.parse_args()
    print(f"{platform.machine()}, {os.cpu_count()} cores, Python {platform.python_version()}")
    pairs = [
        pair for path in arguments.files for pair in islice(read_pairs(path), arguments.limit)
    ] or list(invented_pairs(arguments.limit))
    texts = [text for pair in pairs for text in pair]
    compare_with_nltk([text[start:end] for text in texts for start, end in sentence_spans(text)])
    measure_documents(pairs)
    measure_growth()


if __name__ == "__main__":
    main()
