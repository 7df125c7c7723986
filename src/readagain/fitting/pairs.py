"""First stage of a fit: preparation of the user's pairs."""

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from hashlib import sha256
from pathlib import Path

from readagain.corpus.inputs import CorpusInput
from readagain.corpus.manifest import CorpusManifest
from readagain.corpus.prepare import prepare
from readagain.corpus.readers.find import input_bytes, input_files
from readagain.corpus.report import describe_dropped
from readagain.corpus.settings import PrepareSettings, SplitSize
from readagain.corpus.workers import JobProgress
from readagain.errors import pluralize
from readagain.formats.records import OnError
from readagain.processors import num_processors
from readagain.storage.checksums import file_checksum
from readagain.text.language import UNDETERMINED, find_language

_DEV_TEST_SIZE = SplitSize(pairs=1000, max_share=0.05)
"""Size of the dev split and of the test split: 1,000 pairs, but at most 5% of all pairs."""
_MIN_PARALLEL_BYTES = 4 << 20
"""Larger inputs are read by several processes; for smaller inputs, one process is faster."""

ProgressDisplay = Callable[[], AbstractContextManager[Callable[[JobProgress], None]]]
"""Function that opens a progress display; the value of the context is a function to update it."""


def prepare_pairs(
    inputs: Sequence[CorpusInput],
    out: Path,
    *,
    language: str | None,
    on_error: OnError,
    progress: ProgressDisplay,
) -> None:
    """Prepare a corpus; without test inputs, a test split is split off, like the dev split.

    The options are those of `fit`.
    """
    has_test = any(source.split == "test" for source in inputs)
    settings = PrepareSettings(
        language=language,
        on_error=on_error,
        dev=_DEV_TEST_SIZE,
        test=SplitSize() if has_test else _DEV_TEST_SIZE,
    )
    is_large = sum(map(input_bytes, inputs)) > _MIN_PARALLEL_BYTES
    num_workers = num_processors() if is_large else 1
    with progress() as on_progress:
        prepare(inputs, out, settings, num_workers=num_workers, on_progress=on_progress)


def describe_pairs(manifest: CorpusManifest, *, is_language_set: bool) -> list[str]:
    """Return lines about the language, the splits and the dropped records of a prepared corpus.

    If the user did not set the language, it was detected.
    """
    if is_language_set:
        language = find_language(manifest.language).name
    elif manifest.language == UNDETERMINED:
        language = "language not detected (English rules are used; set the language to change this)"
    else:
        language = f"{find_language(manifest.language).name} (detected)"
    splits = manifest.splits
    lines = [
        f"{language}: {pluralize(splits['train']['pairs'], 'pair')} to train on, "
        f"{splits['dev']['pairs']:,} for validation, {splits['test']['pairs']:,} for the report"
    ]
    for reason, count, meaning in describe_dropped(manifest):
        lines.append(f"  dropped {count:,}: {reason} ({meaning})")
    return lines


def describe_content(source: CorpusInput) -> str:
    """Return the format and columns of an input, and a checksum of its content."""
    digest = sha256()
    for file in input_files(source):
        digest.update(file_checksum(file).encode())
    return f"{source.description}, SHA-256 {digest.hexdigest()[:12]}"
