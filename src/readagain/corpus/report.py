"""Report of a prepared corpus, as Markdown and JSON."""

from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from readagain.corpus.filters import FILTERS
from readagain.corpus.inputs import SPLITS
from readagain.corpus.lexicon import Lexicon
from readagain.corpus.manifest import CorpusManifest
from readagain.corpus.shards import CorpusSplit, PreparedCorpus
from readagain.corpus.statistics import Statistics
from readagain.formats.jsonl import to_json
from readagain.text.language import LANGUAGES

REPORT_FILE = "report.json"
SKIPPED_FILE = "skipped.jsonl"
"""File that lists the skipped invalid records."""
NUM_SAMPLES = 5
"""Number of training pairs in the report."""
# Titles of the lengths in report.md.
_LENGTHS = {
    "words_per_text": "Words of a text",
    "sentences_per_text": "Sentences of a text",
    "words_per_summary": "Words of a headline",
}


def write_corpus_report(
    folder: Path, manifest: CorpusManifest, lexicon: Lexicon, statistics: Mapping[str, Statistics]
) -> None:
    """Write report.json and report.md into the folder of a corpus."""
    split_statistics: dict[str, Any] = {
        split: statistics[split].describe() for split in SPLITS if manifest.splits[split]["pairs"]
    }
    if not manifest.splits["train"]["pairs"]:  # vocabularies have only words of the train split
        for values in split_statistics.values():
            values["coverage"] = {}
    samples = _choose_samples(PreparedCorpus(folder, manifest).split("train"), lexicon)
    content = {
        "language": manifest.language,
        "inputs": manifest.inputs,
        "splits": manifest.splits,
        "num_words": manifest.num_words,
        "statistics": split_statistics,
        "samples": samples,
    }
    text = to_json(content, indent=1)
    (folder / REPORT_FILE).write_text(text + "\n", encoding="utf-8")
    page = "\n".join(_markdown_lines(manifest, split_statistics, samples)) + "\n"
    (folder / "report.md").write_text(page, encoding="utf-8", errors="backslashreplace")


def describe_dropped(manifest: CorpusManifest) -> list[tuple[str, int, str]]:
    """Count the dropped records of all inputs by reason.

    Returns:
        For each reason its name, the number of records and a description; the most frequent first.
    """
    descriptions = {
        "empty": "text or headline without a word",
        "bad": f"invalid records, listed in {SKIPPED_FILE}",
        "text-in-dev": "same text in the dev split, ignoring digits",
        "text-in-test": "same text in the test split, ignoring digits",
        "not-sampled": "not in the random sample of its split",
        **{name: filter.description for name, filter in FILTERS.items()},
    }
    counts: Counter[str] = Counter()
    for entry in manifest.inputs:
        counts.update(entry["dropped"])
    return [(reason, count, descriptions[reason]) for reason, count in counts.most_common()]


def _choose_samples(split: CorpusSplit, lexicon: Lexicon) -> list[dict[str, Any]]:
    """Return a few evenly spaced pairs as normalized words."""
    samples = []
    for index in range(0, len(split), max(len(split) // NUM_SAMPLES, 1)):
        sentences, summary = split[index]
        samples.append(
            {
                "pair": index,
                "text": [lexicon.decode(sentence) for sentence in sentences],
                "headline": lexicon.decode(summary),
            }
        )
    return samples[:NUM_SAMPLES]


def _markdown_lines(
    manifest: CorpusManifest, split_statistics: Mapping[str, Any], samples: list[dict[str, Any]]
) -> list[str]:
    """Return the lines of report.md."""
    language = LANGUAGES[manifest.language].name
    lines = ["# Prepared corpus", "", f"Language: {language} ({manifest.language}).", ""]
    lines += ["## Inputs", ""]
    lines += ["| input | format | split | records | kept | dropped |", "|---|---|---|---|---|---|"]
    for entry in manifest.inputs:
        dropped = ", ".join(f"{name} {count:,}" for name, count in entry["dropped"].items())
        lines.append(
            f"| {entry['paths'][0]} | {entry['format']} | {entry['split']} "
            f"| {entry['records']:,} | {entry['kept']:,} | {dropped or '–'} |"
        )
    lines += ["", "## Splits", "", "| split | pairs | words | shards |", "|---|---|---|---|"]
    for split, counts in manifest.splits.items():
        lines.append(
            f"| {split} | {counts['pairs']:,} | {counts['words']:,} | {counts['shards']} |"
        )
    lines += ["", f"Distinct words: {manifest.num_words:,}.", ""]
    for split, statistics in split_statistics.items():
        lines += _split_section(split, statistics)
    lines += ["## Samples of the train split, normalized", ""]
    for sample in samples:
        lines += [f"Pair {sample['pair']:,}:", ""]
        lines += ["```", *sample["text"], f"=> {sample['headline']}", "```", ""]
    return lines[:-1]


def _split_section(split: str, statistics: Mapping[str, Any]) -> list[str]:
    """Return the lines of report.md about one split."""
    lines = [f"## {split}", ""]
    if statistics["coverage"]:
        lines += ["| vocabulary | summary words covered | with copying |", "|---|---|---|"]
    for size, row in statistics["coverage"].items():
        lines.append(f"| {int(size):,} | {row['generating']:.2%} | {row['with_copying']:.2%} |")
    lines += ["", f"{statistics['copyable_share']:.2%} of the summary words are in their text.", ""]
    for name, title in _LENGTHS.items():
        lengths = statistics[name]
        lines += [
            f"{title}: mean {lengths['mean']}, median {lengths['p50']}, "
            f"99% at most {lengths['p99']}, longest {lengths['max']}.",
            "",
        ]
    return lines
