"""The data set that a system is evaluated on: found, read and fingerprinted."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from readagain.corpus.compression import open_bytes, plain_name
from readagain.corpus.manifest import FILE_NAME
from readagain.corpus.pair import Example, InvalidRecord
from readagain.corpus.readers import duc, gigaword
from readagain.corpus.readers.find import (
    KNOWN_SUFFIXES,
    SPLIT_NAMES,
    CorpusReadOptions,
    find_sources,
    split_by_name,
)
from readagain.corpus.readers.formats import FORMATS
from readagain.corpus.readers.lines import numbered_lines
from readagain.corpus.readers.source import CorpusInput, SplitName
from readagain.corpus.shards import PreparedCorpus, texts_file
from readagain.errors import ConfigError, DataError
from readagain.rouge.corpus import fingerprint
from readagain.rouge.files import require_equal_lengths

PREPARED = "prepared corpus"
_DEFAULT_SPLIT: SplitName = "dev"


@dataclass(frozen=True, kw_only=True)
class EvalExample:
    """A text as it stands, and what people wrote about it, each reference on one line."""

    text: str
    references: tuple[str, ...]


@dataclass(frozen=True, kw_only=True)
class DataSet:
    """Texts with their references, and where they come from.

    Args:
        rows: at least one.
        files: where they stand.
        format: the name of a corpus format, or `PREPARED`.
        is_tokenized: the texts are in Gigaword form: words between spaces, lower case.
        are_references_tokenized: the references are, too.
    """

    rows: tuple[EvalExample, ...]
    files: tuple[Path, ...]
    format: str
    is_tokenized: bool
    are_references_tokenized: bool

    @property
    def fingerprint(self) -> str:
        """SHA-256 over all texts and references, in order."""
        return fingerprint([(row.text, row.references) for row in self.rows])

    def first(self, limit: int | None) -> "DataSet":
        """Keep the first rows only.

        Raises:
            ConfigError: for a limit below 1.
        """
        if limit is None:
            return self
        if limit < 1:
            raise ConfigError(f"--limit is {limit}; expected 1 or more")
        return replace(self, rows=self.rows[:limit])


def on_one_line(text: str) -> str:
    """Write a text on one line, each stretch of white space as one space."""
    return " ".join(text.split())


def read_dataset(path: Path, options: CorpusReadOptions, *, split: str | None = None) -> DataSet:
    """Read a file, a folder with one set in it, or a prepared corpus.

    Args:
        path: what `--data` named.
        options: how raw files are read; `is_tokenized` None lets the data say.
        split: which set of a folder; the dev split of a prepared corpus unless given. A file is
            one set, whose name must not say otherwise.

    Raises:
        DataError: saying what is missing, ambiguous, unequal, empty or not readable.
        ConfigError: for a split that does not exist, or cannot be chosen from.
    """
    if split is not None and split not in SPLIT_NAMES:
        raise ConfigError(f"no split '{split}'; expected one of {', '.join(SPLIT_NAMES)}")
    if (path / FILE_NAME).is_file():
        return _read_prepared(path, split or _DEFAULT_SPLIT, options.is_tokenized)
    [source] = find_sources([str(_choose(path, split))], options)
    if len(source.paths) > 1:
        require_equal_lengths({file: _count_lines(file) for file in source.paths})
    rows = [_row(pair, source.paths, number) for number, pair in enumerate(_pairs(source), start=1)]
    if not rows:
        raise DataError(f"{source.path}: no pairs in it; expected at least one")
    return DataSet(
        rows=tuple(rows),
        files=source.paths,
        format=source.format,
        is_tokenized=source.is_text_tokenized,
        are_references_tokenized=source.is_headline_tokenized,
    )


def _choose(path: Path, split: str | None) -> Path:
    """Find the one set that a folder holds; a file is one already."""
    if not path.is_dir() or next(path.glob("*.story"), None):
        if split is not None and path.exists() and split_by_name(path) != split:
            raise ConfigError(
                f"--split {split}: {path} is one set, and not called so; leave the option away, or "
                "name a folder of several"
            )
        return path
    sets = [file for file in sorted(path.iterdir()) if file.is_file() and _is_set(file)]
    chosen = [file for file in sets if split is None or split_by_name(file) == split]
    if len(chosen) == 1:
        return chosen[0]
    names = ", ".join(file.name for file in sets)
    if not sets:
        raise DataError(
            f"{path}: no data of a known layout in this folder; expected X.article.txt beside "
            "X.title.txt, input.txt beside task1_ref0.txt, a prepared corpus, or one file of "
            f"{', '.join(KNOWN_SUFFIXES)}"
        )
    if not chosen:
        raise DataError(f"{path}: no {split} set in this folder; found {names}")
    if split is not None:
        names = ", ".join(file.name for file in chosen)
    raise DataError(
        f"{path}: {len(chosen)} sets in this folder: {names}; choose one by naming its file, as "
        f"in --data {chosen[0]}" + ("" if split else ", or by --split train, dev or test")
    )


def _is_set(path: Path) -> bool:
    if duc.references_beside(path) or gigaword.headlines_beside(path):
        return True
    return plain_name(path).endswith(KNOWN_SUFFIXES)


def _count_lines(path: Path) -> int:
    with open_bytes(path) as (stream, _):
        return sum(1 for _ in numbered_lines(stream))


def _pairs(source: CorpusInput) -> Iterator[Example]:
    format = FORMATS[source.format]
    for block in format.blocks(source):
        for record in format.records(source, block):
            if isinstance(record, InvalidRecord):
                raise DataError(f"{record.where}: {record.reason}")
            yield record


def _row(pair: Example, files: Sequence[Path], number: int) -> EvalExample:
    """Check a pair; of several files the first has the texts, the others the references."""
    references = pair.references or (pair.headline,)
    for place, reference in enumerate(references, start=1):
        if not reference.strip():
            is_parallel = len(files) > 1
            where = f"{files[place]}:{number}" if is_parallel else f"{files[0]}: pair {number}"
            raise DataError(
                f"{where}: empty reference; fill it in, or leave the pair out of the data"
            )
    return EvalExample(text=pair.text, references=tuple(map(on_one_line, references)))


def _read_prepared(folder: Path, split: str, is_tokenized: bool | None) -> DataSet:
    """Read the raw texts that a prepared corpus keeps of its dev and test splits."""
    corpus = PreparedCorpus.open(folder)
    if not corpus.manifest.splits[split]["pairs"]:
        raise DataError(
            f"{folder}: its {split} split has no pairs; choose another with --split, or prepare "
            f"the corpus again with --{split}-pairs"
        )
    files = (folder / texts_file(split),)
    pairs = enumerate(corpus.texts(split), start=1)
    return DataSet(
        rows=tuple(_row(pair, files, number) for number, pair in pairs),
        files=files,
        format=PREPARED,
        is_tokenized=_agreed(corpus, split, "is_text_tokenized", is_tokenized),
        are_references_tokenized=_agreed(corpus, split, "is_headline_tokenized", is_tokenized),
    )


def _agreed(corpus: PreparedCorpus, split: str, fact: str, said: bool | None) -> bool:
    """Tell what was said of the inputs of a split, or else what they all are."""
    if said is not None:
        return said
    inputs = corpus.manifest.inputs
    # A split that no input was given for was cut from the training inputs.
    given = [each for each in inputs if each["split"] == split] or inputs
    found = {bool(each[fact]) for each in given}
    if len(found) > 1:
        raise DataError(
            f"{corpus.folder}: some inputs of its {split} split are in Gigaword form and some are "
            "not; say --tokenized or --raw"
        )
    return found.pop()
