"""Search for the inputs in files and folders, and detection of their formats and columns."""

import logging
import os
import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from pathlib import Path

from readagain.corpus.inputs import Columns, CorpusInput, SplitName
from readagain.corpus.readers import agiga, duc_nist, huggingface, parallel
from readagain.corpus.readers.formats import FORMATS, MARKUP_SUFFIXES, detect_format
from readagain.errors import ArgumentError, DataError
from readagain.formats.columns import choose_column
from readagain.formats.files import check_regular_file, named_errors, plain_name
from readagain.formats.lines import check_encoding
from readagain.formats.records import InputError
from readagain.formats.texts import TABLE_SUFFIXES

logger = logging.getLogger(__name__)

# First words of file names, by split.
SPLIT_NAMES: dict[SplitName, tuple[str, ...]] = {
    "train": ("train", "training"),
    "dev": ("dev", "val", "valid", "validation"),
    "test": ("test",),
}
# Suffixes of the files that are read from a folder.
KNOWN_SUFFIXES = (*TABLE_SUFFIXES, *MARKUP_SUFFIXES)


@dataclass(frozen=True, kw_only=True)
class CorpusReadOptions:
    """Options for reading inputs; options that are None are detected."""

    format: str | None = None
    text_column: str | None = None
    headline_column: str | None = None
    headlines: Path | None = None
    """The file of headlines for one file of texts."""
    encoding: str = "utf-8"
    is_tokenized: bool | None = None
    """Whether texts and headlines are tokenized as in Gigaword."""
    split_by: str | None = None
    """If "month", the files of Annotated Gigaword are split as in Rush et al. 2015."""


def find_inputs(
    arguments: Sequence[str],
    options: CorpusReadOptions,
    *,
    split: SplitName = "train",
    exclude: Collection[Path] = (),
) -> list[CorpusInput]:
    """Return the inputs in files and folders, in order.

    Args:
        arguments: files, folders or `hf:NAME`.
        options: how to read the inputs.
        split: the split of the inputs.
        exclude: files that are not read as part of a folder.

    Raises:
        DataError: when an input is missing, empty or of an unknown format.
        ArgumentError: when an option is not supported for the inputs.
    """
    check_encoding(options.encoding)
    if options.format is not None and options.format not in FORMATS:
        raise ArgumentError(
            "{format}: unknown format '{0}'; expected one of {1}",
            options.format,
            ", ".join(FORMATS),
        )
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
                if options.format is not None:
                    format = options.format
                else:
                    format = "parallel" if options.headlines else detect_format(file)
                file_split = agiga.split_from_month(file) if options.split_by else split
                inputs.append(_make_input(file, format, options, argument, file_split))
    if inputs and not any(source.columns for source in inputs):
        formats = ", ".join(sorted({source.format for source in inputs}))
        for name in ("text_column", "headline_column"):
            if getattr(options, name):
                raise ArgumentError(  # replaces {name} by the name of the argument or option
                    f"{{{name}}}: no input has columns (format: {{0}}); remove it", formats
                )
    return inputs


def _find_files(
    path: Path, options: CorpusReadOptions, split: SplitName, exclude: Collection[Path]
) -> list[Path]:
    """Return the files of a folder that belong to a split; for a file, return the file."""
    if not path.exists():
        raise DataError(f"{path}: no such file or folder")
    if not path.is_dir():
        check_regular_file(path)
        return [path]
    # A disc has other files in its folder, such as a table of its files.
    if options.split_by and (files := agiga.find_month_files(path)):
        return files
    excluded = {os.path.realpath(file) for file in exclude}  # also of links that form a loop
    # A link without a target is an error when it is read.
    entries = [file for file in sorted(path.iterdir()) if file.is_file() or not file.exists()]
    files = [
        file
        for file in entries
        if os.path.realpath(file) not in excluded and _is_corpus_file(file, options)
    ]
    if not files:
        if files := agiga.find_month_files(path):
            return files
        if duc_nist.find_documents(path):
            return [path]
    # Use the files that are named after the split, or else those that are named after no split.
    used_files = [file for file in files if split_from_name(file) == split] or [
        file for file in files if split_from_name(file) is None
    ]
    if not used_files:
        names = ", ".join(file.name for file in files) or "none of a known format"
        raise DataError(
            f"{path}: no file for {split} in this folder; expected a name that starts with "
            f"{split}, or with no split name; found {names}"
        )
    if unused_names := [file.name for file in files if file not in used_files]:
        logger.warning("%s: not used for %s: %s", path, split, ", ".join(unused_names))
    return used_files


