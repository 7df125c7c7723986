"""The report beside a prepared corpus: what is in it, for people and for programs."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from readagain.corpus.lexicon import Lexicon
from readagain.corpus.manifest import CorpusManifest
from readagain.corpus.select import SPLITS
from readagain.corpus.shards import PreparedCorpus, Split
from readagain.corpus.statistics import Statistics
from readagain.formats.jsonl import to_json

NUM_SAMPLES = 5
BAR_WIDTH = 40
NUM_BARS = 12
HISTOGRAMS = {
    "words_per_text": "words of a text",
    "sentences_per_text": "sentences of a text",
    "words_per_summary": "words of a headline",
}


def write_report(
    folder: Path, manifest: CorpusManifest, lexicon: Lexicon, statistics: Mapping[str, Statistics]
) -> None:
    """Write report.json and report.md into the folder of a corpus that is otherwise complete."""
    described: dict[str, Any] = {
        split: statistics[split].describe() for split in SPLITS if manifest.splits[split]["pairs"]
    }
    if not manifest.splits["train"]["pairs"]:  # then there is no vocabulary to cover anything
        for facts in described.values():
            facts["coverage"] = {}
    samples = _samples(PreparedCorpus(folder, manifest).split("train"), lexicon)
    content = {
        "inputs": manifest.inputs,
        "splits": manifest.splits,
        "num_words": manifest.num_words,
        "statistics": described,
        "samples": samples,
    }
    text = to_json(content, indent=1)
    (folder / "report.json").write_text(text + "\n", encoding="utf-8")
    page = "\n".join(_page(manifest, described, samples)) + "\n"
    (folder / "report.md").write_text(page, encoding="utf-8", errors="backslashreplace")


def dropped_in_total(manifest: CorpusManifest) -> dict[str, int]:
    """Add up what was dropped over all inputs, by reason."""
    total: dict[str, int] = {}
    for entry in manifest.inputs:
        for reason, count in entry["dropped"].items():
            total[reason] = total.get(reason, 0) + count
    return total


def _samples(split: Split, lexicon: Lexicon) -> list[dict[str, Any]]:
    """Take a few training pairs, evenly spaced, as models see them."""
    samples = []
    for index in range(0, len(split), max(len(split) // NUM_SAMPLES, 1)):
        sentences, summary = split[index]
        samples.append(
            {
                "pair": index,
                "text": [lexicon.spell(sentence) for sentence in sentences],
                "headline": lexicon.spell(summary),
            }
        )
    return samples[:NUM_SAMPLES]


def _page(
    manifest: CorpusManifest, described: Mapping[str, Any], samples: list[dict[str, Any]]
) -> list[str]:
    lines = ["# Prepared corpus", "", "## Inputs", ""]
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
    for split, facts in described.items():
        lines += _split_section(split, facts)
    lines += ["## Samples of the train split, as models see them", ""]
    for sample in samples:
        lines += [f"Pair {sample['pair']:,}:", ""]
        lines += ["```", *sample["text"], f"=> {sample['headline']}", "```", ""]
    return lines[:-1]


def _split_section(split: str, facts: Mapping[str, Any]) -> list[str]:
    lines = [f"## {split}", ""]
    if facts["coverage"]:
        lines += ["| vocabulary | summary words covered | with copying |", "|---|---|---|"]
    for size, row in facts["coverage"].items():
        lines.append(f"| {int(size):,} | {row['generating']:.2%} | {row['with_copying']:.2%} |")
    lines += ["", f"{facts['copyable_share']:.2%} of the summary words stand in their text.", ""]
    for name, title in HISTOGRAMS.items():
        lines += _bars(title, facts[name])
    return lines


def _bars(title: str, histogram: Mapping[str, Any]) -> list[str]:
    """Draw a histogram with about a dozen bars."""
    counts: list[int] = histogram["counts"]
    # Beyond the 99th percentile a few outliers would flatten everything else.
    width = max(-(-(histogram["p99"] + 1) // NUM_BARS), 1)
    groups = [
        (start, sum(counts[start : start + width]))
        for start in range(0, histogram["p99"] + 1, width)
    ]
    tallest = max((count for _, count in groups), default=0) or 1
    lines = [
        f"{title.capitalize()}: mean {histogram['mean']}, median {histogram['p50']}, "
        f"99% at most {histogram['p99']}, longest {histogram['max']}.",
        "",
        "```",
    ]
    for start, count in groups:
        label = f"{start}" if width == 1 else f"{start}-{start + width - 1}"
        lines.append(f"{label:>9} {'█' * round(BAR_WIDTH * count / tallest)} {count:,}")
    return [*lines, "```", ""]
