"""Training corpora and evaluation data sets of a reproduction."""

import shutil
from dataclasses import dataclass, replace
from functools import cache, cached_property
from itertools import compress
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from readagain.corpus.inputs import SPLITS
from readagain.corpus.readers.find import CorpusReadOptions
from readagain.corpus.shards import (
    LEXICON_FILE,
    CorpusSplit,
    PreparedCorpus,
    texts_file,
)
from readagain.corpus.write import ShardWriter
from readagain.errors import ArgumentError, ArtifactError, DataError
from readagain.evaluation.dataset import DataSet, read_dataset
from readagain.experiments.options import ReproduceOptions
from readagain.experiments.sample_corpus import write_sample_corpora
from readagain.experiments.settings import common_vocab_size
from readagain.storage.files import atomic_dir
from readagain.text.truecasing import CASES_FILE
from readagain.text.vocab import Vocab

MAX_SELECTION_PAIRS = 3_000
"""Maximum size of the selection split: the pairs, held out from the train split, on which the best
checkpoint is chosen. At most a tenth of the train split is held out."""
DUC = "duc2003"
"""Name of the protocol of data sets with several references per text."""


@dataclass(frozen=True)
class EvaluationSet:
    """Data set with its name in the tables and its protocol."""

    name: str
    data: DataSet
    protocol: str


class Corpora:
    """Training corpus, its subsets, and the data sets of all experiments; each is opened once.

    The first data set is the dev split of the training corpus. If the options have no corpus, a
    small synthetic one and a synthetic test set are written and used.
    """

    def __init__(self, options: ReproduceOptions) -> None:
        data, tests = options.data, options.tests
        if data is None:
            if options.scale != "small":
                raise ArgumentError(
                    "{data}: no corpus to train on; give a prepared corpus, or use {scale} small "
                    "for an invented one"
                )
            data, sample_tests = write_sample_corpora(options.work / "corpora")
            tests = {**sample_tests, **tests}
        self.main = PreparedCorpus.open(data)
        self.name = data.resolve().name
        if self.name in tests:
            raise ArgumentError(
                "{tests} {0}: the corpus of {data} has that name; choose another", self.name
            )
        for split in ("train", "dev"):
            if not self.main.manifest.splits[split]["pairs"]:
                raise DataError(
                    f"{data}: no {split} pairs; prepare a corpus with a train and a dev split"
                )
        self._tests = tests
        self._options = options
        self.corpus = cache(self._open_corpus)
        self._read_test = cache(self._read_evaluation_set)

    def _open_corpus(
        self, min_sentences: int, *, has_selection_split: bool = False
    ) -> PreparedCorpus:
        """Return the pairs of the corpus whose texts have at least `min_sentences` sentences.

        With `has_selection_split`, the dev split of the result is the selection split. The dev
        pairs of the corpus are scored, so the best checkpoint must not be chosen on them.
        """
        if min_sentences == 1 and not has_selection_split:
            return self.main
        name = self.name if min_sentences == 1 else f"{self.name}-{min_sentences}-sentences"
        if has_selection_split:
            name += "-selection"
        return open_subset(
            self.main,
            self._options.work / "corpora" / name,
            min_sentences=min_sentences,
            has_selection_split=has_selection_split,
        )

    def tests(self, min_sentences: int) -> list[EvaluationSet]:
        """Return the data sets; the first is the dev split of `corpus(min_sentences)`."""
        name = self.name if min_sentences == 1 else f"{self.name}, {min_sentences} sentences"
        paths = {name: self.corpus(min_sentences).folder, **self._tests}
        return [self._read_test(name, path) for name, path in paths.items()]

    @cached_property
    def common_vocab(self) -> Vocab:
        """The vocabulary that defines out-of-vocabulary words for all experiments."""
        return self.main.lexicon.vocab("summary", common_vocab_size(self._options.scale))

    def _read_evaluation_set(self, name: str, path: Path) -> EvaluationSet:
        data = read_dataset(path, CorpusReadOptions()).first(self._options.limit)
        has_several_references = any(len(row.references) > 1 for row in data.rows)
        return EvaluationSet(name, data, DUC if has_several_references else "gigaword")