def _is_corpus_file(path: Path, options: CorpusReadOptions) -> bool:
    """Return whether a file in a folder is an input and not, for example, a file of headlines."""
    if parallel.find_references(path) or parallel.find_headlines(path):
        return True
    if parallel.is_headlines_file(path):
        return False
    return plain_name(path).endswith(KNOWN_SUFFIXES) or options.format is not None


def split_from_name(path: Path) -> SplitName | None:
    """Return the split that a file is named after, or None."""
    first_word = re.split(r"[^a-z]", plain_name(path), maxsplit=1)[0]
    return next((split for split, names in SPLIT_NAMES.items() if first_word in names), None)


def _make_input(
    path: Path, format: str, options: CorpusReadOptions, origin: str, split: SplitName
) -> CorpusInput:
    """Return the input of a file, with its columns, headline files and tokenization."""
    columns = _choose_columns(path, format, options)
    headlines = _headline_files(path, format, options)
    for file in headlines:
        if not file.exists():
            raise DataError(f"{file}: no such file of headlines")
        check_regular_file(file)
    is_text_tokenized = FORMATS[format].is_text_tokenized
    is_headline_tokenized = FORMATS[format].is_headline_tokenized
    if options.is_tokenized is not None:
        is_text_tokenized = is_headline_tokenized = options.is_tokenized
    elif headlines:
        is_text_tokenized = parallel.is_tokenized(path)
        is_headline_tokenized = all(map(parallel.is_tokenized, headlines))
    return CorpusInput(
        format=format,
        paths=(path, *headlines),
        origin=origin,
        split=split,
        columns=columns,
        encoding=options.encoding,
        is_text_tokenized=is_text_tokenized,
        is_headline_tokenized=is_headline_tokenized,
    )


def _choose_columns(path: Path, format: str, options: CorpusReadOptions) -> Columns | None:
    """Return the columns of the text and the headline; None for a format without columns."""
    column_names = FORMATS[format].column_names
    if column_names is None:
        return None
    names, where = column_names(path, options.encoding), str(path)
    if names is None:
        raise DataError(f"{path}: no texts; expected pairs of text and headline")
    columns = Columns(
        text=choose_column("text", names, options.text_column, where=where),
        headline=choose_column("headline", names, options.headline_column, where=where),
    )
    if columns.text == columns.headline:
        raise InputError(
            "{0}: '{1}' is both text and headline; set {text_column} or {headline_column}",
            path,
            columns.text,
        )
    return columns


def _headline_files(path: Path, format: str, options: CorpusReadOptions) -> list[Path]:
    """Return the headline files of a line-aligned format; none for other formats."""
    match format:
        case "duc":
            files = parallel.find_references(path)
        case "gigaword" | "parallel":
            headlines = options.headlines or parallel.find_headlines(path)
            files = [headlines] if headlines else []
        case _:
            return []
    if not files:
        raise DataError(
            f"{path}: no headline file beside it for the format {format}; set the file of headlines"
        )
    return files


def input_files(source: CorpusInput) -> list[Path]:
    """Return the files of an input; none for a Hugging Face dataset."""
    files = (duc_nist.document_files(path) if path.is_dir() else [path] for path in source.paths)
    return [file for file in chain.from_iterable(files) if file.exists()]


def input_bytes(source: CorpusInput) -> int:
    """Return the size of the files with texts, for progress reports."""
    text_source = replace(source, paths=source.paths[:1])
    return sum(file.stat().st_size for file in input_files(text_source))
