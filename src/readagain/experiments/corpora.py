"""The corpora of a reproduction: what is trained on, and the dev sets that are scored."""

from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from readagain.corpus.readers.find import CorpusReadOptions
from readagain.corpus.shards import PreparedCorpus
from readagain.errors import ConfigError, DataError
from readagain.evaluation.dataset import DataSet, read_dataset
from readagain.experiments.subset import several_sentences
from readagain.text.vocab import Vocab

SEVERAL = "{name}, {minimum} sentences"
MANY_REFERENCES = "duc2003"
"""The protocol of sets with several references for a text."""
_ONE_REFERENCE = "gigaword"


@dataclass(frozen=True)
class DevSet:
    """Texts with references, and the protocol they are scored by."""

    name: str
    data: DataSet
    protocol: str


class Corpora:
    """What rows are trained on and scored on, opened once.

    Args:
        data: the prepared corpus to train on; its dev split is the first set.
        tests: more sets by name: anything that `readagain evaluate --data` reads.
        work: where parts of the corpus may be written.
        common_words: size of the vocabulary by which all rows are counted alike.
        limit: score only so many texts of each set.
    """

    def __init__(
        self,
        data: Path,
        tests: dict[str, Path],
        *,
        work: Path,
        common_words: int,
        limit: int | None = None,
    ) -> None:
        self.main = PreparedCorpus.open(data)
        self.name = data.resolve().name
        if self.name in tests:
            raise ConfigError(
                f"--test {self.name}: the corpus of --data has that name; choose another"
            )
        for split in ("train", "dev"):
            if not self.main.manifest.splits[split]["pairs"]:
                raise DataError(
                    f"{data}: no {split} pairs; rows are trained on its train split and scored "
                    "on its dev split, so prepare a corpus with both"
                )
        self._tests = tests
        self._work = work
        self._common_words = common_words
        self._limit = limit
        self._parts: dict[int, PreparedCorpus] = {1: self.main}
        self._own: dict[int, DevSet] = {}

    def corpus(self, min_sentences: int) -> PreparedCorpus:
        """Return the corpus, or the part of it whose texts have so many sentences."""
        if min_sentences not in self._parts:
            out = self._work / "corpora" / f"{self.name}-{min_sentences}-sentences"
            out.parent.mkdir(parents=True, exist_ok=True)
            part = several_sentences(self.main, out, minimum=min_sentences)
            self._parts[min_sentences] = part
        return self._parts[min_sentences]

    def tests(self, min_sentences: int) -> list[DevSet]:
        """Return the sets for a row; the first is the dev split of what it was trained on."""
        if min_sentences not in self._own:
            name = self.name
            if min_sentences > 1:
                name = SEVERAL.format(name=name, minimum=min_sentences)
            self._own[min_sentences] = self._read(name, self.corpus(min_sentences).folder)
        return [self._own[min_sentences], *self._others]

    @cached_property
    def common_vocab(self) -> Vocab:
        """The most frequent words of summaries: what a 15K row knows."""
        return self.main.lexicon.vocab("summary", self._common_words)

    @cached_property
    def _others(self) -> list[DevSet]:
        return [self._read(name, path) for name, path in self._tests.items()]

    def _read(self, name: str, path: Path) -> DevSet:
        data = read_dataset(path, CorpusReadOptions()).first(self._limit)
        has_several = any(len(row.references) > 1 for row in data.rows)
        return DevSet(name, data, MANY_REFERENCES if has_several else _ONE_REFERENCE)
