"""Data sets on which systems are evaluated."""

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
    split_from_name,
)
from readagain.corpus.readers.formats import FORMATS
from readagain.corpus.shards import PreparedCorpus, texts_file
from readagain.errors import ArgumentError, DataError
from readagain.evaluation.summaries import on_one_line
from readagain.formats.files import open_bytes, plain_name
from readagain.formats.lines import read_lines
from readagain.formats.records import InvalidRecord, OnError, invalid_record_error, valid_records
from readagain.rouge.corpus import hash_items
from readagain.rouge.files import require_equal_lengths

PREPARED = "prepared corpus"
_DEFAULT_SPLIT: SplitName = "dev"


@dataclass(frozen=True, kw_only=True)
class EvalExample:
    """A text and its references; each reference is on one line."""

    text: str
    references: tuple[str, ...]


@dataclass(frozen=True, kw_only=True)
class DataSet:
    """Texts with references.

    Args:
        rows: the examples, in the order of the files.
        format: name of a corpus format, or `PREPARED`.
        is_tokenized: whether the texts are tokenized as in Gigaword: lower-case words separated by
            spaces.
        are_references_tokenized: whether the references are tokenized as in Gigaword.
        selection: description of the rows that were selected from the files; None if all were.
        language: language code, stored in a prepared corpus or detected from the texts.
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
        return hash_items([(row.text, row.references) for row in self.rows])

    def first(self, limit: int | None) -> "DataSet":
        """Return a data set with the first `limit` rows, or with all if `limit` is None.

        Raises:
            ArgumentError: for a limit below 1.
        """
        if limit is None:
            return self
        if limit < 1:
            raise ArgumentError("{limit} is {0}; expected 1 or more", limit)
        return replace(self, rows=self.rows[:limit], selection=f"the first {limit:,}")

    def sample(self, size: int | None, *, seed: int = 1) -> "DataSet":
        """Return a data set with a random sample of the rows, or with all if `size` is None.

        The sampled rows keep their order.

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
    """Read a file, a data set of a directory, or a split of a prepared corpus.

    Args:
        path: the file or directory.
        options: options of the file readers; if `is_tokenized` is None, it is detected.
        split: split to read; needed if a directory has several data sets, by default dev for a
            prepared corpus. If `path` is a file, it must be named after the split.
        on_error: stop at an invalid record, or skip it. Scores without the skipped records are not
            comparable with scores on the whole data set.

    Raises:
        DataError: if the data is missing, ambiguous, empty or not readable, or if parallel files
            have different numbers of lines.
        ArgumentError: for an unknown split, or one that the file is not named after.
    """
    if split is not None and split not in SPLIT_NAMES:
        raise ArgumentError("{split} is '{0}'; expected {1}", split, ", ".join(SPLIT_NAMES))
    for name in SPLITS:
        if path.name == texts_file(name) and (path.parent / FILE_NAME).is_file():
            return _read_prepared(path.parent, name, options.is_tokenized)
    if (path / FILE_NAME).is_file():
        return _read_prepared(path, split or _DEFAULT_SPLIT, options.is_tokenized)
    [corpus_input] = find_inputs([str(_find_dataset(path, split))], options)
    files = corpus_input.paths
    if len(files) > 1:
        require_equal_lengths({file: _count_lines(file) for file in files})
    skipped: list[InvalidRecord] = []
    format = FORMATS[corpus_input.format]
    pairs = (
        pair
        for block in format.read_blocks(corpus_input)
        for pair in format.parse_block(corpus_input, block)
    )
    examples = (_make_example(pair, number, files) for number, pair in enumerate(pairs, start=1))
    rows = list(valid_records(examples, on_error, skipped.append))
    if not rows:
        if skipped:
            raise invalid_record_error(skipped[0], "; the data has no valid pairs")
        raise DataError(f"{corpus_input.path}: no valid pairs; expected at least one")
    return DataSet(
        rows=tuple(rows),
        files=files,
        format=corpus_input.format,
        is_tokenized=corpus_input.is_text_tokenized,
        are_references_tokenized=corpus_input.is_headline_tokenized,
        language=language_of_texts(row.text for row in rows[:NUM_TEXTS]),
        skipped=tuple(skipped),
    )


