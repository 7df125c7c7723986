"""From the arguments of a command to sources: expand folders, recognise formats, choose columns."""

import logging
import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from pathlib import Path

from readagain.corpus.compression import check_lasting, plain_name
from readagain.corpus.readers import duc, gigaword, huggingface
from readagain.corpus.readers.columns import guess_columns
from readagain.corpus.readers.formats import format_named, recognise
from readagain.corpus.readers.source import Columns, CorpusInput, SplitName
from readagain.errors import ConfigError, DataError

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
    """How inputs are to be read; what is None is recognised or guessed."""

    format: str | None = None
    text_column: str | None = None
    headline_column: str | None = None
    headlines: Path | None = None
    encoding: str = "utf-8"
    is_tokenized: bool | None = None


def find_sources(
    arguments: Sequence[str],
    options: CorpusReadOptions,
    *,
    split: SplitName = "train",
    leave_out: Collection[Path] = (),
) -> list[CorpusInput]:
    """Turn the inputs somebody named into sources, in that order.

    Args:
        arguments: files, folders or `hf:NAME`.
        options: what was said about how to read them.
        split: where their pairs belong.
        leave_out: files of a folder that are already used elsewhere.

    Raises:
        DataError: naming the input that is missing, empty or not recognised.
        ConfigError: when an option cannot be meant for these inputs.
    """
    check_encoding(options.encoding)
    if options.format is not None:
        format_named(options.format)
    if options.headlines is not None and len(arguments) != 1:
        raise ConfigError(
            f"--headlines goes with one file of texts, not with {len(arguments)} inputs"
        )
    sources = []
    for argument in arguments:
        if argument.startswith(huggingface.PREFIX):
            sources.append(_source(Path(argument), "huggingface", options, argument, split))
            continue
        for path in _files(Path(argument), options, split, leave_out):
            name = options.format or (options.headlines and "parallel") or recognise(path)
            sources.append(_source(path, name, options, argument, split))
    if sources and not any(source.columns for source in sources):
        for flag in ("text_column", "headline_column"):
            if getattr(options, flag):
                raise ConfigError(
                    f"--{flag.replace('_', '-')}: no input has columns to choose from; "
                    f"recognised as {', '.join(sorted({source.format for source in sources}))}"
                )
    return sources


def check_encoding(encoding: str) -> None:
    """Refuse an encoding that Python does not know, or whose lines cannot be told apart."""
    try:
        newline = "\n".encode(encoding)
    except LookupError as error:
        raise ConfigError(
            f"--encoding '{encoding}' is not known; for example utf-8, latin-1, cp1252"
        ) from error
    if newline != b"\n":
        raise ConfigError(
            f"--encoding '{encoding}' does not end lines as ASCII does; convert the file to UTF-8"
        )


def _files(
    path: Path, options: CorpusReadOptions, split: SplitName, leave_out: Collection[Path]
) -> list[Path]:
    """List the inputs that an argument stands for."""
    if not path.exists():
        raise DataError(f"{path}: no such file or folder")
    if not path.is_dir():
        check_lasting(path)
        return [path]
    if next(path.glob("*.story"), None):
        return [path]
    used = {other.resolve() for other in leave_out}
    files = [
        file
        for file in sorted(path.iterdir())
        if file.is_file() and file.resolve() not in used and _looks_readable(file, options)
    ]
    # A folder of splits is not one big training set: what calls itself otherwise stays out.
    chosen = [file for file in files if split_by_name(file) == split] or [
        file for file in files if split_by_name(file) is None
    ]
    if not chosen:
        found = ", ".join(file.name for file in files) or "none that can be read"
        raise DataError(
            f"{path}: no file for {split} in this folder; expected names that begin with {split}, "
            f"or with no split's name; found {found}"
        )
    if others := [file.name for file in files if file not in chosen]:
        logger.warning("%s: not taken for %s: %s", path, split, ", ".join(others))
    return chosen


def _looks_readable(path: Path, options: CorpusReadOptions) -> bool:
    if duc.references_beside(path) or gigaword.headlines_beside(path):
        return True
    if gigaword.is_headlines_file(path):
        return False
    return plain_name(path).endswith(KNOWN_SUFFIXES) or options.format is not None


def split_by_name(path: Path) -> SplitName | None:
    """Tell the split that a file's name begins with."""
    first = re.split(r"[^a-z]", plain_name(path), maxsplit=1)[0]
    return next((split for split, names in SPLIT_NAMES.items() if first in names), None)


def _source(
    path: Path, name: str, options: CorpusReadOptions, origin: str, split: SplitName
) -> CorpusInput:
    columns = _columns(path, name, options)
    headlines = _headline_files(path, name, options)
    for file in headlines:
        if not file.exists():
            raise DataError(f"{file}: no such file of headlines")
        check_lasting(file)
    is_text_tokenized = is_headline_tokenized = bool(options.is_tokenized)
    if options.is_tokenized is None and headlines:
        is_text_tokenized = gigaword.is_tokenized(path)
        is_headline_tokenized = all(map(gigaword.is_tokenized, headlines))
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


def _columns(path: Path, name: str, options: CorpusReadOptions) -> Columns | None:
    column_names = format_named(name).column_names
    if column_names is None:
        return None
    names = column_names(path, options.encoding)
    columns = guess_columns(
        names, where=str(path), text=options.text_column, headline=options.headline_column
    )
    if columns.text == columns.headline:
        raise DataError(
            f"{path}: '{columns.text}' would be text and headline at once; choose two columns with "
            "--text-column and --headline-column"
        )
    return columns


def _headline_files(path: Path, name: str, options: CorpusReadOptions) -> list[Path]:
    match name:
        case "duc":
            found = duc.references_beside(path)
        case "gigaword" | "parallel":
            beside = options.headlines or gigaword.headlines_beside(path)
            found = [beside] if beside else []
        case _:
            return []
    if not found:
        raise DataError(
            f"{path}: no file of headlines beside it for the format {name}; "
            "name it with --headlines"
        )
    return found
