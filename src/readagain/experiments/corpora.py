"""Training corpora and evaluation data sets of a reproduction."""

import shutil
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from readagain.corpus.inputs import SPLITS
from readagain.corpus.manifest import CorpusManifest, fingerprint, list_files
from readagain.corpus.readers.find import CorpusReadOptions
from readagain.corpus.shards import LEXICON_FILE, CorpusShard, PreparedCorpus, texts_file
from readagain.errors import ArgumentError, ArtifactError, DataError
from readagain.evaluation.dataset import DataSet, read_dataset
from readagain.experiments.sample_corpus import write_sample_corpora
from readagain.experiments.settings import ReproduceOptions, common_vocab_size
from readagain.text.truecasing import CASES_FILE
from readagain.text.vocab import Vocab

DUC = "duc2003"
"""Protocol of data sets with several references per text."""


@dataclass(frozen=True)
class EvaluationSet:
    """Data set with its name in the tables and its protocol."""

    name: str
    data: DataSet
    protocol: str


class Corpora:
    """Corpora and data sets of all experiments, opened once.

    The dev split of the corpus is the first data set. Without a corpus, small synthetic ones are
    written.
    """

    def __init__(self, options: ReproduceOptions) -> None:
        data, tests = options.data, options.tests
        if data is None:
            if options.scale != "small":
                raise ArgumentError(
                    "{data}: no corpus to train on; give a prepared corpus, or use {scale} small "
                    "for an invented one"
                )
            data, invented = write_sample_corpora(options.work / "corpora")
            tests = {**invented, **tests}
        self.main = PreparedCorpus.open(data)
        self.name = data.resolve().name
        if self.name in tests:
            raise ArgumentError(
                "{test} {0}: the corpus of {data} has that name; choose another", self.name
            )
        for split in ("train", "dev"):
            if not self.main.manifest.splits[split]["pairs"]:
                raise DataError(
                    f"{data}: no {split} pairs; prepare a corpus with a train and a dev split"
                )
        self._tests = tests
        self._options = options
        self._parts: dict[int, PreparedCorpus] = {1: self.main}
        self._dev_sets: dict[int, EvaluationSet] = {}

    def corpus(self, min_sentences: int) -> PreparedCorpus:
        """Return the pairs of the corpus whose texts have at least `min_sentences` sentences."""
        if min_sentences not in self._parts:
            out = self._options.work / "corpora" / f"{self.name}-{min_sentences}-sentences"
            out.parent.mkdir(parents=True, exist_ok=True)
            self._parts[min_sentences] = open_subset(self.main, out, min_sentences=min_sentences)
        return self._parts[min_sentences]

    def tests(self, min_sentences: int) -> list[EvaluationSet]:
        """Return the data sets; the first is the dev split of `corpus(min_sentences)`."""
        if min_sentences not in self._dev_sets:
            name = self.name if min_sentences == 1 else f"{self.name}, {min_sentences} sentences"
            self._dev_sets[min_sentences] = self._read(name, self.corpus(min_sentences).folder)
        return [self._dev_sets[min_sentences], *self._other_sets]

    @cached_property
    def common_vocab(self) -> Vocab:
        """The vocabulary that defines out-of-vocabulary words for all experiments."""
        return self.main.lexicon.vocab("summary", common_vocab_size(self._options.scale))

    @cached_property
    def _other_sets(self) -> list[EvaluationSet]:
        return [self._read(name, path) for name, path in self._tests.items()]

    def _read(self, name: str, path: Path) -> EvaluationSet:
        data = read_dataset(path, CorpusReadOptions()).first(self._options.limit)
        has_several = any(len(row.references) > 1 for row in data.rows)
        return EvaluationSet(name, data, DUC if has_several else "gigaword")


def open_subset(corpus: PreparedCorpus, out: Path, *, min_sentences: int) -> PreparedCorpus:
    """Open the subset of pairs whose texts have enough sentences; write it if it does not exist.

    The lexicon and the truecasing statistics are those of the whole corpus.

    Raises:
        DataError: if no such text is left in the train or dev split.
    """
    try:
        found = PreparedCorpus.open(out)
        if found.manifest.settings.get("taken_from") == corpus.manifest.fingerprint:
            return found
    except ArtifactError:
        pass
    shutil.rmtree(out, ignore_errors=True)
    _write_subset(corpus, out, min_sentences)
    return PreparedCorpus.open(out)


def _write_subset(corpus: PreparedCorpus, out: Path, min_sentences: int) -> None:
    partial = out.with_name(f"{out.name}.part")
    shutil.rmtree(partial, ignore_errors=True)
    partial.mkdir(parents=True)
    for name in (LEXICON_FILE, CASES_FILE):
        if name in corpus.manifest.files:  # older corpora have no truecasing statistics
            shutil.copyfile(corpus.folder / name, partial / name)
    splits: dict[str, dict[str, int]] = {
        name: _write_split(corpus, name, partial, min_sentences) for name in SPLITS
    }
    for name in ("train", "dev"):
        if not splits[name]["pairs"]:
            raise DataError(
                f"{corpus.folder}: no text of its {name} split has {min_sentences} sentences; "
                "prepare a corpus of longer texts"
            )
    files = list_files(partial)
    manifest: CorpusManifest = replace(
        corpus.manifest,
        settings={
            **corpus.manifest.settings,
            "min_sentences": min_sentences,
            "taken_from": corpus.manifest.fingerprint,
        },
        splits=splits,
        files=files,
        fingerprint=fingerprint(files),
    )
    manifest.save(partial)
    partial.rename(out)


def _write_split(
    corpus: PreparedCorpus, name: str, out: Path, min_sentences: int
) -> dict[str, int]:
    """Write the selected pairs of a split; return its counts."""
    counts = {"pairs": 0, "segments": 0, "words": 0, "shards": 0}
    selected: list[NDArray[np.bool_]] = []
    for shard in corpus.split(name).shards:
        is_selected = np.diff(shard.pairs) - 1 >= min_sentences  # (P,); one segment is the summary
        selected.append(is_selected)
        part = _select_pairs(shard, is_selected)
        part.save(out, name, counts["shards"])
        counts["shards"] += 1
        counts["pairs"] += len(part)
        counts["segments"] += len(part.segments) - 1
        counts["words"] += len(part.words)
    texts = corpus.folder / texts_file(name)
    if texts.exists():
        with (
            texts.open(encoding="utf-8", newline="\n") as lines,
            (out / texts_file(name)).open("w", encoding="utf-8", newline="\n") as file,
        ):
            pairs = zip(lines, np.concatenate(selected), strict=True)
            file.writelines(line for line, is_selected in pairs if is_selected)
    return counts


def _select_pairs(shard: CorpusShard, is_selected: NDArray[np.bool_]) -> CorpusShard:
    segments_per_pair = np.diff(shard.pairs)  # (P,)
    words_per_segment = np.diff(shard.segments)  # (G,)
    segments = np.repeat(is_selected, segments_per_pair)  # (G,)
    return CorpusShard(
        words=shard.words[np.repeat(segments, words_per_segment)],
        segments=_offsets(words_per_segment[segments]),
        pairs=_offsets(segments_per_pair[is_selected]),
        origins=shard.origins[is_selected],
    )


def _offsets(sizes: NDArray[np.int64]) -> NDArray[np.int64]:
    return np.concatenate([np.zeros(1, np.int64), np.cumsum(sizes, dtype=np.int64)])