def _find_dataset(path: Path, split: str | None) -> Path:
    """Return the only data set in a directory, or the only one of a split.

    The result is the file with the texts, or the directory itself if it is a copy of DUC as NIST
    distributes it. If `path` is a file, return it.
    """
    if not path.is_dir():
        if split is not None and path.exists() and split_from_name(path) != split:
            raise ArgumentError(
                "{split} is '{0}', but the file {1} is not named after it; remove the option, "
                "or give a folder",
                split,
                path,
            )
        return path
    datasets = [file for file in sorted(path.iterdir()) if file.is_file() and _is_dataset(file)]
    matches = [file for file in datasets if split is None or split_from_name(file) == split]
    if len(matches) == 1:
        return matches[0]
    if not datasets:
        if duc_nist.find_documents(path):
            return path
        raise DataError(
            f"{path}: no data set in this folder; expected X.article.txt and X.title.txt, "
            "input.txt and task1_ref0.txt, a prepared corpus, DUC as NIST distributes it, or one "
            f"file with the suffix {', '.join(KNOWN_SUFFIXES)}"
        )
    names = ", ".join(file.name for file in matches or datasets)
    if not matches:
        raise DataError(f"{path}: no {split} set in this folder; found {names}")
    raise DataError(
        f"{path}: {len(matches)} data sets in this folder: {names}; give the path of one, such as "
        f"{matches[0]}" + ("" if split else ", or the split train, dev or test")
    )


def _is_dataset(path: Path) -> bool:
    """Return whether a file has pairs, or has texts whose references are in other files."""
    is_parallel = bool(parallel.find_references(path) or parallel.find_headlines(path))
    return is_parallel or plain_name(path).endswith(KNOWN_SUFFIXES)


def _count_lines(path: Path) -> int:
    with open_bytes(path) as (stream, _):
        return sum(1 for _ in read_lines(stream))


def _make_example(
    pair: Example | InvalidRecord, number: int, files: Sequence[Path]
) -> EvalExample | InvalidRecord:
    """Convert a pair to an `EvalExample`, or to an invalid record if a reference is empty.

    `number` is that of the pair, from 1. `files` are one file with texts and references, or the
    file with the texts followed by one file for each reference.
    """
    if isinstance(pair, InvalidRecord):
        return pair
    references = pair.references or (pair.headline,)
    for reference_number, reference in enumerate(references, start=1):
        if not reference.strip():
            if len(files) > 1:
                where = f"{files[reference_number]}:{number}"
            else:
                where = f"{files[0]}: pair {number}"
            reason = "empty reference; add it, or remove the pair from the data"
            return InvalidRecord(where, reason, asdict(pair))
    return EvalExample(text=pair.text, references=tuple(map(on_one_line, references)))


def _read_prepared(directory: Path, split: str, is_tokenized: bool | None) -> DataSet:
    """Read the texts and headlines of a split of a prepared corpus.

    `is_tokenized` overrides what the corpus records about its texts and headlines, unless None.
    """
    corpus = PreparedCorpus.open(directory)
    if not corpus.manifest.splits[split]["pairs"]:
        raise DataError(
            f"{directory}: its {split} split has no pairs; choose another split, or prepare the "
            f"corpus again with {split} pairs"
        )
    files = (directory / texts_file(split),)
    pairs = enumerate(corpus.texts(split), start=1)
    examples = (_make_example(pair, number, files) for number, pair in pairs)
    if is_tokenized is None:
        are_texts_tokenized = _are_inputs_tokenized(corpus, split, "is_text_tokenized")
        are_references_tokenized = _are_inputs_tokenized(corpus, split, "is_headline_tokenized")
    else:
        are_texts_tokenized = are_references_tokenized = is_tokenized
    return DataSet(
        rows=tuple(valid_records(examples, "stop")),
        files=files,
        format=PREPARED,
        is_tokenized=are_texts_tokenized,
        are_references_tokenized=are_references_tokenized,
        language=corpus.manifest.language,
    )


def _are_inputs_tokenized(corpus: PreparedCorpus, split: str, key: str) -> bool:
    """Return whether the inputs of a split are tokenized, as recorded under `key`."""
    inputs = corpus.manifest.inputs
    # A split without inputs of its own was held out from the training inputs.
    split_inputs = [entry for entry in inputs if entry["split"] == split] or inputs
    values = {bool(entry[key]) for entry in split_inputs}
    if len(values) > 1:
        raise ArgumentError(
            "{0}: only some inputs of its {1} split are tokenized as in Gigaword; set "
            "{is_tokenized}",
            corpus.folder,
            split,
        )
    return values.pop()
