"""A batch job: what is read, what is done with it, and where it is written."""

from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass
from typing import Any

from readagain import __version__
from readagain.batch.notes import ShardMetadata, checksum
from readagain.batch.rows import output_format
from readagain.batch.shards import BatchShard, cut_source
from readagain.batch.sources import BatchInput, CutOptions, check_layouts
from readagain.batch.work import ShardConfig, check_work
from readagain.errors import ConfigError, DataError, require
from readagain.storage.bundled import find_model
from readagain.storage.model_manifest import MANIFEST_FILE

Done = Mapping[tuple[int, int], ShardMetadata]


@dataclass(frozen=True, kw_only=True)
class BatchJob:
    """Everything that one job is."""

    sources: tuple[BatchInput, ...]
    cut: CutOptions
    work: ShardConfig
    overwrite: bool = False
    """Remove another job that is in the folder."""
    update: bool = False
    """Go on though inputs have changed: what is still the same is kept."""

    @property
    def input_bytes(self) -> int:
        """How much there is to read, as it lies on the disk."""
        return sum(file.bytes for source in self.sources for file in source.files)

    def settings(self) -> dict[str, Any]:
        """Describe everything but the inputs that decides the bytes of the output."""
        work = self.work
        writes_parquet = any(
            "parquet" in (source.format, work.output_format) for source in self.sources
        )
        return {
            "readagain": __version__,
            "model": checksum((find_model(work.model) / MANIFEST_FILE).read_bytes()),
            "precision": work.precision,
            **{name: value for name, value in work.options.items() if value is not None},
            "field": work.summary_field,
            "score": work.has_score,
            "format": self.cut.read.format,
            "text_column": self.cut.read.text_column,
            "encoding": self.cut.read.encoding,
            "output_format": work.output_format,
            "shard_rows": self.cut.shard_rows,
            # Another pyarrow may spell the same table in other bytes.
            "pyarrow": _pyarrow_version() if writes_parquet else None,
        }

    def files(self) -> list[dict[str, Any]]:
        """Describe the input files as they are now."""
        return [asdict(file) for source in self.sources for file in source.files]

    def check(self) -> None:
        """Find out what is wrong with a job before any of it is done.

        Raises:
            ReadAgainError: naming an option, a column or a model that cannot be used.
        """
        names = self.work.added_fields
        if len(set(names)) < len(names):
            raise ConfigError(f"--field {names[0]}: the output has a field of that name already")
        if self.cut.shard_rows < 1:
            raise ConfigError(f"--shard-rows is {self.cut.shard_rows}; expected 1 or more")
        for source in self.sources:
            output_format(self.work.output_format, source.format)
        check_layouts(self.sources, self.cut)
        check_work(self.work)

    def outline(self, source: BatchInput, done: Done) -> Iterator[BatchShard | ShardMetadata]:
        """Cut a source into what is still to do, with the notes of what is done in their places.

        Raises:
            DataError: when the rows of a finished shard have changed since.
        """
        for shard in cut_source(source, self.cut):
            note = done.get((shard.source, shard.number))
            if note is None or (note.bad_rows and self.work.strict):
                yield shard
            elif note.input_sha256 == shard.sha256:
                yield note
            elif self.update:
                yield shard
            else:
                raise DataError(
                    f"{shard.where}: the rows of {note.part} have changed since it was made; "
                    "start over with --overwrite, or keep what has not changed with --update"
                )


def _pyarrow_version() -> str:
    arrow = require("pyarrow", extra="data", purpose="reading and writing Parquet")
    return str(arrow.__version__)
