"""Data set that systems are evaluated on."""

import random
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path

from readagain.corpus.inputs import SPLITS, Example, SplitName
from readagain.corpus.language import NUM_TEXTS, language_of_texts
from readagain.corpus.manifest import FILE_NAME
from readagain.corpus.readers import duc_nist, parallel
from readagain.corpus.readers.find import (
    KNOWN_SUFFIXES,
    SPLIT_NAMES,
    CorpusReadOptions,
    find_inputs,
    split_by_name,
)
from readagain.corpus.readers.formats import FORMATS
from readagain.corpus.shards import PreparedCorpus, texts_file
from readagain.errors import ArgumentError, DataError
from readagain.evaluation.summaries import on_one_line
from readagain.formats.files import open_bytes, plain_name
from readagain.formats.lines import read_lines
from readagain.formats.records import InvalidRecord, OnError, valid_records
from readagain.rouge.corpus import fingerprint
from readagain.rouge.files import require_equal_lengths

PREPARED = "prepared corpus"
_DEFAULT_SPLIT: SplitName = "dev"


@dataclass(frozen=True, kw_only=True)
class EvalExample:
    """A text and its references, each on one line."""

    text: str
    references: tuple[str, ...]


@dataclass(frozen=True, kw_only=True)
class DataSet:
    """Texts with references.

    Args:
        format: name of a corpus format, or `PREPARED`.
        is_tokenized: whether the texts are tokenized as in Gigaword: space-separated, lower case.
        are_references_tokenized: whether the references are tokenized as in Gigaword.
        selection: how the rows were selected from the files; None for all.
        language: code of the language, as stored in a prepared corpus or as detected.
        skipped: invalid records of the files, which are not in `rows`.
    """

    rows: tuple[EvalExample, ...]
    files: tuple[Path, ...]
    format: str
    is_tokenized: bool
    are_references_tokenized: bool
    selection: str | None = None
    language: str = "en"
    skipped: tuple[InvalidRecord, ...] = ()

    @property
    def fingerprint(self) -> str:
        """SHA-256 of all texts and references, in order."""
        return fingerprint([(row.text, row.references) for row in self.rows])

    def first(self, limit: int | None) -> "DataSet":
        """Return the first `limit` rows, or all if it is None.

        Raises:
            ArgumentError: for a limit below 1.
        """
        if limit is None:
            return self
        if limit < 1:
            raise ArgumentError("{limit} is {0}; expected 1 or more", limit)
        return replace(self, rows=self.rows[:limit], selection=f"the first {limit:,}")

    def sample(self, size: int | None, *, seed: int = 1) -> "DataSet":
        """Return a random sample of the rows in their order, or all if `size` is None.

        Raises:
            ArgumentError: for a size below 1.
        """
        if size is None or size >= len(self.rows):
            return self
        if size < 1:
            raise ArgumentError("{sample} is {0}; expected 1 or more", size)
        indices = sorted(random.Random(seed).sample(range(len(self.rows)), size))
        rows = tuple(self.rows[index] for index in indices)
        return replace(self, rows=rows, selection=f"a random sample with seed {seed}")


def read_dataset(
    path: Path,
    options: CorpusReadOptions,
    *,
    split: str | None = None,
    on_error: OnError = "stop",
) -> DataSet:
    """Read a file, a directory with one data set, or a prepared corpus.

    Args:
        path: the file or directory.
        options: how raw files are read; if `is_tokenized` is None, it is detected.
        split: split of a directory; by default dev for a prepared corpus. The name of a file must
            match it.
        on_error: whether to skip invalid records; scores on a part of a data set are not
            comparable with scores on all of it.

    Raises:
        DataError: if the data is missing, ambiguous, empty or not readable, or if line-aligned
            files differ in length.
        ArgumentError: for an unknown split, or one that does not match.
    """
    if split is not None and split not in SPLIT_NAMES:
        raise ArgumentError("{split} is '{0}'; expected {1}", split, ", ".join(SPLIT_NAMES))
    for name in SPLITS:
        if path.name == texts_file(name) and (path.parent / FILE_NAME).is_file():
            return _read_prepared(path.parent, name, options.is_tokenized)
    if (path / FILE_NAME).is_file():
        return _read_prepared(path, split or _DEFAULT_SPLIT, options.is_tokenized)
    [source] = find_inputs([str(_choose(path, split))], options)
    if len(source.paths) > 1:
        require_equal_lengths({file: _count_lines(file) for file in source.paths})
    skipped: list[InvalidRecord] = []
    format = FORMATS[source.format]
    pairs = (
        pair for block in format.read_blocks(source) for pair in format.parse_block(source, block)
    )
    examples = (_row(*pair, source.paths) for pair in enumerate(pairs, start=1))
    rows = list(valid_records(examples, on_error, skipped.append))
    if not rows:
        first = f"; {skipped[0].where}: {skipped[0].reason}" if skipped else ""
        raise DataError(f"{source.path}: no valid pairs{first}; expected at least one")
    return DataSet(
        rows=tuple(rows),
        files=source.paths,
        format=source.format,
        is_tokenized=source.is_text_tokenized,
        are_references_tokenized=source.is_headline_tokenized,
        language=language_of_texts(row.text for row in rows[:NUM_TEXTS]),
        skipped=tuple(skipped),
    )


