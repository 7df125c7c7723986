"""Measure `readagain prepare`: pairs per second, peak memory, and the ratio to a simple loop.

    python benchmarks/prepare.py                      # 200,000 invented pairs, about half a minute
    python benchmarks/prepare.py --pairs 4000000      # the size of the paper's corpus
    python benchmarks/prepare.py --input pairs.jsonl  # a corpus of your own

The simple loop uses one process, `json.loads`, NLTK's Treebank tokenizer, a `Counter` for the
vocabulary, and lists of ids in memory.
"""

import argparse
import json
import os
import platform
import resource
import shutil
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter
from itertools import islice
from pathlib import Path

import numpy as np
import psutil
from nltk.tokenize import TreebankWordTokenizer

NUM_WORDS = 1_500_000
ZIPF_EXPONENT = 1.05
WORDS_PER_TEXT = 40
WORDS_PER_HEADLINE = 10
SYLLABLES = "ba ce di fo gu ha ke li mo nu pa re si to vu wa xe yi zo bra cle dri flo gru sta"
# Forms of words in news: {0} is a capitalized word, {1} a number. Each is used for one of 41 words.
FORMS = ("{0},", "{0}'s", "{0}-made", '"{0}"', "(${1}.5m)", "U.S.", "{1}", "{0}", "{0}", "{0}")
FORM_INTERVAL = 41
SAMPLE_INTERVAL_S = 0.1
PAIRS_PER_BATCH = 10_000
SIMPLE_LOOP_PAIRS = 10_000


def invented_words(random: np.random.Generator) -> np.ndarray:
    """Return invented words like those of news: names, numbers, hyphens, contractions, quotes."""
    syllables = random.choice(SYLLABLES.split(), size=(NUM_WORDS, 5))
    lengths = random.integers(1, 6, size=NUM_WORDS)
    words = ["".join(row[:length]) for row, length in zip(syllables, lengths, strict=True)]
    for start, form in enumerate(FORMS):
        for index in range(start, NUM_WORDS, FORM_INTERVAL):
            words[index] = form.format(words[index].title(), index)
    return np.array(words, dtype=object)


def write_corpus(path: Path, num_pairs: int) -> None:
    """Write invented pairs; word frequencies follow Zipf's law, headlines copy from their texts."""
    random = np.random.default_rng(1)
    words = invented_words(random)
    weights = 1 / np.arange(1, NUM_WORDS + 1) ** ZIPF_EXPONENT
    cumulative = np.cumsum(weights / weights.sum())
    with path.open("w", encoding="utf-8") as file:
        for start in range(0, num_pairs, PAIRS_PER_BATCH):
            size = (min(PAIRS_PER_BATCH, num_pairs - start), WORDS_PER_TEXT)
            ranks = np.minimum(np.searchsorted(cumulative, random.random(size)), NUM_WORDS - 1)
            # Each text has two sentences; the headline is the end of the first sentence.
            ends = random.integers(12, WORDS_PER_TEXT - 12, size=size[0]).tolist()
            for text_words, end in zip(words[ranks].tolist(), ends, strict=True):
                first, second = " ".join(text_words[:end]), " ".join(text_words[end:])
                text = f"{first.capitalize()}. {second.capitalize()}."
                headline = " ".join(text_words[end - WORDS_PER_HEADLINE : end]).title()
                file.write(json.dumps({"text": text, "headline": headline}) + "\n")


def run_simple_loop(path: Path, num_pairs: int) -> float:
    """Prepare pairs with a simple loop; return the pairs per second of processor time."""
    tokenizer = TreebankWordTokenizer()
    counts: Counter[str] = Counter()
    tokenized_pairs = []
    start = time.process_time()
    with path.open(encoding="utf-8") as lines:
        for line in islice(lines, num_pairs):
            record = json.loads(line)
            text = [word.lower() for word in tokenizer.tokenize(record["text"])]
            headline = [word.lower() for word in tokenizer.tokenize(record["headline"])]
            counts.update(text)
            counts.update(headline)
            tokenized_pairs.append((text, headline))
    ids = {word: id for id, (word, _) in enumerate(counts.most_common())}
    pairs = [
        ([ids[word] for word in text], [ids[word] for word in headline])
        for text, headline in tokenized_pairs
    ]
    return len(pairs) / (time.process_time() - start)


