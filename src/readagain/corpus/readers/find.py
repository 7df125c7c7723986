"""Detection of inputs: folders, formats and columns."""

import logging
import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from pathlib import Path

from readagain.corpus.inputs import Columns, CorpusInput, SplitName
from readagain.corpus.readers import agiga, duc_nist, huggingface, parallel
from readagain.corpus.readers.formats import detect_format, find_format
from readagain.errors import ArgumentError, DataError
from readagain.formats.columns import choose_column
from readagain.formats.files import check_regular_file, named_errors, plain_name
from readagain.formats.lines import check_encoding

logger = logging.getLogger(__name__)

SPLIT_NAMES: dict[SplitName, tuple[str, ...]] = {
    "train": ("train", "training"),
    "dev": ("dev", "val", "valid", "validation"),
    "test": ("test",),
}
KNOWN_SUFFIXES = (
    ".jsonl", ".ndjson", ".json", ".csv", ".tsv", ".tab", ".parquet", ".xml", ".rss", ".atom",
)  # fmt: skip


@dataclass(frozen=True, kw_only=True)
class CorpusReadOptions:
    """Options for reading inputs; None means detected."""

    format: str | None = None
    text_column: str | None = None
    headline_column: str | None = None
    headlines: Path | None = None
    encoding: str = "utf-8"
    is_tokenized: bool | None = None
    split_by: str | None = None
    """"month" for the split of Annotated Gigaword by months in Rush et al. 2015."""


def find_inputs(
    arguments: Sequence[str],
    options: CorpusReadOptions,
    *,
    split: SplitName = "train",
    exclude: Collection[Path] = (),
) -> list[CorpusInput]:
    """Return the inputs for files and folders, in order.

    Args:
        arguments: files, folders or `hf:NAME`.
        options: how to read them.
        split: the split of their examples.
        exclude: files of a folder that belong to another argument.

    Raises:
        DataError: naming the input that is missing, empty or of an unknown format.
        ConfigError: when an option is not supported for the inputs.
    """
    check_encoding(options.encoding)
    if options.format is not None:
        find_format(options.format)
    if options.headlines is not None and len(arguments) != 1:
        raise ArgumentError(
            "{headlines}: needs exactly one file of texts; found {0} inputs", len(arguments)
        )
    inputs = []
    for argument in arguments:
        if argument.startswith(huggingface.PREFIX):
            inputs.append(_make_input(Path(argument), "huggingface", options, argument, split))
            continue
        path = Path(argument)
        with named_errors(path):
            for file in _find_files(path, options, split, exclude):
                name = options.format or (options.headlines and "parallel") or detect_format(file)
                file_split = agiga.split_by_month(file) if options.split_by else split
                inputs.append(_make_input(file, name, options, argument, file_split))
    if inputs and not any(source.columns for source in inputs):
        formats = ", ".join(sorted({source.format for source in inputs}))
        for name in ("text_column", "headline_column"):
            if getattr(options, name):
                raise ArgumentError(
                    f"{{{name}}}: no input has columns (format: {{0}}); remove it", formats
                )
    return inputs


def _find_files(
    path: Path, options: CorpusReadOptions, split: SplitName, exclude: Collection[Path]
) -> list[Path]:
    """Return the files of a folder that belong to a split, or the file itself."""
    if not path.exists():
        raise DataError(f"{path}: no such file or folder")
    if not path.is_dir():
        check_regular_file(path)
        return [path]
    used = {other.resolve() for other in exclude}
    files = [
        file
        for file in sorted(path.iterdir())
        if file.is_file() and file.resolve() not in used and _is_corpus_file(file, options)
    ]
    if not files:
        if files := agiga.find_months(path):
            return files
        if duc_nist.find_documents(path):
            return [path]
    # Choose the files whose names start with this split, or else those whose names start with no
    # split.
    chosen = [file for file in files if split_by_name(file) == split] or [
        file for file in files if split_by_name(file) is None
    ]
    if not chosen:
        names = ", ".join(file.name for file in files) or "none of a known format"
        raise DataError(
            f"{path}: no file for {split} in this folder; expected a name that starts with "
            f"{split}, or with no split name; found {names}"
        )
    if others := [file.name for file in files if file not in chosen]:
        logger.warning("%s: not used for %s: %s", path, split, ", ".join(others))
    return chosen


def _is_corpus_file(path: Path, options: CorpusReadOptions) -> bool:
    if parallel.find_references(path) or parallel.find_headlines(path):
        return True
    if parallel.is_headlines_file(path):
        return False
    return plain_name(path).endswith(KNOWN_SUFFIXES) or options.format is not None


def split_by_name(path: Path) -> SplitName | None:
    """Return the split that a file's name starts with, or None."""
    first = re.split(r"[^a-z]", plain_name(path), maxsplit=1)[0]
    return next((split for split, names in SPLIT_NAMES.items() if first in names), None)


def _make_input(
    path: Path, name: str, options: CorpusReadOptions, origin: str, split: SplitName
) -> CorpusInput:
    columns = _choose_columns(path, name, options)
    headlines = _headline_files(path, name, options)
    for file in headlines:
        if not file.exists():
            raise DataError(f"{file}: no such file of headlines")
        check_regular_file(file)
    format = find_format(name)
    is_text_tokenized = format.is_text_tokenized
    is_headline_tokenized = format.is_headline_tokenized
    if options.is_tokenized is not None:
        is_text_tokenized = is_headline_tokenized = options.is_tokenized
    elif headlines:
        is_text_tokenized = parallel.is_tokenized(path)
        is_headline_tokenized = all(map(parallel.is_tokenized, headlines))
    return CorpusInput(
        format=name,
        paths=(path, *headlines),
        origin=origin,
        split=split,
        columns=columns,
        encoding=options.encoding,
        is_text_tokenized=is_text_tokenized,
        is_headline_tokenized=is_headline_tokenized,
    )


def _choose_columns(path: Path, name: str, options: CorpusReadOptions) -> Columns | None:
    column_names = find_format(name).column_names
    if column_names is None:
        return None
    names, where = column_names(path, options.encoding), str(path)
    columns = Columns(
        text=choose_column("text", names, options.text_column, where=where),
        headline=choose_column("headline", names, options.headline_column, where=where),
    )
    if columns.text == columns.headline:
        raise DataError(
            f"{path}: '{columns.text}' is both text and headline; set two different columns"
        )
    return columns


def _headline_files(path: Path, name: str, options: CorpusReadOptions) -> list[Path]:
    match name:
        case "duc":
            files = parallel.find_references(path)
        case "gigaword" | "parallel":
            headlines = options.headlines or parallel.find_headlines(path)
            files = [headlines] if headlines else []
        case _:
            return []
    if not files:
        raise DataError(
            f"{path}: no headline file beside it for the format {name}; set the file of headlines"
        )
    return files