def _choose(path: Path, split: str | None) -> Path:
    """Return the file of the data set in a directory."""
    if not path.is_dir():
        if split is not None and path.exists() and split_by_name(path) != split:
            raise ArgumentError(
                "{split} is '{0}': {1} is one data set without this name; remove the option, or "
                "give a directory of several",
                split,
                path,
            )
        return path
    sets = [file for file in sorted(path.iterdir()) if file.is_file() and _is_set(file)]
    matching_sets = [file for file in sets if split is None or split_by_name(file) == split]
    if len(matching_sets) == 1:
        return matching_sets[0]
    if not sets:
        if duc_nist.find_documents(path):
            return path
        raise DataError(
            f"{path}: no data set in this folder; expected X.article.txt and X.title.txt, "
            "input.txt and task1_ref0.txt, a prepared corpus, DUC as NIST distributes it, or one "
            f"file with the suffix {', '.join(KNOWN_SUFFIXES)}"
        )
    names = ", ".join(file.name for file in matching_sets or sets)
    if not matching_sets:
        raise DataError(f"{path}: no {split} set in this folder; found {names}")
    raise DataError(
        f"{path}: {len(matching_sets)} data sets in this folder: {names}; give the path of one, "
        f"such as {matching_sets[0]}" + ("" if split else ", or the split train, dev or test")
    )


def _is_set(path: Path) -> bool:
    is_parallel = parallel.find_references(path) or parallel.find_headlines(path)
    return bool(is_parallel) or plain_name(path).endswith(KNOWN_SUFFIXES)


def _count_lines(path: Path) -> int:
    with open_bytes(path) as (stream, _):
        return sum(1 for _ in read_lines(stream))


def _row(
    number: int, pair: Example | InvalidRecord, files: Sequence[Path]
) -> EvalExample | InvalidRecord:
    """Check the references of a pair and return it as an example.

    If there are several files, the first has the texts.
    """
    if isinstance(pair, InvalidRecord):
        return pair
    references = pair.references or (pair.headline,)
    for column, reference in enumerate(references, start=1):
        if not reference.strip():
            is_parallel = len(files) > 1
            where = f"{files[column]}:{number}" if is_parallel else f"{files[0]}: pair {number}"
            reason = "empty reference; add it, or remove the pair from the data"
            return InvalidRecord(where, reason, asdict(pair))
    return EvalExample(text=pair.text, references=tuple(map(on_one_line, references)))


def _read_prepared(directory: Path, split: str, is_tokenized: bool | None) -> DataSet:
    """Read the raw texts of a split of a prepared corpus."""
    corpus = PreparedCorpus.open(directory)
    if not corpus.manifest.splits[split]["pairs"]:
        raise DataError(
            f"{directory}: its {split} split has no pairs; choose another split, or prepare the "
            f"corpus again with {split} pairs"
        )
    files = (directory / texts_file(split),)
    rows = (_row(*pair, files) for pair in enumerate(corpus.texts(split), start=1))
    return DataSet(
        rows=tuple(valid_records(rows, "stop")),
        files=files,
        format=PREPARED,
        is_tokenized=_is_tokenized(corpus, split, "is_text_tokenized", is_tokenized),
        are_references_tokenized=_is_tokenized(
            corpus, split, "is_headline_tokenized", is_tokenized
        ),
        language=corpus.manifest.language,
    )


def _is_tokenized(corpus: PreparedCorpus, split: str, key: str, override: bool | None) -> bool:
    """Return the override, or whether the inputs of a split are tokenized."""
    if override is not None:
        return override
    inputs = corpus.manifest.inputs
    # A split without inputs was held out from the training inputs.
    split_inputs = [each for each in inputs if each["split"] == split] or inputs
    values = {bool(each[key]) for each in split_inputs}
    if len(values) > 1:
        raise DataError(
            f"{corpus.folder}: only some inputs of its {split} split are tokenized as in "
            "Gigaword; choose --tokenized or --raw"
        )
    return values.pop()