class PeakMemory(threading.Thread):
    """Sampler of the resident memory of a process and its children.

    Pages that processes share count once for each process.
    """

    def __init__(self, process: psutil.Process) -> None:
        super().__init__(daemon=True)
        self.peak_bytes = 0
        self._process = process

    def run(self) -> None:
        """Sample until the process has ended."""
        while self._process.is_running():
            try:
                tree = [self._process, *self._process.children(recursive=True)]
                total = sum(process.memory_info().rss for process in tree)
            except psutil.Error:
                continue  # a child has ended since it was listed
            self.peak_bytes = max(self.peak_bytes, total)
            time.sleep(SAMPLE_INTERVAL_S)


def prepare(path: Path, out: Path, num_workers: int) -> tuple[float, float, int]:
    """Run the command; return its seconds, its seconds of processor time and its peak memory."""
    shutil.rmtree(out, ignore_errors=True)
    command = [sys.executable, "-m", "readagain", "prepare", str(path), "--out", str(out)]
    start, start_cpu = time.perf_counter(), children_cpu_s()
    process = subprocess.Popen([*command, "--workers", str(num_workers)])
    watch = PeakMemory(psutil.Process(process.pid))
    watch.start()
    if process.wait() != 0:
        sys.exit("prepare failed")
    return time.perf_counter() - start, children_cpu_s() - start_cpu, watch.peak_bytes


def children_cpu_s() -> float:
    """Return the processor time of all ended child processes."""
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime


def main() -> None:
    """Generate a corpus, prepare it, and print the measurements."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--pairs", type=int, default=200_000)
    parser.add_argument("--input", type=Path, help="JSONL with 'text' and 'headline'")
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--folder", type=Path, help="parent of the temporary folder")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory(dir=arguments.folder) as folder:
        path = arguments.input or Path(folder) / "invented.jsonl"
        if arguments.input is None:
            write_corpus(path, arguments.pairs)
        out = Path(folder) / "prepared"
        # The load of the machine varies, so measure the simple loop before and after.
        rate_before = run_simple_loop(path, SIMPLE_LOOP_PAIRS)
        seconds, cpu_s, peak_bytes = prepare(path, out, arguments.workers)
        rate_after = run_simple_loop(path, SIMPLE_LOOP_PAIRS)
        simple_rate = (rate_before + rate_after) / 2
        manifest = json.loads((out / "manifest.json").read_text(encoding="utf-8"))
        num_pairs = sum(entry["records"] for entry in manifest["inputs"])
        size_mb = path.stat().st_size / 1e6
    load = os.getloadavg()[0]
    machine = f"{platform.machine()}, {os.cpu_count()} processors, load {load:.1f}"
    print(f"\nmachine        {machine}, Python {platform.python_version()}")
    print(f"corpus         {num_pairs:,} pairs, {size_mb:,.0f} MB, ", end="")
    print(f"{manifest['num_words']:,} distinct words")
    print(f"prepare        {num_pairs / seconds:,.0f} pairs/s with {arguments.workers} workers")
    # Processor time can be compared even on a busy machine.
    our_rate = num_pairs / cpu_s
    print(
        f"a processor    {our_rate:,.0f} pairs/s; the simple loop {simple_rate:,.0f}; "
        f"ratio {our_rate / simple_rate:.1f}"
    )
    print(f"peak memory    {peak_bytes / 2**30:.2f} GiB over all processes")


if __name__ == "__main__":
    main()