def open_subset(
    corpus: PreparedCorpus, out: Path, *, min_sentences: int, has_selection_split: bool = False
) -> PreparedCorpus:
    """Open the subset of pairs whose texts have enough sentences; write it if it does not exist.

    The lexicon and the truecasing statistics are those of the whole corpus. With
    `has_selection_split`, the dev split of the subset is the selection split, and its test split is
    empty.

    Raises:
        DataError: if no text of the train or dev split has enough sentences.
    """
    try:
        subset = PreparedCorpus.open(out)
        if subset.manifest.settings.get("taken_from") == corpus.manifest.fingerprint:
            return subset
    except ArtifactError:
        pass
    with atomic_dir(out, temporary=out.with_name(f"{out.name}.part")) as temporary:
        _write_subset(corpus, temporary, min_sentences, has_selection_split=has_selection_split)
    return PreparedCorpus.open(out)


def _write_subset(
    corpus: PreparedCorpus, out: Path, min_sentences: int, *, has_selection_split: bool
) -> None:
    """Write the files of a subset, see `open_subset`, to the empty folder `out`."""
    for file in (LEXICON_FILE, CASES_FILE):
        if file in corpus.manifest.files:  # older corpora have no truecasing statistics
            shutil.copyfile(corpus.folder / file, out / file)
    masks = {name: _has_sentences(corpus.split(name), min_sentences) for name in SPLITS}
    source_splits = {name: name for name in SPLITS}
    if has_selection_split:
        masks["train"], masks["dev"] = _hold_out_selection(masks["train"])
        masks["test"] = np.zeros_like(masks["test"])
        source_splits["dev"] = "train"
    splits: dict[str, dict[str, int]] = {
        name: _write_split(corpus, source_splits[name], masks[name], out, name) for name in SPLITS
    }
    for name in ("train", "dev"):
        if not splits[name]["pairs"]:
            raise DataError(
                f"{corpus.folder}: no text of its {name} split has {min_sentences} sentences; "
                "prepare a corpus of longer texts"
            )
    settings = {
        "min_sentences": min_sentences,
        "selection_pairs": splits["dev"]["pairs"] if has_selection_split else 0,
        "taken_from": corpus.manifest.fingerprint,
    }
    manifest = replace(
        corpus.manifest, settings={**corpus.manifest.settings, **settings}, splits=splits
    )
    manifest.save(out)


def _has_sentences(split: CorpusSplit, min_sentences: int) -> NDArray[np.bool_]:
    """Return a (P,) mask of the pairs of a split whose texts have enough sentences."""
    # The segments of a pair are the sentences of its text and one summary.
    masks = [shard.pair_segments - 1 >= min_sentences for shard in split.shards]
    return np.concatenate([np.zeros(0, np.bool_), *masks])


def _hold_out_selection(mask: NDArray[np.bool_]) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
    """Split a (P,) mask of pairs into masks of the training pairs and of the selection split."""
    pairs = np.flatnonzero(mask)
    num_held_out = min(MAX_SELECTION_PAIRS, len(pairs) // 10)
    is_held_out = np.zeros_like(mask)
    is_held_out[np.random.default_rng(0).choice(pairs, num_held_out, replace=False)] = True
    return mask & ~is_held_out, is_held_out


def _write_split(
    corpus: PreparedCorpus, source_split: str, mask: NDArray[np.bool_], out: Path, name: str
) -> dict[str, int]:
    """Write the pairs of `source_split` that are in a (P,) mask as the split `name`.

    Returns:
        Number of pairs, segments, words and shards.
    """
    writer = ShardWriter(out, name)
    first_pair = 0
    for shard in corpus.split(source_split).shards:
        writer.write(shard.select(mask[first_pair : first_pair + len(shard)]))
        first_pair += len(shard)
    texts = corpus.folder / texts_file(source_split)
    if texts.exists():
        with (
            texts.open(encoding="utf-8", newline="\n") as lines,
            (out / texts_file(name)).open("w", encoding="utf-8", newline="\n") as file,
        ):
            file.writelines(compress(lines, mask))
    return writer.counts
