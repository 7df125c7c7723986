"""Configuration of a batch job."""

from collections.abc import Iterable, Iterator
from dataclasses import asdict, dataclass
from itertools import groupby
from pathlib import Path
from typing import Any

from readagain import __version__
from readagain.batch.job_dir import FinishedShards, ShardMetadata, checksum
from readagain.batch.locations import is_remote
from readagain.batch.shard_worker import ShardConfig, output_format
from readagain.batch.shards import (
    BatchInput,
    BatchShard,
    SplitOptions,
    read_input_schema,
    split_into_shards,
)
from readagain.engine.summarizer import Summarizer
from readagain.errors import ArgumentError, ArtifactError, os_errors, require
from readagain.formats.files import COMPRESSION_SUFFIXES, InputFile, plain_name
from readagain.formats.texts import TextFormat, TextReadOptions, text_format
from readagain.storage.bundled import find_model
from readagain.storage.model_manifest import MANIFEST_FILE


@dataclass(frozen=True, kw_only=True)
class BatchJob:
    """Configuration of a batch job."""

    inputs: tuple[BatchInput, ...]
    split: SplitOptions
    config: ShardConfig
    overwrite: bool = False
    """Delete the job that is in the output directory."""
    update: bool = False
    """Resume a job whose inputs have changed; shards with unchanged rows are kept."""

    @property
    def files(self) -> list[InputFile]:
        """All input files."""
        return [file for source in self.inputs for file in source.files]

    def identity(self) -> dict[str, Any]:
        """Return what determines the output: the settings and a description of each input file.

        With `one_file_per_input`, the description also has the name of the output file.
        """
        config = self.config
        pyarrow_version = None
        if any("parquet" in (source.format, config.output_format) for source in self.inputs):
            arrow = require("pyarrow", extra="data", purpose="reading and writing Parquet")
            pyarrow_version = arrow.__version__
        settings = {
            "readagain": __version__,
            "model": _model_checksum(config.model),
            "precision": config.precision,
            **{name: value for name, value in config.options.items() if value is not None},
            "field": config.summary_field,
            "score": config.has_score,
            "confidence": config.has_confidence,
            "format": self.split.read.format,
            "text_column": self.split.read.text_column,
            "encoding": self.split.read.encoding,
            "output_format": config.output_format,
            "one_file_per_input": config.one_file_per_input,
            "shard_rows": self.split.shard_rows,
            # Another version of pyarrow may write other bytes for the same table.
            "pyarrow": pyarrow_version,
        }
        joined_files = self.joined_files()
        inputs = [
            asdict(file) | ({"output": joined_files[source.number]} if joined_files else {})
            for source in self.inputs
            for file in source.files
        ]
        return {"settings": settings, "inputs": inputs}

    def joined_files(self) -> dict[int, str]:
        """Return the output file of each input by its number; empty without `one_file_per_input`.

        The output file is named after its input. Text files with one text each share one output
        file.
        """
        if not self.config.one_file_per_input:
            return {}
        names = {}
        for source in self.inputs:
            suffix: str = output_format(self.config.output_format, source.format)
            path = Path(source.files[0].location)
            name = path.stem if path.suffix.lower() in COMPRESSION_SUFFIXES else path.name
            stem = "texts" if source.format == "text" else Path(name).stem
            if suffix == "csv" and plain_name(path).endswith((".tsv", ".tab")):
                suffix = "tsv"
            names[source.number] = f"{stem}.{suffix}"
        return names

    def check(self) -> None:
        """Check the options, the columns of local inputs and the model before the job starts.

        Remote files are checked when they are read, since they must be copied first.

        Raises:
            ReadAgainError: with the option, column or model that cannot be used.
        """
        names = self.config.added_fields
        if len(set(names)) < len(names):
            raise ArgumentError(
                "{summary_field}: the output has a field '{0}' already; choose another name",
                names[0],
            )
        if self.split.shard_rows is not None and self.split.shard_rows < 1:
            raise ArgumentError("{shard_rows}: {0}; expected 1 or more", self.split.shard_rows)
        inputs_by_output: dict[str, str] = {}
        for number, name in self.joined_files().items():
            location = self.inputs[number].files[0].location
            other = inputs_by_output.setdefault(name, location)
            if other != location:
                raise ArgumentError(
                    "{one_file_per_input}: {0} and {1} would both be written to {2}; rename one, "
                    "or summarize them in two jobs",
                    other,
                    location,
                    name,
                )
        for source in self.inputs:
            output_format(self.config.output_format, source.format)
            for file in source.files:
                if (file.bytes or source.format == "parquet") and not is_remote(file.location):
                    read_input_schema(Path(file.location), file.location, self.split)
        config = self.config
        summarizer = Summarizer.load(config.model, threads=1, precision=config.precision)
        summarizer.summarize("A text.", **config.options)  # raises errors for invalid options

    def split_input(
        self, source: BatchInput, finished: FinishedShards
    ) -> Iterator[BatchShard | ShardMetadata]:
        """Split an input into shards; yield the metadata of a shard that is already finished.

        Raises:
            ArgumentError: when the rows of a finished shard have changed and `update` is not set.
        """
        for shard in split_into_shards(source, self.split):
            metadata = finished.get((shard.input_number, shard.number))
            stops_at_bad_rows = self.config.on_error == "stop"
            if metadata is None or (metadata.bad_rows and stops_at_bad_rows):
                yield shard
            elif metadata.input_sha256 == shard.sha256:
                yield metadata
            elif self.update:
                yield shard
            else:
                raise ArgumentError(
                    "{0}: the rows of {1} have changed; start over with {overwrite}, or keep "
                    "unchanged shards with {update}",
                    shard.where,
                    metadata.part,
                )


def group_inputs(files: Iterable[InputFile], options: TextReadOptions) -> list[BatchInput]:
    """Return the inputs of a job: each run of consecutive text files, and each other file."""

    def format_of(file: InputFile) -> TextFormat:
        return options.format or text_format(Path(file.location))

    inputs: list[BatchInput] = []
    for format, files_of_format in groupby(files, format_of):
        consecutive = tuple(files_of_format)
        groups = [consecutive] if format == "text" else [(file,) for file in consecutive]
        for group in groups:
            inputs.append(BatchInput(number=len(inputs), files=group, format=format))
    return inputs


def _model_checksum(model: str) -> str:
    path = find_model(model) / MANIFEST_FILE
    with os_errors(path, "read", ArtifactError):
        return checksum(path.read_bytes())
